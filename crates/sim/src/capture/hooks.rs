//! Where the network tells captures of its packets. Without captures nothing of this is reached: flags of the group
//! (`TcpGroup::one_link` and its like) stand in the place of comparisons that are made anyway.

use super::route::{DatagramRoute, TcpRoute};
use super::{Captures, Files, Which};
use crate::network::Network;
use crate::output::{check_name, Output};
use crate::packet::{Entity, Owner, Packet, Transit};
use crate::{Scenario, SimError};
use parshall_records::Tables;
use parshall_units::Instant;

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
        let captures = Captures {
            files: Files::new(outputs),
            tcp: self.tcp_groups.iter().map(|group| TcpRoute::new(self, group, &file_of)).collect(),
            datagrams: self
                .datagram_groups
                .iter()
                .map(|group| DatagramRoute::new(self, group, &file_of))
                .collect(),
            flows: Vec::new(),
            acks_sent: Vec::new(),
        };
        self.core.captures = Some(Box::new(captures));
        for group in &mut self.tcp_groups {
            group.one_link = false;
            group.one_link_back = false;
            group.heard_at_once = false;
        }
        Ok(())
    }

    /// A packet has crossed the link `index`, the last of those it counts, and will be at its end `at`: it is captured, and goes on.
    #[cold]
    #[inline(never)]
    pub(crate) fn go_on_captured(
        &mut self,
        now: Instant,
        index: u32,
        at: Instant,
        (transit, is_last): (Transit, bool),
    ) {
        self.crossed(now, at, &transit);
        if is_last {
            self.deliver(transit.owner, at, &transit.packet);
        } else {
            self.links[index as usize].propagate(&mut self.core, index, at, transit);
        }
    }

    fn crossed(&mut self, now: Instant, at: Instant, transit: &Transit) {
        let Some(captures) = &mut self.core.captures else { return };
        let Transit { packet, owner, hop } = transit;
        let hop = usize::from(*hop) - 1;
        match *owner {
            Owner::Data(index) => captures.data(self.tcp_flows[index as usize].which(), hop, at, packet),
            Owner::Ack(index, slot) => {
                let flow = &self.tcp_flows[index as usize];
                let times = (at, flow.legs.to_sender);
                captures.ack(flow.which(), hop, times, packet, (slot, self.core.sack_slots.read(slot)));
            }
            Owner::Datagram(index) => {
                let flow = &self.datagram_flows[index as usize];
                captures.datagram(Which { index, group: flow.group, id: flow.id }, hop, at, packet);
            }
        }
        captures.write_before(now);
    }

    /// The rest of `on_data` where captures are taken, and the first link has accepted the packet.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_captured_data(&mut self, now: Instant, index: u32, at: Instant, packet: Packet) {
        self.go_on_from_first(now, at, Transit { packet, owner: Owner::Data(index), hop: 1 });
        let flow = &mut self.tcp_flows[index as usize];
        let next = flow.next_in_line(&self.tcp_groups[flow.group as usize], self.core.warm_up);
        self.core.queue.top_again_at(next, Entity::Data(index));
    }

    /// The rest of `on_acks`, as that.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_captured_ack(
        &mut self,
        now: Instant,
        index: u32,
        at: Instant,
        (packet, slot): (Packet, u32),
    ) {
        self.go_on_from_first(now, at, Transit { packet, owner: Owner::Ack(index, slot), hop: 1 });
        let next = self.tcp_flows[index as usize].next_ack_in_line();
        self.core.queue.top_again_at(next, Entity::Acks(index));
    }

    fn go_on_from_first(&mut self, now: Instant, at: Instant, transit: Transit) {
        let path = self.path(transit.owner);
        let (link, is_last) = (path[0], path.len() == 1);
        self.go_on_captured(now, link, at, (transit, is_last));
    }
}
