//! `watch --record`: what is watched, in a run folder. Whatever ends the program, the folder opens as far as it got.

use super::host::WatchOrder;
use crate::args::WatchArgs;
use crate::commands::record::{finish, new_run, read_back};
use crate::commands::watched::page;
use crate::exit::Exit;
use crate::settings::SettingsFile;
use crate::ui::{Signals, Ui, causes};
use anyhow::{anyhow, ensure};
use std::path::PathBuf;
use sysdyno_analyze::analyze;
use sysdyno_plan::options::Combine;
use sysdyno_record::manifest::{RunKind, RunStatus};
use sysdyno_record::plan::{Plan, WatchPlan};
use sysdyno_record::progress::RunProgress;
use sysdyno_record::store::{Run, RunWriter};
use sysdyno_record::units::SpanNs;
use sysdyno_run::execute::{RunJournal, Watcher};

/// What is recorded, and where.
pub(super) struct RecordedWatch {
    runs_dir: PathBuf,
    plan: WatchPlan,
}

/// The journal has nobody to tell: what is watched is shown by whoever reads it.
struct Nobody;

impl Watcher for Nobody {
    fn progress(&mut self, _: &RunProgress) {}

    fn is_interrupted(&mut self) -> bool {
        false
    }
}

impl RecordedWatch {
    /// The record that was asked for.
    ///
    /// # Errors
    /// Several hosts are watched: a run folder is of one.
    pub(super) fn new(args: &WatchArgs, order: &WatchOrder) -> anyhow::Result<RecordedWatch> {
        ensure!(
            args.hosts.len() < 2,
            "cannot record {} hosts: a run folder is of one host\nhint: record each host with a `sysdyno watch --record HOST` \
             of its own; `sysdyno serve` shows all of them",
            args.hosts.len()
        );
        let runs_dir = args.folder.clone().or(SettingsFile::read()?.record).folder()?;
        let host = args.hosts.first().map(|place| place.0.name.clone());
        let (interval, target) = (order.interval, order.target.clone());
        Ok(RecordedWatch { runs_dir, plan: WatchPlan { interval, host, target, count: args.count } })
    }

    /// Records while `show` goes on, then concludes and writes the report.
    pub(super) fn carry_out(
        self,
        signals: &Signals,
        ui: &Ui,
        show: impl FnOnce(&mut RunJournal<'_>) -> anyhow::Result<Exit>,
    ) -> anyhow::Result<Exit> {
        let mut writer = RunWriter::create(&self.runs_dir, new_run(RunKind::Watch)?)?;
        let plan = Plan::Watch(self.plan);
        if let Err(error) = writer.plan(&plan) {
            return Err(crate::commands::record::fail(writer, error.into()));
        }
        ui.note(&format!("recording to {}", writer.path().display()));
        let mut nobody = Nobody;
        let (shown, remains) = {
            let mut journal = RunJournal::new(&mut writer, &mut nobody);
            let Plan::Watch(WatchPlan { interval, count, .. }) = &plan else { unreachable!("is one") };
            journal.expect(SpanNs(interval.0.saturating_mul(count.unwrap_or(0))));
            let shown = show(&mut journal);
            (shown, journal.remains())
        };
        let _ = writer.close();
        let mut run = read_back(&writer, remains)?;
        run.plan.get_or_insert(plan);
        let analysis = analyze(&run.view());
        let _ = writer.analysis(&analysis);
        run.analysis = Some(analysis.clone());
        let ending = ending(&shown, signals);
        finish(writer, &mut run, ending, Some(|run: &Run| page(run, &analysis)), ui);
        let name = run.manifest.id.clone();
        ui.note(&format!("recorded: `sysdyno show {name}` says what was at its limit"));
        match shown {
            Ok(Exit::Done | Exit::Interrupted) if run.manifest.status == RunStatus::Failed => {
                Ok(Exit::Untrusted)
            }
            shown => shown,
        }
    }
}

/// How the record ends: as it was meant to, unless fewer samples were taken than asked for, or the host was lost.
fn ending(shown: &anyhow::Result<Exit>, signals: &Signals) -> (RunStatus, Option<String>) {
    match shown {
        Err(error) => (RunStatus::Failed, Some(causes(&anyhow!("{error:#}")))),
        Ok(Exit::Interrupted) if signals.is_interrupted() => {
            (RunStatus::Interrupted, Some("interrupted by a signal".into()))
        }
        Ok(_) => (RunStatus::Complete, None),
    }
}
