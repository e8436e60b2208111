//! The settings of a script's machine: Linux's defaults, as its shell commands change them.
//!
//! What a command sets is taken where the sender has it, passed over where it says nothing about what the sender sends,
//! and else the reason why the script does not apply.

use parshall_tcp::Rules;
use std::path::Path;

/// What scripts may set, and we have.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Name of the congestion control, in our catalog.
    pub control: &'static str,
    pub sack: bool,
    pub timestamps: bool,
    pub window_scaling: bool,
    /// Whether a connection is opened with ECN, and whether it is accepted.
    pub asks_for_ecn: bool,
    pub accepts_ecn: bool,
    pub restarts_after_idle: bool,
    /// Losses are found by time, and tails are probed (RFC 8985).
    pub rack: bool,
    pub probes: bool,
    /// `tc qdisc ... fq` spaces packets.
    pub paced: bool,
    /// Whether CUBIC looks for the end of slow start.
    pub hystart: bool,
    pub initial_window: u64,
    pub min_rto_ms: u64,
    /// Linux's, but for a policy that a test switches.
    pub rules: Rules,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            control: "cubic_linux",
            hystart: true,
            sack: true,
            timestamps: true,
            window_scaling: true,
            asks_for_ecn: false,
            accepts_ecn: true,
            restarts_after_idle: true,
            rack: true,
            probes: true,
            paced: false,
            initial_window: 10,
            min_rto_ms: 200,
            rules: Rules::LINUX,
        }
    }
}

/// Files that call files are followed so deep.
const DEPTH: u32 = 5;

impl Settings {
    /// Carries out shell commands in `directory`.
    ///
    /// # Errors
    /// Why the script does not apply.
    pub fn apply(&mut self, commands: &str, directory: &Path) -> Result<(), String> {
        self.apply_at(commands, directory, 0)
    }

    fn apply_at(&mut self, commands: &str, directory: &Path, depth: u32) -> Result<(), String> {
        if depth > DEPTH {
            return Err("needs shell files that call each other without end".into());
        }
        for command in split(commands) {
            let words = words(&command);
            let Some(program) = words.first() else { continue };
            let name = program.rsplit('/').next().unwrap_or(program);
            if name.starts_with("sysctl_restore") {
                continue;
            }
            if Path::new(name).extension().is_some_and(|extension| extension == "sh") {
                match std::fs::read_to_string(directory.join(program)) {
                    Ok(text) => self.apply_at(&text, directory, depth + 1)?,
                    Err(_) if name == "defaults.sh" => self.packetdrill_defaults(),
                    Err(_) => return Err(format!("needs {program}, which cannot be read")),
                }
                continue;
            }
            self.command(name, &words, &command)?;
        }
        Ok(())
    }

    /// What the `defaults.sh` of Google's scripts sets otherwise than Linux itself.
    fn packetdrill_defaults(&mut self) {
        *self = Self { restarts_after_idle: false, accepts_ecn: false, ..Self::default() };
    }

    fn command(&mut self, name: &str, words: &[String], command: &str) -> Result<(), String> {
        let has = |word: &str| words.iter().any(|other| other == word);
        match name {
            "sysctl" => {
                words[1..].iter().filter(|word| word.contains('=')).try_for_each(|word| self.set(word))
            }
            "set_sysctls.py" => words[1..].iter().try_for_each(|word| self.set(word)),
            "echo" => match words.iter().position(|word| word == ">") {
                Some(at) if at >= 1 && at + 1 < words.len() => {
                    self.set(&format!("{}={}", words[at + 1], words[1..at].join(" ")))
                }
                _ => Ok(()),
            },
            // A queue with parameters may lose packets, or space them in another way.
            "tc" if has("qdisc") && QUEUES.contains(&words.last().map_or("", String::as_str)) => {
                self.paced = words.last().is_some_and(|queue| queue == "fq");
                Ok(())
            }
            "ip" if has("tcp_metrics") => Ok(()),
            "ip" if has("initcwnd") && !ROUTE_METRICS.iter().any(|metric| has(metric)) => {
                let value = words.iter().skip_while(|word| *word != "initcwnd").nth(1);
                self.initial_window = number(value.map_or("", String::as_str), command)?;
                Ok(())
            }
            _ if HARMLESS.contains(&name) => Ok(()),
            _ => Err(format!("needs the command {command:?}")),
        }
    }

    /// `name=value`, of sysctl or of a file below /proc/sys or /sys.
    fn set(&mut self, assignment: &str) -> Result<(), String> {
        let Some((name, value)) = assignment.split_once('=') else { return Ok(()) };
        let name = name.trim().trim_start_matches("/proc/sys/").replace('/', ".");
        let name = name.rsplit('.').next().unwrap_or(&name).to_string();
        let value = value.trim();
        let unmet = || Err(format!("needs sysctl {name}={value}"));
        let flag = value != "0";
        match name.as_str() {
            "tcp_congestion_control" => self.control = control(value)?,
            "tcp_sack" => self.sack = flag,
            "tcp_timestamps" => self.timestamps = flag,
            "tcp_window_scaling" => self.window_scaling = flag,
            "tcp_ecn" if ["0", "1", "2"].contains(&value) => {
                self.asks_for_ecn = value == "1";
                self.accepts_ecn = flag;
            }
            "tcp_slow_start_after_idle" => self.restarts_after_idle = flag,
            "tcp_recovery" if value == "0" || value == "1" => self.rack = flag,
            "tcp_early_retrans" => self.probes = value == "3" || value == "4",
            "hystart" => self.hystart = flag,
            "tcp_rto_min_us" => self.min_rto_ms = number(value, &name)? / 1000,
            // Linux's own values, which ours stand for.
            "hystart_detect" | "tcp_reordering" if value != "3" => return unmet(),
            "tcp_dsack" if !flag => return unmet(),
            "tcp_mtu_probing" | "tcp_thin_linear_timeouts" | "tcp_fack" | "tcp_reflect_tos" if flag => {
                return unmet()
            }
            "tcp_pacing_ss_ratio" if value != "200" => return unmet(),
            "tcp_pacing_ca_ratio" if value != "120" => return unmet(),
            _ if PASSED_OVER.contains(&name.as_str()) => {}
            _ => return unmet(),
        }
        Ok(())
    }
}

/// Queues of an interface that lose nothing here.
const QUEUES: &[&str] = &["fq", "noqueue", "pfifo", "pfifo_fast", "root"];

/// Metrics of routes that would change what is sent.
const ROUTE_METRICS: &[&str] =
    &["advmss", "congctl", "cwnd", "features", "mtu", "quickack", "rto_min", "ssthresh"];

/// Commands that change nothing of what is sent here.
const HARMLESS: &[&str] =
    &[":", "cat", "date", "ethtool", "exit", "modprobe", "nstat", "rm", "set", "sleep", "ss", "sync", "true"];

/// Settings that say nothing of what the sender sends here: sizes of buffers and of offloaded bursts, limits of
/// retries, set-up options that scripts use only if they say so, and those above with the values that are ours.
const PASSED_OVER: &[&str] = &[
    "default_qdisc",
    "hystart_detect",
    "optmem_max",
    "rmem_default",
    "rmem_max",
    "tcp_adv_win_scale",
    "tcp_app_win",
    "tcp_autocorking",
    "tcp_challenge_ack_limit",
    "tcp_dsack",
    "tcp_ecn_fallback",
    "tcp_ecn_option",
    "tcp_fack",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_fin_timeout",
    "tcp_frto",
    "tcp_invalid_ratelimit",
    "tcp_limit_output_bytes",
    "tcp_max_reordering",
    "tcp_max_syn_backlog",
    "tcp_mem",
    "tcp_min_rtt_wlen",
    "tcp_min_tso_segs",
    "tcp_moderate_rcvbuf",
    "tcp_mtu_probing",
    "tcp_no_metrics_save",
    "tcp_no_ssthresh_metrics_save",
    "tcp_notsent_lowat",
    "tcp_pacing_ca_ratio",
    "tcp_pacing_ss_ratio",
    "tcp_reflect_tos",
    "tcp_reordering",
    "tcp_rmem",
    "tcp_shrink_window",
    "tcp_syn_linear_timeouts",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_syncookies",
    "tcp_thin_linear_timeouts",
    "tcp_tso_rtt_log",
    "tcp_tso_win_divisor",
    "tcp_tw_reuse",
    "tcp_wmem",
    "tcp_workaround_signed_windows",
    "wmem_default",
    "wmem_max",
];

/// Our control of this name of Linux.
///
/// # Errors
/// There is none: why the script does not apply.
pub fn control(name: &str) -> Result<&'static str, String> {
    Ok(match name {
        "cubic" => "cubic_linux",
        "reno" => "reno_linux",
        "bic" => "bic",
        "htcp" => "htcp",
        "vegas" => "vegas",
        "highspeed" => "highspeed",
        "scalable" => "scalable",
        "dctcp" => "dctcp",
        "bbr" | "bbr1" => "bbr_linux",
        "bbr3" => "bbr3",
        _ => return Err(format!("needs the congestion control {name}")),
    })
}

fn number(text: &str, of: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("needs {of:?}, whose value {text:?} is no whole number"))
}

/// Single commands: without comments, split where one ends.
fn split(commands: &str) -> Vec<String> {
    let joined = commands.replace("\\\n", " ");
    let mut found = Vec::new();
    for line in joined.lines() {
        let line = line.split(" #").next().unwrap_or("").trim();
        if line.starts_with('#') {
            continue;
        }
        found.extend(line.replace("&&", ";").split(';').map(|part| part.trim().to_string()));
    }
    found.retain(|command| !command.is_empty());
    found
}

/// Words of a command, without quotes; redirections other than a simple `>` are dropped.
fn words(command: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut quote, mut open) = (None, false);
    for c in command.chars() {
        match c {
            _ if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => {
                quote = Some(c);
                if !open {
                    found.push(String::new());
                    open = true;
                }
            }
            _ if c.is_whitespace() && quote.is_none() => open = false,
            _ => {
                if !open {
                    found.push(String::new());
                    open = true;
                }
                if let Some(last) = found.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    if let Some(at) = found.iter().position(|word| word == ">" || word == "2>&1" || word == "&>") {
        let to_file = found.get(at + 1).is_some_and(|word| word != "/dev/null");
        if !(found[at] == ">" && to_file) {
            found.truncate(at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(commands: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        settings.apply(commands, Path::new("/nowhere")).map(|()| settings)
    }

    #[test]
    fn commands_become_settings() {
        let settings = after(
            "sysctl -q net.ipv4.tcp_congestion_control=reno net.ipv4.tcp_sack=0  # both\n\
             ../common/set_sysctls.py /proc/sys/net/ipv4/tcp_ecn=1 \\\n  /proc/sys/net/ipv4/tcp_early_retrans=0\n\
             sysctl -q net.ipv4.tcp_rmem=\"4096 5400 6000\" > /dev/null 2>&1\n\
             ip route change 192.0.2.0/24 dev tun0 initcwnd 20\n\
             tc qdisc replace dev tun0 root fq; echo 0 > /sys/module/tcp_cubic/parameters/hystart",
        );
        let expected = Settings {
            control: "reno_linux",
            sack: false,
            asks_for_ecn: true,
            probes: false,
            paced: true,
            hystart: false,
            initial_window: 20,
            ..Settings::default()
        };
        assert_eq!(settings, Ok(expected));
    }

    #[test]
    fn what_we_do_not_have_is_named() {
        for (commands, part) in [
            ("sysctl -w net.ipv4.tcp_mtu_probing=1", "tcp_mtu_probing=1"),
            ("sysctl net.ipv4.tcp_congestion_control=cdg", "cdg"),
            ("sysctl net.ipv4.tcp_never_heard_of=3", "tcp_never_heard_of=3"),
            ("iptables -A INPUT", "iptables"),
            ("ip route change 192.0.2.0/24 dev tun0 initcwnd 20 congctl reno", "congctl"),
            ("tc qdisc replace dev tun0 root pfifo limit 0", "limit 0"),
            ("./own.sh", "./own.sh"),
        ] {
            let reason = after(commands).unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn a_missing_defaults_file_is_that_of_packetdrill() {
        let settings = after("../common/defaults.sh").unwrap();
        assert!(!settings.restarts_after_idle && settings.sack && settings.control == "cubic_linux");
    }
}
