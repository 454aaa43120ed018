//! Settings from files, and the one rule by which sources are joined.
//!
//! An option on the command line wins over the environment (both are clap's), that over `./sysdyno.toml`, that over
//! `sysdyno.toml` in the user's configuration folder, that over the default. A list that is given anywhere replaces the
//! one below it; a switch that is on anywhere is on. Tables and keys are those of the options.

use crate::args::{
    CapacityOptions, LoadOptions, NeedOptions, OriginOptions, ProbeOptions, RecordOptions, ReplayOptions,
    ServerOptions, SessionOptions, SshOptions, TargetOptions, TryOptions, WireOptions, WorkloadOptions,
};
use anyhow::Context;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Name of the file in the present folder and in the configuration folder.
const FILE_NAME: &str = "sysdyno.toml";

/// The content of a settings file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Options of the request and its response.
    pub target: TargetOptions,
    /// Options of `load`.
    pub load: LoadOptions,
    /// Options of `run`.
    pub run: CapacityOptions,
    /// What is sent instead of one request.
    pub workload: WorkloadOptions,
    /// Hosts of the server and of the generators.
    pub server: ServerOptions,
    /// Where connections come from.
    pub origin: OriginOptions,
    /// An access log as the load itself.
    pub replay: ReplayOptions,
    /// Users that walk over operations.
    pub session: SessionOptions,
    /// Real traffic that a capacity is held against.
    pub need: NeedOptions,
    /// Options of `try`.
    #[serde(rename = "try")]
    pub experiment: TryOptions,
    /// The probe beside a load.
    pub probe: ProbeOptions,
    /// Where runs are kept.
    pub record: RecordOptions,
}

impl Settings {
    /// The settings of all files that exist.
    pub fn read() -> anyhow::Result<Settings> {
        let user = config_folder().map(|folder| folder.join("sysdyno").join(FILE_NAME));
        let files = [Some(PathBuf::from(FILE_NAME)), user];
        files
            .into_iter()
            .flatten()
            .try_fold(Settings::default(), |upper, path| Ok(upper.or(Settings::read_file(&path)?)))
    }

    fn read_file(path: &Path) -> anyhow::Result<Settings> {
        if std::fs::metadata(path).is_err() {
            return Ok(Settings::default());
        }
        let cannot = || format!("cannot read settings '{}'", path.display());
        let text = crate::file::read(path).with_context(cannot)?;
        toml::from_str(&text).with_context(cannot)
    }
}

/// Joins two sources of the same settings; `self` wins.
pub trait Combine {
    /// What is set here, and for the rest what is set in `lower`.
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

impl Combine for bool {
    fn or(self, lower: Self) -> Self {
        self || lower
    }
}

macro_rules! combine {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        $(impl Combine for $name {
            fn or(self, lower: Self) -> Self {
                $name { $($field: Combine::or(self.$field, lower.$field)),* }
            }
        })*
    };
}

combine! {
    Settings { target, load, run, experiment, workload, replay, session, need, server, origin, probe, record }
    WorkloadOptions { urls, mix }
    ReplayOptions { replay, speed }
    SessionOptions { session, users, pages_only }
    NeedOptions { need }
    TryOptions {
        metric, effect, budget, pairs, window, warmup, connections, rate, share, arrival, keep, calibrate, noisy, fail_if,
    }
    LoadOptions { connections, duration, requests, rate, steps, ramp, arrival, warmup, fail_if }
    CapacityOptions { objective, effort, connections, max_rate, arrival, window, fail_if }
    ServerOptions { server, server_sudo, load_from, ssh }
    SshOptions { ssh_config }
    OriginOptions { source, proxy_protocol, churn }
    ProbeOptions { probe, probe_log }
    RecordOptions { runs_dir }
    TargetOptions {
        method, header, body_file, content_type, expect_status, expect_length, expect_header, expect_body, any_body, same_body, max_body,
        timeout, timeout_or_type, connect_timeout, idle_timeout, keep_alive, no_keepalive, requests_per_connection, threads, io, spin, stamps, seed,
        watch_pid, wire,
    }
    WireOptions {
        mc_preset, mc_protocol, mc_gets, mc_multiget, mc_keys, mc_popularity, mc_key_size, mc_value_size, mc_expiry, mc_no_verify,
        mc_no_preload, tls_ca, tls_cert, tls_key, tls_name, tls_version, tls_resume, insecure, http2, streams,
    }
}

fn config_folder() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")))
}

impl RecordOptions {
    /// The folder of the runs.
    pub fn folder(&self) -> anyhow::Result<PathBuf> {
        let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state = || set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
        let default = || state().map(|state| state.join("sysdyno/runs"));
        let found = self.runs_dir.clone().or_else(default);
        found.context("cannot choose a folder for runs: HOME is not set\nhint: give one with --runs-dir")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_typed_wins_over_files_and_files_over_defaults() {
        let file =
            read("[load]\nconnections = 8\nduration = '3s'\n[target]\nheader = ['A: b']").expect("reads");
        let typed = LoadOptions { connections: Some(2), ..LoadOptions::default() };
        let joined = typed.or(file.load);
        assert_eq!(joined.connections, Some(2));
        assert!(joined.duration.is_some() && joined.rate.is_none());
        assert_eq!(file.target.header.len(), 1);
    }

    #[test]
    fn a_misspelled_or_unitless_setting_is_an_error_with_its_line() {
        for text in [
            "[load]\nconections = 8",
            "[load]\nduration = '3'",
            "[load]\nrate = 5",
            "[nothing]\n",
            "[run]\nobjective = 'fast'",
        ] {
            assert!(read(text).expect_err(text).contains("line"), "{text}");
        }
    }
}
