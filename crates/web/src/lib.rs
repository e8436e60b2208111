//! The simulator for a web page: a resolved scenario in, its totals and records out, both as JSON.
//!
//! [`answer`] is the whole of it. WebAssembly passes numbers alone, so the page writes the scenario into memory that it asks for
//! with [`parshall_allocate`], calls [`parshall_simulate`] and reads the answer where [`parshall_answer`] says:
//!
//! ```js
//! const { memory, parshall_allocate, parshall_simulate, parshall_answer } = instance.exports;
//! const text = new TextEncoder().encode(scenario);
//! const address = parshall_allocate(text.length);
//! new Uint8Array(memory.buffer).set(text, address);
//! const length = parshall_simulate(repetition, mostEvents);
//! const answer = new TextDecoder().decode(new Uint8Array(memory.buffer, parshall_answer(), length));
//! ```

mod memory;

use parshall_records::{
    DelayHistogramRow, FlowRow, FlowSampleRow, GroupRow, GroupSampleRow, LatencyHistogramRow, LinkRow,
    LinkSampleRow, Tables, TransferRow,
};
use parshall_sim::{simulate, Monitor, Scenario, SimError, Summary};
use serde::Serialize;

pub use memory::{parshall_allocate, parshall_answer, parshall_simulate};

/// The answer to a page.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Answer<'a> {
    /// The run's totals and tables.
    Run(Box<Records<'a>>),
    /// The scenario contradicts itself: where, and what is accepted.
    Refused { key: &'a str, problem: &'a str },
    /// It takes more events than were allowed.
    Interrupted { simulated_s: f64 },
    /// The run failed.
    Failed { problem: String },
}

/// A run: its totals, and its tables as lists of rows with the names and units of the records.
#[derive(Serialize)]
struct Records<'a> {
    totals: &'a Summary,
    flows: &'a [FlowRow],
    groups: &'a [GroupRow],
    links: &'a [LinkRow],
    transfers: &'a [TransferRow],
    flow_samples: &'a [FlowSampleRow],
    group_samples: &'a [GroupSampleRow],
    link_samples: &'a [LinkSampleRow],
    delay_histogram: &'a [DelayHistogramRow],
    latency_histogram: &'a [LatencyHistogramRow],
}

/// Simulates one repetition of a resolved scenario, of at most about `most_events` events, and returns the answer as JSON: an
/// object with one of `run`, `refused`, `interrupted` and `failed`.
#[expect(clippy::disallowed_methods, reason = "the page's own scenario, in a memory of its own")]
pub fn answer(scenario: &[u8], repetition: u32, most_events: u64) -> String {
    let scenario: Scenario = match serde_json::from_slice(scenario) {
        Ok(scenario) => scenario,
        Err(error) => return json(&Answer::Refused { key: "", problem: &error.to_string() }),
    };
    let monitor = Monitor { most_events: Some(most_events), ..Monitor::default() };
    let mut tables = Tables::in_memory(scenario.probes.tables());
    match simulate(&scenario, repetition, &mut tables, &monitor) {
        Ok(totals) => json(&Answer::Run(Box::new(Records {
            totals: &totals,
            flows: tables.flows.rows(),
            groups: tables.groups.rows(),
            links: tables.links.rows(),
            transfers: tables.transfers.rows(),
            flow_samples: tables.flow_samples.rows(),
            group_samples: tables.group_samples.rows(),
            link_samples: tables.link_samples.rows(),
            delay_histogram: tables.delay_histogram.rows(),
            latency_histogram: tables.latency_histogram.rows(),
        }))),
        Err(SimError::Invalid { key, problem }) => json(&Answer::Refused { key: &key, problem: &problem }),
        Err(SimError::Interrupted { simulated_s }) => json(&Answer::Interrupted { simulated_s }),
        Err(error) => json(&Answer::Failed { problem: error.to_string() }),
    }
}

fn json(answer: &Answer<'_>) -> String {
    serde_json::to_string(answer).unwrap_or_else(|error| format!(r#"{{"failed":{{"problem":"{error}"}}}}"#))
}
