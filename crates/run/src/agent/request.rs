//! The requests to an agent and their answers, one row each.
//!
//! A row defines a request's form in the pipe, its wording in messages, the method that sends it, and the type of the answer.
//! [`LocalAgent`](super::LocalAgent) carries it out in a match arm; without that arm, the crate does not compile.

use super::part::PartCall;
use super::processes::ProcessQuery;
use super::route::{RouteCall, RouteReport};
use super::survey::{HostSurvey, ListeningAddress};
use super::{AgentLink, TuneAnswer, TuneRequest};
use crate::error::RunError;
use crate::links::LinksCall;
use crate::profiling::ProfileRequest;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::net::SocketAddr;
use sysdyno_analyze::tryout::CommandOutcome;
use sysdyno_load::LoadOutcome;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::links::LinkPrediction;
use sysdyno_record::plan::{Endpoint, LoadPlan};
use sysdyno_record::profile::Profile;
use sysdyno_record::units::SpanNs;

macro_rules! requests {
    ($(
        $(#[$doc:meta])*
        $variant:ident $words:literal: fn $method:ident($($parameter:ident: $order:ty)?) -> $answer:ty;
    )*) => {
        /// Something that is to be done on a host.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum AgentRequest {
            $($(#[$doc])* $variant$(($order))?,)*
        }

        /// The answer to the request of the same name.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum AgentAnswer {
            $($(#[$doc])* $variant($answer),)*
        }

        impl AgentRequest {
            /// The words for messages.
            pub fn words(&self) -> &'static str {
                match self {
                    $(AgentRequest::$variant { .. } => $words,)*
                }
            }
        }

        /// Carries out requests on one host.
        pub trait Agent {
            /// Does one thing and answers when it is done.
            ///
            /// # Errors
            /// It could not be done, or a notice could not be written down.
            fn call(&mut self, request: AgentRequest, link: &mut dyn AgentLink) -> Result<AgentAnswer, RunError>;
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// As [`Agent::call`].
                fn $method(&mut self, $($parameter: $order,)? link: &mut dyn AgentLink) -> Result<$answer, RunError> {
                    let answer = self.call(AgentRequest::$variant$(($parameter))?, link)?;
                    let AgentAnswer::$variant(answer) = answer else {
                        return Err(RunError::Answer { request: $words });
                    };
                    Ok(answer)
                }
            )*
        }
    };
}

requests! {
    /// Says what the host is.
    Facts "facts": fn facts() -> HostFacts;
    /// Finds the processes of a server.
    Describe "describe": fn describe(query: ProcessQuery) -> Vec<WatchedProcess>;
    /// Says where packets to an address go.
    Route "look up a route": fn route(call: RouteCall) -> RouteReport;
    /// Says over which links the host sends, where it has several that carry the traffic of one.
    Links "predict links": fn links(call: LinksCall) -> Vec<LinkPrediction>;
    /// Begins to sample the kernel, and answers after the notice of the first row; the others come meanwhile.
    StartSampling "start sampling": fn start_sampling(order: SamplingOrder) -> ();
    /// Reads everything that is sampled once more, at once, and answers after the notice of the row.
    Read "read kernel counters": fn read() -> ();
    /// Stops sampling.
    StopSampling "stop sampling": fn stop_sampling() -> ();
    /// Sends a part of a load, by the orders that come meanwhile; what is measured comes as notices.
    Part "send part of the load": fn part(call: Box<PartCall>) -> ();
    /// Lists the processes.
    Survey "list processes": fn survey() -> HostSurvey;
    /// Lists the addresses at which somebody listens.
    Listening "list listening sockets": fn listening() -> Vec<ListeningAddress>;
    /// Takes a profile; one that is stopped contains the samples until then.
    Profile "profile": fn profile(order: ProfileRequest) -> Profile;
    /// Carries out something of a share of a lab; only [`LabShares`](super::LabShares) knows what.
    Share "carry out a share of a lab": fn share(call: Value) -> Value;
}

/// What is to be sampled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SamplingOrder {
    /// Samples per second.
    pub hz: f64,
    /// Processes to measure.
    pub watch: Vec<WatchedProcess>,
    /// Endpoint whose sockets are measured; `None`: none.
    pub endpoint: Option<Endpoint>,
    /// Generator threads whose CPUs the sampler keeps off, if there are others.
    pub threads: u32,
    /// Addresses of services behind the server, whose queues are measured too.
    pub behind: Vec<SocketAddr>,
    /// Whether other processes that use CPU are watched even without a server.
    #[serde(default)]
    pub finds_others: bool,
}

/// The agent of whoever carries out a plan: does besides what no other process may ask for.
pub trait Generator: Agent {
    /// Sends a load, and its probe beside it if the plan has one; `trial` is its number in the run.
    ///
    /// # Errors
    /// It could not be sent, or a notice could not be written down.
    fn load(
        &mut self,
        trial: u32,
        plan: &LoadPlan,
        link: &mut dyn AgentLink,
    ) -> Result<LoadOutcome, RunError>;

    /// Does nothing for a while, sampling on.
    ///
    /// # Errors
    /// A notice could not be written down.
    fn rest(&mut self, span: SpanNs, link: &mut dyn AgentLink) -> Result<(), RunError>;

    /// Runs a command, whose words no shell reads, to its end or to that of `limit`.
    ///
    /// # Errors
    /// It could not be started, or a notice could not be written down.
    fn command(
        &mut self,
        words: &[String],
        limit: SpanNs,
        link: &mut dyn AgentLink,
    ) -> Result<CommandOutcome, RunError>;

    /// Looks at settings, tries, keeps, or undoes changes of them.
    ///
    /// # Errors
    /// It could not be done.
    fn tune(&mut self, request: TuneRequest) -> Result<TuneAnswer, RunError>;
}
