//! The beginning of captures and logs. Without captures nothing of them is reached: flags of a group (`TcpGroup::one_link` and
//! its like) stand in the place of comparisons that are made anyway.

use crate::capture::{Captures, Wires};
use crate::network::Network;
use crate::output::Output;
use crate::qlog::Logs;
use crate::{Scenario, SimError};
use parshall_records::Tables;
use parshall_units::Duration;

impl Network {
    /// Captures these links, in files beside the tables; nothing, if there are no such files.
    pub(crate) fn capture(&mut self, links: &[u32], tables: &Tables) -> Result<(), SimError> {
        let Some(directory) = tables.directory().filter(|_| !links.is_empty()) else { return Ok(()) };
        let mut outputs = Vec::new();
        let mut file_of = vec![None; self.links.len()];
        for &link in links {
            let name = format!("{}.pcap", self.links[link as usize].notes.name);
            if file_of[link as usize].is_none() {
                file_of[link as usize] = Some(outputs.len() as u32);
                outputs.push(Output::create(directory.join("captures").join(name))?);
            }
        }
        let delays: Vec<Duration> = self.links.iter().map(|state| state.link.delay()).collect();
        let wires = Wires { delays: &delays, file_of: &file_of };
        let mut captures = Captures::new(outputs);
        for kind in self.endpoints.kinds_mut() {
            kind.capture(&mut captures, &wires);
        }
        self.core.sink.captures = Some(Box::new(captures));
        Ok(())
    }

    /// Logs the flows that are sampled, in files beside the tables; nothing, if there are no such files.
    pub(crate) fn log_flows(&mut self, scenario: &Scenario, tables: &Tables) -> Result<(), SimError> {
        if tables.directory().is_none() || !scenario.probes.qlog {
            return Ok(());
        }
        let mut logs = Logs::default();
        for kind in self.endpoints.kinds_mut() {
            kind.log(scenario.probes.flows_sampled, tables, &mut logs)?;
        }
        self.core.sink.logs = Some(Box::new(logs));
        Ok(())
    }
}
