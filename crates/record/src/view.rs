//! A run as conclusions and reports see it: borrowed, from its folder or from memory.

use crate::event::Event;
use crate::facts::HostFacts;
use crate::load::{Interval, LatencySet, LatencyWindow};
use crate::manifest::Manifest;
use crate::plan::{LoadPlan, Plan};
use crate::probe::ProbeReply;
use crate::proof::FindingProof;
use crate::remote::RemoteHost;
use crate::series::Series;
use crate::store::{Run, Trial};
use std::collections::BTreeMap;
use std::path::Path;

/// What was planned and recorded of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunView<'a> {
    /// What was to be done; `None`: it was not written, or is damaged.
    pub plan: Option<&'a Plan>,
    /// The generator's host; `None`: not written, or damaged.
    pub facts: Option<&'a HostFacts>,
    /// The server's host where it is another one; `None`: there is one host.
    pub server: Option<ServerView<'a>>,
    /// The trials, in the order in which they began.
    pub trials: &'a [Trial],
    /// All intervals, in order of time.
    pub intervals: &'a [Interval],
    /// Readings of the generator's kernel.
    pub series: &'a Series,
    /// Marks on the time axis.
    pub events: &'a [Event],
    /// Operations of the probe; empty without one.
    pub probe: &'a [ProbeReply],
    /// Latency of the measured phases, by trial.
    pub latency: &'a BTreeMap<u32, LatencySet>,
    /// The same window by window; without it, intervals of percentiles are not known.
    pub latency_windows: &'a BTreeMap<u32, Vec<LatencyWindow>>,
    /// What was tried afterwards to prove findings; empty: nothing was.
    pub proofs: &'a [FindingProof],
}

/// The folder of a run, as reports tell of it.
#[derive(Clone, Copy, Debug)]
pub struct FolderView<'a> {
    /// Where it is, as it is printed; never opened.
    pub path: &'a Path,
    /// Whether there is a report in it.
    pub has_report: bool,
    /// What the run is and how far it got.
    pub manifest: &'a Manifest,
    /// Whether the writer died before it could finish.
    pub is_incomplete: bool,
    /// What the reader had to leave out, in sentences.
    pub damage: &'a [String],
}

/// The server's host, where it is not the generator's.
#[derive(Clone, Copy, Debug)]
pub struct ServerView<'a> {
    /// How it was reached, and what it is.
    pub host: &'a RemoteHost,
    /// Readings of its kernel, on the clock of the generator's host.
    pub series: &'a Series,
}

impl<'a> RunView<'a> {
    /// Readings of the kernel under the server.
    pub fn server_series(&self) -> &'a Series {
        self.server.map_or(self.series, |server| server.series)
    }

    /// The load that all trials have in common, of the plan or else of the first trial.
    pub fn load(&self) -> Option<&'a LoadPlan> {
        self.plan.and_then(Plan::load).or(self.trials.first().map(|trial| &trial.begin.plan))
    }

    /// The windows of a trial's latency; empty where none were kept.
    pub fn windows(&self, trial: u32) -> &'a [LatencyWindow] {
        self.latency_windows.get(&trial).map_or(&[], Vec::as_slice)
    }
}

impl Run {
    /// What reports tell of its folder.
    pub fn folder_view(&self) -> FolderView<'_> {
        FolderView {
            path: self.path(),
            has_report: self.has_report(),
            manifest: &self.manifest,
            is_incomplete: self.is_incomplete,
            damage: &self.damage,
        }
    }

    /// What conclusions and reports are made from.
    pub fn view(&self) -> RunView<'_> {
        RunView {
            plan: self.plan.as_ref(),
            facts: self.facts.as_ref(),
            server: self.server.as_ref().map(|host| ServerView { host, series: &self.server_series }),
            trials: &self.trials,
            intervals: &self.intervals,
            series: &self.series,
            events: &self.events,
            probe: &self.probe,
            latency: &self.latency,
            latency_windows: &self.latency_windows,
            proofs: &self.proofs,
        }
    }
}
