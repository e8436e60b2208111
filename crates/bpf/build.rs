//! Builds the BPF programs of `bpf/` where there is clang, and says in `objects.rs` which there are. Without clang there are none.

use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The file that dpkg writes whenever it installs something.
const PACKAGES: &str = "/var/lib/dpkg/status";

fn main() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bpf");
    println!("cargo::rerun-if-changed={}", sources.display());
    println!("cargo::rerun-if-env-changed=BPF_CLANG");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let clang = clang();
    let mut missing = Vec::new();
    let mut problem = None;
    let mut objects = String::from("&[");
    for source in controls(&sources) {
        let name =
            source.file_name().map_or_else(String::new, |name| name.to_string_lossy().replace(".bpf.c", ""));
        let object = out.join(format!("{name}.bpf.o"));
        match clang.as_ref().map(|clang| compile(clang, &source, &object)) {
            Some(Ok(())) => {
                let place = object.to_string_lossy();
                write!(objects, "({name:?}, include_bytes!({place:?})),").expect("it is a string");
            }
            Some(Err(found)) => {
                missing.push(name);
                problem.get_or_insert(found);
            }
            None => missing.push(name),
        }
    }
    if let Some(problem) = problem {
        println!("cargo::warning=no BPF programs of {}: {problem}", missing.join(", "));
    }
    // Tried again after Debian's packages have changed. Cargo takes a file that is not there for one that always changes.
    if !missing.is_empty() && Path::new(PACKAGES).exists() {
        println!("cargo::rerun-if-changed={PACKAGES}");
    }
    objects.push(']');
    fs::write(out.join("objects.rs"), objects).expect("cargo's directory can be written");
}

/// The compiler: `BPF_CLANG`, or the newest that is found by its name.
fn clang() -> Option<String> {
    let named = env::var("BPF_CLANG").ok();
    let numbered = (14..=30).rev().map(|version| format!("clang-{version}"));
    named
        .into_iter()
        .chain([String::from("clang")])
        .chain(numbered)
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|said| said.status.success()))
}

fn controls(sources: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(sources) else { return Vec::new() };
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.to_string_lossy().ends_with(".bpf.c"))
        .collect();
    found.sort();
    found
}

fn compile(clang: &str, source: &Path, object: &Path) -> Result<(), String> {
    let mut command = Command::new(clang);
    command.args(["--target=bpf", "-g", "-O2", "-c"]).arg(source).arg("-o").arg(object);
    let said = command.output().map_err(|error| error.to_string())?;
    if said.status.success() {
        return Ok(());
    }
    let problem = String::from_utf8_lossy(&said.stderr);
    Err(problem.lines().find(|line| line.contains("error")).unwrap_or("clang failed").to_string())
}
