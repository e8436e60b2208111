//! Request and response: a client asks, a server answers, the client thinks, and asks again (closed loop).
//!
//! The source is asked for the responses, as for the transfers of an ON/OFF source: how long the client thinks before its
//! next request, and how many bytes the server answers. A request is always as long. An exchange lasts from its
//! request to the last byte of its response; both go over one connection, which lives as long as the flow.

use super::{build, granularity, Application, Demand};
use crate::distributions::{Distribution, DistributionConfig};
use crate::error::ConfigError;
use crate::sources::{transfer_bytes, Source, Transfer, TransferSource, Transfers};
use parshall_units::{Bytes, Duration};
use rand_core::RngCore;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::Arc;

parshall_units::configuration! {
    /// Exchanges of a request and a response, with times to think between them.
    pub struct RequestResponseConfig {
        /// Payload of each request.
        request: Bytes => Size, min "1 B", max "1 GB";
        /// Payload of a response; at least a byte.
        response: DistributionConfig => SizeDistribution;
        /// Responses are rounded to whole multiples of this, at least one: `"1 packet"` has no packet half full.
        size_granularity: Bytes => Size, default "1 B", min "1 B", max "1 GB";
        /// Time to think, from the last byte of a response to the next request.
        think: DistributionConfig => TimeDistribution;
    }
}

/// The two distributions, and whether the client thinks before the next request.
#[derive(Clone, Debug)]
pub(crate) struct Responses {
    drawn: Arc<Drawn>,
    waits: bool,
}

#[derive(Debug)]
struct Drawn {
    response: Distribution,
    granularity: NonZeroU64,
    think: Distribution,
}

impl Application for RequestResponseConfig {
    const TITLE: &'static str = "requests and responses";
    const DEMAND: Demand = Demand::Varying;
    const RANDOM: bool = true;
    const SUMMARY: &'static str =
        "a client's requests, a server's responses, and times to think (closed loop)";
    const REFERENCE: &'static str = "RFC 9112 §9.3: exchanges over a persistent connection";

    fn source(&self, _: NonZeroU32) -> Result<Source, ConfigError> {
        let request = NonZeroU64::new(self.request.0)
            .ok_or_else(|| ConfigError::new("request", self.request, "at least a byte"))?;
        let drawn = Drawn {
            response: build("response", &self.response)?,
            granularity: granularity(self.size_granularity)?,
            think: build("think", &self.think)?,
        };
        let responses = Responses { drawn: Arc::new(drawn), waits: false };
        Ok(Source::Exchanges(request, TransferSource(Transfers::Responses(responses))))
    }
}

impl Responses {
    pub(crate) fn next<R: RngCore + ?Sized>(&mut self, rng: &mut R) -> Transfer {
        let Drawn { response, granularity, think } = &*self.drawn;
        let wait = if std::mem::replace(&mut self.waits, true) {
            Duration::from_secs_f64(think.sample(rng))
        } else {
            Duration::ZERO
        };
        Transfer { wait, bytes: Some(transfer_bytes(response.sample(rng), *granularity).max(1)), lasts: None }
    }
}
