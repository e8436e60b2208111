//! Says whether the compiler was handed a profile of what the code does (`-Cprofile-use`, CONTRIBUTING.md).

fn main() {
    println!("cargo::rustc-check-cfg=cfg(profile_guided)");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    if flags.contains("profile-use") {
        println!("cargo::rustc-cfg=profile_guided");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
