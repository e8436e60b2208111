//! Programs in the place of a group's workload: any client and any server, with the group's addresses, path and round-trip time.

use parshall_hosts::plan::{address, RECEIVERS, SENDERS};
use parshall_hosts::{Begins, Ended, Hosts, HostsError, Program, Running, Side};
use serde::{Deserialize, Serialize};

/// What runs at the hosts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    /// The group, by its place in the scenario.
    pub group: u32,
    /// The client: the emulation ends with it. A program and its arguments.
    pub client: Vec<String>,
    /// The server, which listens before the client starts, and is killed at the end.
    pub server: Option<Vec<String>>,
    /// Whether the client is the one who receives: what it downloads takes the path of data, what it sends the way back.
    pub download: bool,
}

/// How the programs ended.
#[derive(Clone, Debug, Serialize)]
pub struct ProgramsEnded {
    /// Exit status of the client; `None`: it was killed when the scenario's duration was over.
    pub client: Option<u8>,
    /// The same of the server, which is killed in the end unless it has ended before.
    pub server: Option<u8>,
}

/// The environment variables that name the addresses of both ends.
const SERVER: &str = "PARSHALL_SERVER";
const CLIENT: &str = "PARSHALL_CLIENT";

/// In arguments these stand for the addresses: a shell would replace variables before we begin.
const PLACES: [(&str, &str); 2] = [("{server}", SERVER), ("{client}", CLIENT)];

/// Programs at work.
pub(crate) struct Visit<'a> {
    programs: &'a Programs,
    /// Those of the first flow of the group.
    environment: Vec<(String, String)>,
    server: Option<Running>,
    client: Option<Running>,
}

impl<'a> Visit<'a> {
    /// Starts the server, and waits until it listens. `flow`: the first one of the group, by its place in the hosts' plan.
    pub(crate) fn begin(programs: &'a Programs, hosts: &Hosts, flow: u32) -> Result<Self, HostsError> {
        let [senders, receivers] = [SENDERS, RECEIVERS].map(|network| address(network, flow).to_string());
        let (client, server) = if programs.download { (receivers, senders) } else { (senders, receivers) };
        let environment = vec![(SERVER.to_string(), server), (CLIENT.to_string(), client)];
        let mut visit = Self { programs, environment, server: None, client: None };
        if let Some(command) = &programs.server {
            let side = if programs.download { Side::Senders } else { Side::Receivers };
            visit.server = Some(hosts.begin_program(side, visit.program(command, Begins::Listening))?);
        }
        Ok(visit)
    }

    /// Starts the client at that time of CLOCK_MONOTONIC.
    pub(crate) fn begin_client(&mut self, hosts: &Hosts, at_ns: u64) -> Result<(), HostsError> {
        let side = if self.programs.download { Side::Receivers } else { Side::Senders };
        let client = self.program(&self.programs.client, Begins::At(at_ns));
        self.client = Some(hosts.begin_program(side, client)?);
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
        let command = command.iter().map(|word| filled_in(word, &self.environment)).collect();
        Program { command, environment: self.environment.clone(), begins }
    }
}

fn filled_in(word: &str, environment: &[(String, String)]) -> String {
    PLACES.iter().fold(word.to_string(), |word, (place, name)| {
        let address = environment.iter().find(|(each, _)| each == name).map_or("", |(_, address)| address);
        word.replace(place, address)
    })
}
