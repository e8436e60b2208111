//! How captures begin. Without captures nothing of them is reached: flags of a group (`TcpGroup::one_link` and its like) stand
//! in the place of comparisons that are made anyway.

use super::external::External;
use super::route::{DatagramRoute, TcpRoute};
use super::{Captures, Files};
use crate::endpoints::datagram::DatagramGroup;
use crate::endpoints::tcp::TcpGroup;
use crate::network::{LinkState, Network};
use crate::output::{check_name, Output};
use crate::{Scenario, SimError};
use parshall_records::Tables;

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

/// The links, and the files of those that are captured.
pub(crate) struct Wires<'a> {
    pub(super) links: &'a [LinkState],
    pub(super) file_of: &'a [Option<u32>],
}

impl Network {
    /// Captures these links, in files beside the tables; nothing, if there are no such files.
    pub(crate) fn capture(&mut self, links: &[u32], tables: &Tables) -> Result<(), SimError> {
        let Some(directory) = tables.directory().filter(|_| !links.is_empty()) else { return Ok(()) };
        let mut outputs = Vec::new();
        let mut file_of = vec![None; self.links.len()];
        for &link in links {
            let name = format!("{}.pcap", self.links[link as usize].name);
            if file_of[link as usize].is_none() {
                file_of[link as usize] = Some(outputs.len() as u32);
                outputs.push(Output::create(directory.join("captures").join(name))?);
            }
        }
        let mut captures = Captures {
            files: Files::new(outputs),
            tcp: Vec::new(),
            datagrams: Vec::new(),
            flows: Vec::new(),
            identifications: Vec::new(),
            external: External::default(),
        };
        let wires = Wires { links: &self.links, file_of: &file_of };
        for kind in self.endpoints.kinds_mut() {
            kind.capture(&mut captures, &wires);
        }
        self.core.captures = Some(Box::new(captures));
        Ok(())
    }
}

impl Captures {
    /// The next group of TCP flows.
    pub(crate) fn add_tcp_group(&mut self, wires: &Wires<'_>, group: &TcpGroup) {
        self.tcp.push(TcpRoute::new(wires, group));
    }

    /// The next group of flows of datagrams.
    pub(crate) fn add_datagram_group(&mut self, wires: &Wires<'_>, group: &DatagramGroup) {
        self.datagrams.push(DatagramRoute::new(wires, group));
    }
}
