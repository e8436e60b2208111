//! The beginning of captures.

use super::external::External;
use super::route::{DatagramRoute, TcpRoute};
use super::{Captures, Files};
use crate::groups::{DatagramGroup, TcpGroup};
use crate::output::{check_name, Output};
use crate::{Scenario, SimError};
use parshall_units::Duration;

/// Refuses captures of links that there are not, or whose names name no files.
pub(crate) fn check(scenario: &Scenario) -> Result<(), SimError> {
    for (place, &link) in scenario.probes.pcap.iter().enumerate() {
        let key = format!("probes.pcap.{place}");
        let Some(link) = scenario.links.get(link as usize) else {
            return Err(SimError::invalid(key, format!("there is no link {link}")));
        };
        check_name(&key, &link.name)?;
    }
    Ok(())
}

/// The propagation delays of links, and the files of those that are captured.
pub(crate) struct Wires<'a> {
    pub(crate) delays: &'a [Duration],
    pub(crate) file_of: &'a [Option<u32>],
}

impl Captures {
    /// Captures of no flows, in these files.
    pub(crate) fn new(outputs: Vec<Output>) -> Self {
        Self {
            files: Files::new(outputs),
            tcp: Vec::new(),
            datagrams: Vec::new(),
            flows: Vec::new(),
            identifications: Vec::new(),
            external: External::default(),
        }
    }

    /// The next group of TCP flows.
    pub(crate) fn add_tcp_group(&mut self, wires: &Wires<'_>, group: &TcpGroup) {
        self.tcp.push(TcpRoute::new(wires, group));
    }

    /// The next group of flows of datagrams.
    pub(crate) fn add_datagram_group(&mut self, wires: &Wires<'_>, group: &DatagramGroup) {
        self.datagrams.push(DatagramRoute::new(wires, group));
    }
}
