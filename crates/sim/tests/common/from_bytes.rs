//! Any bytes as a small scenario, which is then run: for fuzzing led by coverage, and for a property test.
//!
//! The bytes choose entries of the catalogs and values of their parameters, so that nearly every input is a scenario that
//! reads as one should, and a changed byte is a changed choice. Sizes are bounded: a run takes some thousand events.

use parshall_records::Tables;
use parshall_sim::{simulate, Monitor, Scenario, Summary};
use parshall_units::parameters::{Entry, Kind, Parameter};
use serde_json::{json, Map, Value};

/// Milliseconds that are simulated, at most.
const LONGEST_MS: u64 = 400;
const PS_PER_MS: u64 = 1_000_000_000;

/// Runs the scenario that `data` says, if it is one, and checks what is true of every run.
///
/// # Panics
/// Packets are not conserved, the same scenario gives another result, or something in the simulator panics.
pub fn fuzz_one(data: &[u8]) {
    let Some(scenario) = scenario(data) else { return };
    let Ok(summary) = run(&scenario) else { return };
    for link in &summary.links {
        let handled = link.forwarded + link.dropped;
        assert_eq!(link.queued, link.arrivals.cast_signed() - handled.cast_signed());
        if scenario.warm_up_ps == 0 {
            assert!(handled <= link.arrivals, "{link:?}");
        }
    }
    let lasted_ps = (summary.simulated_s * 1e12).round();
    assert!(lasted_ps <= scenario.duration_ps as f64, "{lasted_ps}");
    if data.len().is_multiple_of(4) {
        let again = run(&scenario).expect("it ran before");
        assert_eq!(again.events, summary.events);
        assert_eq!(again.packets_forwarded, summary.packets_forwarded);
        assert_eq!(again.packets_dropped, summary.packets_dropped);
    }
}

fn run(scenario: &Scenario) -> Result<Summary, parshall_sim::SimError> {
    simulate(scenario, 0, &mut Tables::none(), &Monitor::default())
}

/// The scenario that `data` says; `None` if a part refuses its parameters where they are read.
pub fn scenario(data: &[u8]) -> Option<Scenario> {
    serde_json::from_value(Choices { data }.scenario()).ok()
}

/// Pairs of parameters of which the first is to be the smaller one.
const ORDERED: [(&str, &str); 8] = [
    ("min_threshold", "max_threshold"),
    ("out_max", "in_max"),
    ("in_min", "in_max"),
    ("out_min", "out_max"),
    ("in_probability", "out_probability"),
    ("target", "interval"),
    ("low_window", "high_window"),
    ("alpha", "beta"),
];

fn put_in_order(fields: &mut Map<String, Value>) {
    for (low, high) in ORDERED {
        if let (Some(below), Some(above)) = (fields.get(low).cloned(), fields.get(high).cloned()) {
            if below.as_f64() > above.as_f64() {
                fields.insert(low.to_owned(), above);
                fields.insert(high.to_owned(), below);
            }
        }
    }
}

fn controls(fits: impl Fn(&str) -> bool) -> Vec<Entry> {
    parshall_congestion::catalog::CATALOG.iter().filter(|each| fits(each.name)).copied().collect()
}

/// The queues of these names.
fn queues(names: &[&str]) -> Vec<Entry> {
    let catalog = parshall_net::queues::catalog::CATALOG;
    catalog.iter().filter(|each| names.contains(&each.name)).copied().collect()
}

/// What is left of the bytes; when they are used up, every choice is the first.
struct Choices<'a> {
    data: &'a [u8],
}

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        match self.data.split_first() {
            Some((first, rest)) => {
                self.data = rest;
                *first
            }
            None => 0,
        }
    }

    /// One of `0..count`.
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    fn is(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    fn share(&mut self) -> f64 {
        f64::from(self.byte()) / 255.0
    }

    /// Between two values, both included; by orders of magnitude, with the ends as choices of their own.
    fn real(&mut self, low: f64, high: f64) -> f64 {
        match self.byte() {
            0 => low,
            1 => high,
            byte if low > 0.0 => low * libm::pow(high / low, f64::from(byte) / 255.0),
            byte => (low + (high - low) * libm::pow(10.0, f64::from(byte) / 51.0 - 5.0)).min(high),
        }
    }

    fn whole(&mut self, low: u64, high: u64) -> u64 {
        (self.real(low as f64, high as f64) as u64).clamp(low, high)
    }

    fn time_ps(&mut self, low_ps: u64, high_ms: u64) -> u64 {
        self.whole(low_ps, high_ms * PS_PER_MS)
    }

    fn entry(&mut self, catalog: &[Entry], payload: u64) -> Value {
        let entry = catalog[self.below(catalog.len())];
        let mut fields = self.parameters(entry.parameters, payload);
        if self.byte() % 8 != 7 {
            put_in_order(&mut fields);
        }
        fields.insert("name".to_owned(), entry.name.into());
        Value::Object(fields)
    }

    fn parameters(&mut self, declared: &[Parameter], payload: u64) -> Map<String, Value> {
        declared.iter().map(|each| (each.name.to_owned(), self.value(each, payload))).collect()
    }

    fn value(&mut self, parameter: &Parameter, payload: u64) -> Value {
        let low = parameter.min.unwrap_or(0.0);
        let nullable = parameter.default.is_some_and(|word| matches!(word, "off" | "unlimited" | "none"))
            && parameter.kind != Kind::Choice;
        if nullable && self.is() {
            return Value::Null;
        }
        let most = |usual: f64| parameter.max.unwrap_or(usual).min(usual).max(low);
        match parameter.kind {
            Kind::Number | Kind::Weight => self.real(low, most(1e9)).into(),
            Kind::Integer => self.whole(low as u64, most(4096.0) as u64).into(),
            Kind::Boolean => self.is().into(),
            Kind::Duration => self.whole(low as u64, most(1e12) as u64).into(),
            Kind::Rate => self.whole(1000, 20_000_000).into(),
            Kind::Bytes => self.whole(low as u64, most(65_535.0) as u64).into(),
            Kind::Packets => self.whole(low as u64, most(1000.0) as u64).into(),
            Kind::Size => self.whole(payload / 4, 100 * payload).into(),
            Kind::Choice => parameter.choices[self.below(parameter.choices.len())].into(),
            Kind::Recovery => {
                parshall_tcp::recovery::CATALOG[self.below(parshall_tcp::recovery::CATALOG.len())].name.into()
            }
            Kind::Rules => {
                let form = |linux| Value::from(if linux { "linux" } else { "rfc" });
                let forms = parshall_tcp::POLICIES.iter().map(|each| (each.name.to_owned(), form(self.is())));
                Value::Object(forms.collect())
            }
            Kind::Numbers => (0..self.below(10)).map(|_| self.real(0.01, 100.0)).collect(),
            Kind::Control => self.entry(&controls(|each| parameter.choices.contains(&each)), payload),
            Kind::Queue => self.entry(&queues(parameter.choices), payload),
            Kind::Queues => {
                (0..self.below(4)).map(|_| self.entry(&queues(parameter.choices), payload)).collect()
            }
            Kind::Buffer if self.is() => json!({"packets": self.whole(1, 300)}),
            Kind::Buffer => json!({"bytes": self.whole(1, 300_000)}),
            Kind::SizeDistribution => self.distribution(1.0, 100_000.0),
            Kind::TimeDistribution => self.distribution(1e-4, 0.5),
            Kind::Sizes => (0..=self.below(3)).map(|_| self.whole(0, 50 * payload)).collect(),
            Kind::Value => self.real(low.max(1e-4), 1e5).into(),
            Kind::CdfPoints => json!([[self.real(1e-4, 1.0), self.share()], [self.real(1.0, 1e5), 1.0]]),
        }
    }

    /// A distribution whose values lie between `low` and `high`, about.
    fn distribution(&mut self, low: f64, high: f64) -> Value {
        let catalog = parshall_workload::distributions::catalog::CATALOG;
        let entry = catalog[self.below(catalog.len())];
        let mut fields = Map::new();
        let mut last = low;
        for parameter in entry.parameters {
            let value = match parameter.kind {
                Kind::Value => {
                    last = self.real(last, high); // an upper end follows its lower one
                    last.into()
                }
                Kind::CdfPoints => json!([[self.real(low, last.max(low)), self.share()], [high, 1.0]]),
                _ => self.value(parameter, 1),
            };
            fields.insert(parameter.name.to_owned(), value);
        }
        fields.insert("name".to_owned(), entry.name.into());
        Value::Object(fields)
    }

    fn scenario(&mut self) -> Value {
        let duration_ps = self.whole(1, LONGEST_MS) * PS_PER_MS;
        let links = 1 + self.below(3);
        let flows: Vec<Value> = (0..=self.below(3)).map(|number| self.group(number, links)).collect();
        let finite: Vec<usize> =
            (0..flows.len()).filter(|&n| flows[n]["workload"]["name"] == "transfer").collect();
        let warm_up_ps = if self.is() { (duration_ps as f64 * self.share() * 0.99) as u64 } else { 0 };
        json!({
            "seed": self.byte(),
            "duration_ps": duration_ps,
            "ends_with": if self.is() { finite } else { Vec::new() },
            "warm_up_ps": warm_up_ps,
            "links": (0..links).map(|number| self.link(number)).collect::<Vec<_>>(),
            "flows": flows,
            "probes": {
                "flow_samples": self.sampling(),
                "flows_sampled": self.below(4),
                "rounds_flows": self.below(3),
                "link_samples": self.sampling(),
                "transfers": self.is(),
                "latency": self.is(),
                "internals": self.is(),
                "qlog": self.is(),
                "pcap": (0..links).filter(|_| self.is()).collect::<Vec<_>>(),
            },
        })
    }

    /// Samples of a series, if there are any: evenly spaced, or fitted to the run.
    fn sampling(&mut self) -> Value {
        let interval = self.time_ps(1_000_000, 100);
        match self.below(3) {
            0 => Value::Null,
            1 => json!({"every": interval}),
            _ => json!({"fitted": interval}),
        }
    }

    fn link(&mut self, number: usize) -> Value {
        let rate = if self.byte() % 8 == 7 {
            let mut time = 0;
            let times: Vec<u64> = (0..=self.below(20))
                .map(|_| {
                    time += self.whole(0, 20);
                    time
                })
                .collect();
            json!({"trace": times})
        } else {
            json!({"constant": self.whole(10_000, 20_000_000)})
        };
        json!({
            "name": format!("link{number}"),
            "rate": rate,
            "delay_ps": self.time_ps(0, 10),
            "queue": self.entry(parshall_net::queues::catalog::CATALOG, 1460),
            "loss": if self.is() { self.entry(parshall_net::loss::CATALOG, 1460) } else { json!({"name": "none"}) },
        })
    }

    fn group(&mut self, number: usize, links: usize) -> Value {
        let packet_bytes = self.whole(100, 9000);
        let header_bytes = self.whole(0, 99);
        let payload = packet_bytes - header_bytes;
        let mut workload = self.entry(parshall_workload::workloads::catalog::CATALOG, payload);
        if let Some(arrivals) = workload.get_mut("arrivals_per_s") {
            *arrivals = self.real(1.0, 500.0).into();
        }
        let name = workload["name"].as_str().unwrap_or_default().to_owned();
        let datagrams = matches!(name.as_str(), "cbr" | "on_off_cbr" | "poisson" | "rate_controlled");
        let control = match name.as_str() {
            "cbr" | "on_off_cbr" | "poisson" => Value::Null,
            "rate_controlled" => {
                self.entry(&controls(|each| matches!(each, "rate_based" | "multiple_time_scale")), payload)
            }
            _ => self.entry(parshall_congestion::catalog::CATALOG, payload),
        };
        let mut tcp = self.parameters(parshall_tcp::TcpConfig::PARAMETERS, payload);
        if self.byte() % 4 != 3 {
            tcp.insert("slow_start".to_owned(), "standard".into()); // few controls fit the others
        }
        tcp.insert("initial_window".to_owned(), self.whole(1, 300).into()); // a million packets at once take their time
        let access_bps = if self.is() { json!(self.whole(10_000, 50_000_000)) } else { Value::Null };
        let limited = !datagrams && !access_bps.is_null() && self.is();
        let access_packets = if limited { json!(1 + self.below(50)) } else { Value::Null };
        json!({
            "name": format!("group{number}"),
            "count": 1 + self.below(6),
            "external": false,
            "path": self.path(links, 1),
            "reverse_path": self.path(links, 0),
            "rtt_ps": self.spread(60 * PS_PER_MS, 100),
            "access_bps": access_bps,
            "access_packets": access_packets,
            "dscp": self.below(64),
            "marker": if self.byte() % 4 == 3 { self.entry(parshall_net::markers::catalog::CATALOG, payload) } else { json!({"name": "none"}) },
            "start_ps": self.spread(0, 100),
            "packet_bytes": packet_bytes,
            "header_bytes": header_bytes,
            "processing_ps": if self.is() { self.time_ps(1, 10) } else { 0 },
            "tcp": if datagrams { Value::Null } else { Value::Object(tcp) },
            "congestion_control": control,
            "workload": workload,
        })
    }

    /// Links in a row, each once.
    fn path(&mut self, links: usize, least: usize) -> Vec<usize> {
        let first = self.below(links);
        let count = least + self.below(links + 1 - least);
        (first..first + count).map(|link| link % links).collect()
    }

    fn spread(&mut self, low_ps: u64, high_ms: u64) -> Value {
        match self.byte() % 4 {
            0 => json!({"constant": self.time_ps(low_ps, high_ms)}),
            1 => json!({"linear": {"first": self.time_ps(low_ps, high_ms), "step": self.time_ps(0, 10)}}),
            2 => json!({"uniform": {"low": low_ps, "high": low_ps + 1 + self.time_ps(0, high_ms)}}),
            _ => json!({"distribution": {"of": self.distribution(1e-3, 0.2), "min_ps": low_ps}}),
        }
    }
}
