//! Options that say where connections come from.

use super::typed::Typed;
use super::words::Word;
use clap::Args;
use serde::Deserialize;
use std::net::IpAddr;
use sysdyno_record::origin::{OriginPlan, ProxyProtocol};
use sysdyno_record::units::RateHz;

/// Where connections come from.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Connections")]
pub struct OriginOptions {
    /// Source addresses of connections, used in turn [default: the kernel's choice]
    #[arg(long, value_name = "ADDRESS,…", value_delimiter = ',', env = "SYSDYNO_SOURCE")]
    pub source: Vec<IpAddr>,
    /// Start each connection with a PROXY protocol header, for servers that expect one
    #[arg(long, value_enum, value_name = "VERSION", env = "SYSDYNO_PROXY_PROTOCOL")]
    pub proxy_protocol: Option<Word<ProxyProtocol>>,
    /// Close and reopen connections at this rate, such as 100/s, each after a response; this host closes first
    #[arg(long, value_name = "RATE", env = "SYSDYNO_CHURN")]
    pub churn: Option<Typed<RateHz>>,
}

impl OriginOptions {
    /// The same as a plan.
    pub fn plan(&self) -> OriginPlan {
        OriginPlan {
            sources: self.source.clone(),
            proxy_protocol: self.proxy_protocol.map(|word| word.0),
            churn_hz: self.churn.map(|rate| rate.0.0),
            hosts: Vec::new(),
        }
    }
}
