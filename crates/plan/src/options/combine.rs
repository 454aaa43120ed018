//! The one rule for joining two sources of options: what the upper one sets wins.
//!
//! A list replaces the list below it, and so does a switch. Lists of `allow` never replace each other: all of them count.

use super::allow::Allow;
use super::autotune::AutotuneOptions;
use super::load::LoadOptions;
use super::origin::OriginOptions;
use super::probe::ProbeOptions;
use super::search::CapacityOptions;
use super::servers::{BrokerOptions, FleetOptions, ServerOptions, SshOptions};
use super::squeeze::SqueezeOptions;
use super::target::TargetOptions;
use super::tryout::TryOptions;
use super::wire::WireOptions;
use super::workload::{NeedOptions, ReplayOptions, SessionOptions, WorkloadOptions};

/// Joins two sources of the same settings; `self` wins.
pub trait Combine {
    /// What `self` sets, and what `lower` sets for the rest.
    #[must_use]
    fn or(self, lower: Self) -> Self;
}

impl<T> Combine for Option<T> {
    fn or(self, lower: Self) -> Self {
        Option::or(self, lower)
    }
}

impl<T> Combine for Vec<T> {
    fn or(self, lower: Self) -> Self {
        if self.is_empty() { lower } else { self }
    }
}

/// For switches that files cannot set.
impl Combine for bool {
    fn or(self, lower: Self) -> Self {
        self || lower
    }
}

impl Combine for Allow {
    fn or(mut self, lower: Self) -> Self {
        self.0.extend(lower.0);
        self
    }
}

/// Joins structures field by field; a missing field does not compile.
#[macro_export]
macro_rules! combine {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        $(impl $crate::options::Combine for $name {
            fn or(self, lower: Self) -> Self {
                $name { $($field: $crate::options::Combine::or(self.$field, lower.$field)),* }
            }
        })*
    };
}

combine! {
    WorkloadOptions { urls, mix }
    ReplayOptions { replay, speed }
    SessionOptions { session, users, pages_only }
    NeedOptions { need }
    TryOptions {
        metric, effect, budget, pairs, window, warmup, connections, rate, share, arrival, keep, calibrate, noisy, fail_if,
    }
    AutotuneOptions {
        allow_change, budget, rounds, candidates, effect, race_blocks, proof_blocks, window, warmup, connections, noisy, keep,
    }
    SqueezeOptions { depth, only, budget, pairs, window, warmup, connections, noisy }
    LoadOptions { connections, duration, requests, rate, steps, ramp, objective, arrival, warmup, fail_if }
    CapacityOptions { objective, effort, connections, max_rate, arrival, window, fail_if }
    ServerOptions { server, server_sudo, load_from, min_hosts, ssh, fleet }
    FleetOptions { broker, fleet_lease }
    BrokerOptions { nats, nats_creds }
    SshOptions { ssh_config }
    OriginOptions { source, proxy_protocol, churn }
    ProbeOptions { probe, probe_interval, probe_timeout, probe_log }
    TargetOptions {
        method, header, body_file, content_type, expect_status, expect_length, expect_header, expect_body, any_body, same_body, max_body,
        timeout, timeout_or_type, connect_timeout, idle_timeout, keep_alive, no_keepalive, requests_per_connection, threads, io, spin, stamps, seed,
        watch_pid, allow, wire,
    }
    WireOptions {
        mc_preset, mc_protocol, mc_gets, mc_multiget, mc_keys, mc_popularity, mc_key_size, mc_value_size, mc_expiry, mc_no_verify,
        mc_no_preload, tls_ca, tls_cert, tls_key, tls_name, tls_version, tls_resume, insecure, http2, streams,
    }
}
