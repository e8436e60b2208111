//! Programs in the place of a group's workload: any client and any server, with the group's addresses, path and
//! round-trip time.

use parshall_hosts::plan::{address, RECEIVERS, SENDERS};
use parshall_hosts::{Begins, Ended, Hosts, HostsError, Program, Running, Side};
use serde::{Deserialize, Serialize};

/// The programs at the hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    /// The group, by its place in the scenario.
    pub group: u32,
    /// The client: the emulation ends with it. A program and its arguments.
    pub client: Vec<String>,
    /// The server, which listens before the client starts, and is killed at the end.
    pub server: Option<Vec<String>>,
    /// True if the client is the one who receives: what it downloads takes the path of data, what it sends the way back.
    pub download: bool,
}

/// The ends of the programs.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramsEnded {
    /// Exit status of the client; `None`: it was killed when the scenario's duration was over.
    pub client: Option<u8>,
    /// The same of the server, which is killed in the end unless it has ended before.
    pub server: Option<u8>,
}

/// An end of the path, as programs get it.
struct End {
    /// The environment variable of its address.
    variable: &'static str,
    /// What stands for the address in arguments: a shell would replace variables before we begin.
    placeholder: &'static str,
    side: Side,
    address: String,
}

/// Programs at work.
pub(crate) struct Visit<'a> {
    programs: &'a Programs,
    /// The flow whose hosts they are at.
    flow: u32,
    at_client: End,
    at_server: End,
    server: Option<Running>,
    client: Option<Running>,
}

impl<'a> Visit<'a> {
    /// Starts the server, and waits until it listens. `flow`: the first one of the group, by its place in the hosts'
    /// plan.
    pub(crate) fn begin(programs: &'a Programs, hosts: &Hosts, flow: u32) -> Result<Self, HostsError> {
        let ends = [(Side::Senders, SENDERS), (Side::Receivers, RECEIVERS)];
        let (at_client, at_server) = if programs.download { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
        let end = |variable, placeholder, (side, network)| End {
            variable,
            placeholder,
            side,
            address: address(network, flow).to_string(),
        };
        let at_client = end("PARSHALL_CLIENT", "{client}", at_client);
        let at_server = end("PARSHALL_SERVER", "{server}", at_server);
        let mut visit = Self { programs, flow, at_client, at_server, server: None, client: None };
        if let Some(command) = &programs.server {
            let server = visit.program(command, Begins::Listening);
            visit.server = Some(hosts.begin_program(flow, visit.at_server.side, server)?);
        }
        Ok(visit)
    }

    /// Starts the client at that time of CLOCK_MONOTONIC.
    pub(crate) fn begin_client(&mut self, hosts: &Hosts, at_ns: u64) -> Result<(), HostsError> {
        let client = self.program(&self.programs.client, Begins::At(at_ns));
        self.client = Some(hosts.begin_program(self.flow, self.at_client.side, client)?);
        Ok(())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.client.as_ref().is_some_and(Running::has_ended)
    }

    pub(crate) fn end(self) -> Result<ProgramsEnded, HostsError> {
        let status = |running: Option<Running>| match running.map(Running::end).transpose()? {
            Some(Ended::Itself(status)) => Ok(Some(status)),
            Some(Ended::Killed) | None => Ok(None),
        };
        Ok(ProgramsEnded { client: status(self.client)?, server: status(self.server)? })
    }

    fn program(&self, command: &[String], begins: Begins) -> Program {
        let ends = [&self.at_client, &self.at_server];
        let filled_in = |word: &String| {
            ends.iter().fold(word.clone(), |word, end| word.replace(end.placeholder, &end.address))
        };
        let environment = ends.map(|end| (end.variable.to_string(), end.address.clone())).to_vec();
        Program { command: command.iter().map(filled_in).collect(), environment, begins }
    }
}
