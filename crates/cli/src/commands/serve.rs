//! `sysdyno serve`: the folder of runs in a browser.

use super::compare;
use super::experiment::{beside, conclusion};
use super::fleet::FleetShown;
use super::lab;
use super::record::is_living;
use super::show::page_of;
use crate::args::ServeArgs;
use crate::exit::Exit;
use crate::here::program;
use crate::settings::{SettingsFile, cache_folder};
use crate::ui::{Signals, Ui};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use sysdyno_analyze::compare::{CompareOptions, RunProfile, Side, compare as side_by_side, over_time};
use sysdyno_plan::options::Combine;
use sysdyno_record::facts::HostUse;
use sysdyno_record::store::{ExperimentFolder, Run};
use sysdyno_report::html;
use sysdyno_serve::{
    AccessToken, Pages, RunsOrdered, ServeOptions, ServedAgent, ServedLab, serve as serve_pages,
};

pub fn serve(args: ServeArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let runs_dir = args.record.or(SettingsFile::read()?.record).folder()?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let token = token()?;
    let secret = token.text().to_owned();
    let options = ServeOptions {
        listen: args.listen,
        runs_dir: runs_dir.clone(),
        experiments_dir: Some(beside(&runs_dir)),
        cache: cache_folder(),
        token,
        pages: Arc::new(Folders { fleet: FleetShown::new(&args.broker)? }),
        orders: args.allow_runs.then(ordered).transpose()?,
    };
    serve_pages(
        options,
        || signals.is_interrupted(),
        |address| {
            ui.print(&format!("http://{address}/?token={secret}"));
            ui.note(&format!("serving the runs in {}; press Ctrl-C to stop", runs_dir.display()));
        },
    )?;
    Ok(Exit::Done)
}

fn ordered() -> anyhow::Result<RunsOrdered> {
    Ok(RunsOrdered { program: program()?, key: token()? })
}

/// A secret that nobody can guess.
fn token() -> anyhow::Result<AccessToken> {
    let mut random = [0; 16];
    let length = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    let length = length.context("cannot draw a token")?;
    anyhow::ensure!(length == random.len(), "cannot draw a token: the kernel gave too few bytes");
    Ok(AccessToken::new(random))
}

/// Pages made from folders, as `report` and `compare` make them.
struct Folders {
    fleet: FleetShown,
}

impl Pages for Folders {
    fn run(&self, folder: &Path) -> Result<String, String> {
        Run::open(folder, &is_living).map(|run| page_of(&run)).map_err(|error| error.to_string())
    }

    fn experiment(&self, folder: &Path) -> Result<String, String> {
        let made = ExperimentFolder::open(folder).map_err(anyhow::Error::from).and_then(|folder| {
            // Of the runs of a comparison, one that is damaged is said to be by `experiment report`.
            let comparison = conclusion(&folder, |path| compare::profile(&Run::open(path, &is_living)?))?;
            Ok(html::render_comparison(&comparison, None))
        });
        made.map_err(|error| format!("{error:#}"))
    }

    fn comparison(&self, folders: &[PathBuf]) -> Result<String, String> {
        comparison(folders).map_err(|error| format!("{error:#}"))
    }

    fn trend(&self, folders: &[PathBuf]) -> Result<String, String> {
        // Of many runs, one that cannot be read is left out.
        let runs = folders.iter().filter_map(|folder| profile(folder).ok()).collect();
        Ok(html::render_comparison(&over_time(runs, &options()), None))
    }

    fn labs(&self) -> Vec<ServedLab> {
        lab::served()
    }

    fn fleet(&self) -> Vec<ServedAgent> {
        self.fleet.agents()
    }

    fn is_living(&self, pid: u32, start_ticks: u64) -> bool {
        is_living(pid, start_ticks)
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

fn comparison(folders: &[PathBuf]) -> anyhow::Result<String> {
    if folders.len() < 2 {
        bail!("cannot compare a single run\nhint: choose two in the list of runs");
    }
    let side = |folder: &PathBuf| -> anyhow::Result<Side> {
        let run = profile(folder)?;
        Ok(Side { name: run.id.clone(), runs: vec![run], blocks: Vec::new() })
    };
    let sides = folders.iter().map(side).collect::<anyhow::Result<Vec<_>>>()?;
    if sides.windows(2).any(|pair| pair[0].name == pair[1].name) {
        bail!("cannot compare a run with itself\nhint: choose two in the list of runs");
    }
    let profiles = compare::profiles(&sides);
    Ok(html::render_comparison(&side_by_side(sides, &options()), profiles.as_ref().map(|[a, b]| [a, b])))
}

fn profile(folder: &Path) -> anyhow::Result<RunProfile> {
    compare::profile(&Run::open(folder, &is_living)?)
}

fn options() -> CompareOptions {
    CompareOptions { margin_ratio: None, metrics: Vec::new(), allowed: Vec::new(), workload: HostUse::Web }
}
