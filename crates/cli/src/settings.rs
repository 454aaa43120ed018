//! Settings from files, and the order in which they are joined with what is typed.
//!
//! An option on the command line wins over the environment (both are clap's), that over `./sysdyno.toml`, that over
//! `sysdyno.toml` in the user's configuration folder, that over `/etc/sysdyno.toml`, that over the default. [`Combine`] says
//! what winning means. Tables and keys are those of the options.

use crate::args::RecordOptions;
use anyhow::{Context, anyhow};
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use sysdyno_plan::combine;
use sysdyno_plan::options::{
    AutotuneOptions, CapacityOptions, Combine, LoadOptions, NeedOptions, OriginOptions, ProbeOptions,
    ReplayOptions, ServerOptions, SessionOptions, SqueezeOptions, TargetOptions, TryOptions, WorkloadOptions,
};

/// Name of the file in the present folder and in the configuration folder.
const FILE_NAME: &str = "sysdyno.toml";

/// The file of the host, for all users.
pub const SYSTEM_FILE: &str = "/etc/sysdyno.toml";

/// The content of a settings file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SettingsFile {
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
    pub tryout: TryOptions,
    /// Options of `autotune`.
    pub autotune: AutotuneOptions,
    /// Options of `squeeze`.
    pub squeeze: SqueezeOptions,
    /// The probe beside a load.
    pub probe: ProbeOptions,
    /// Where runs are kept.
    pub record: RecordOptions,
}

impl SettingsFile {
    /// The settings of all files that exist.
    pub fn read() -> anyhow::Result<SettingsFile> {
        let user = config_folder().map(|folder| folder.join("sysdyno").join(FILE_NAME));
        let files = [Some(PathBuf::from(FILE_NAME)), user, Some(PathBuf::from(SYSTEM_FILE))];
        files
            .into_iter()
            .flatten()
            .try_fold(SettingsFile::default(), |upper, path| Ok(upper.or(SettingsFile::read_file(&path)?)))
    }

    /// The settings of the host's own file alone.
    pub fn read_system() -> anyhow::Result<SettingsFile> {
        SettingsFile::read_file(Path::new(SYSTEM_FILE))
    }

    /// An error says the place and no line of the text, which may hold a password.
    fn parse(text: &str) -> anyhow::Result<SettingsFile> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            anyhow!("line {line}, column {column}: {}", error.message())
        })
    }

    fn read_file(path: &Path) -> anyhow::Result<SettingsFile> {
        let cannot = || format!("cannot read settings '{}'", path.display());
        let Some(text) = crate::file::read_own(path).with_context(cannot)? else {
            return Ok(SettingsFile::default());
        };
        let mut settings = SettingsFile::parse(&text).with_context(cannot)?;
        settings.target.allow = settings.target.allow.of_file(path);
        Ok(settings)
    }
}

combine! {
    SettingsFile { target, load, run, tryout, autotune, squeeze, workload, replay, session, need, server, origin, probe, record }
    RecordOptions { runs_dir }
}

/// Where the user's settings are; `None` as well if it is the home of somebody who keeps this user out, as after `su -p`.
fn config_folder() -> Option<PathBuf> {
    let folder = folder_of("XDG_CONFIG_HOME").or_else(|| home().map(|home| home.join(".config")))?;
    let is_kept_out = folder.metadata().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    (!is_kept_out).then_some(folder)
}

/// A folder that the environment names by an absolute path.
fn folder_of(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// The user's folder: `HOME`, and where that is not set what the password database has.
fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|path| path.is_absolute())
}

impl RecordOptions {
    /// The folder of the runs.
    pub fn folder(&self) -> anyhow::Result<PathBuf> {
        let state = || folder_of("XDG_STATE_HOME").or_else(|| home().map(|home| home.join(".local/state")));
        let default = || state().map(|state| state.join("sysdyno/runs"));
        let found = self.runs_dir.clone().or_else(default);
        found.context(
            "cannot choose a folder for runs: this user has no home directory\nhint: set it with \
                      --runs-dir",
        )
    }
}

/// The folder of what a fleet keeps: the host's own for root, the user's for others, or below a folder that is named.
pub fn fleet_folder(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let own = || folder_of("XDG_STATE_HOME").or_else(|| home().map(|home| home.join(".local/state")));
    let default = || match rustix::process::geteuid().is_root() {
        true => Some(PathBuf::from("/var/lib/sysdyno")),
        false => own().map(|state| state.join("sysdyno")),
    };
    let found = named.map(Path::to_owned).or_else(default);
    let found = found.context(
        "cannot choose a folder for the fleet: this user has no home directory\nhint: set it with --state-dir",
    )?;
    Ok(found.join("fleet"))
}

/// Where things are kept that can be made again; `None`: this user has no home directory.
pub fn cache_folder() -> Option<PathBuf> {
    let cache = folder_of("XDG_CACHE_HOME").or_else(|| home().map(|home| home.join(".cache")))?;
    Some(cache.join("sysdyno"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_plan::options::{Allow, WireOptions};

    fn read(text: &str) -> Result<SettingsFile, String> {
        SettingsFile::parse(text).map_err(|error| error.to_string())
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
    fn what_a_file_turns_on_an_option_turns_off() {
        let file = read("[target]\nany-body = true\n[target.wire]\ninsecure = true\nmc-no-verify = true")
            .expect("reads");
        let off = Some(false);
        let wire = WireOptions { insecure: off, mc_no_verify: off, ..WireOptions::default() };
        let joined =
            TargetOptions { any_body: off, wire, ..TargetOptions::default() }.or(file.target.clone());
        assert_eq!((joined.any_body, joined.wire.insecure, joined.wire.mc_no_verify), (off, off, off));
        assert_eq!(TargetOptions::default().or(file.target).wire.insecure, Some(true));
    }

    #[test]
    fn an_error_in_a_file_shows_no_line_of_it() {
        for text in
            ["[target]\nheader = ['Authorization: S3CRET", "[target]\nheader = ['Authorization: S3CRET'] x\n"]
        {
            let error = read(text).expect_err(text);
            assert!(error.starts_with("line 2, column ") && !error.contains("S3CRET"), "{error}");
        }
    }

    #[test]
    fn lists_of_networks_all_count() {
        let list = |text: &str| read(text).expect("reads").target;
        let (upper, lower) = (list("[target]\nallow = ['10.0.0.0/8']"), list("[target]\nallow = []"));
        assert_eq!(upper.or(lower).allow.0.len(), 2);
        assert_eq!(list("[target]\nmethod = 'GET'").allow, Allow::default());
        assert!(read("[target]\nallow = ['x']").is_err());
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
