//! Measurements that could no longer be written to the folder: the run is shown with them all the same.

use super::{Run, Trial};
use crate::event::Event;
use crate::facts::HostFacts;
use crate::load::{Interval, LatencySet};
use crate::probe::ProbeReply;
use crate::series::{Series, SeriesLine};
use crate::tryout::TryLine;
use crate::work::WorkLine;

/// The end of a run as memory holds it. What the folder has, too, is taken from the folder.
#[derive(Clone, Debug, Default)]
pub struct Remains {
    /// The host.
    pub facts: Option<HostFacts>,
    /// The last trial.
    pub trial: Option<Trial>,
    /// Its latency.
    pub latency: LatencySet,
    /// Its intervals.
    pub intervals: Vec<Interval>,
    /// Its readings.
    pub series: Series,
    /// Its readings of the server's host.
    pub server_series: Series,
    /// Its operations of the probe.
    pub probe: Vec<ProbeReply>,
    /// All events.
    pub events: Vec<Event>,
    /// Lines of a tryout that could not be written.
    pub tryout: Vec<TryLine>,
    /// Lines of work that could not be written.
    pub operations: Vec<WorkLine>,
}

impl Run {
    /// Adds what the folder does not hold.
    pub fn complete_with(&mut self, remains: Remains) {
        self.facts = self.facts.take().or(remains.facts);
        let last_end = self.intervals.last().map(|last| last.end_mono_ns);
        let is_new = |interval: &Interval| Some(interval.begin_mono_ns) >= last_end;
        self.intervals.extend(remains.intervals.into_iter().filter(is_new));
        extend(&mut self.series, &remains.series);
        extend(&mut self.server_series, &remains.server_series);
        self.events.extend(remains.events.into_iter().skip(self.events.len()));
        let known = self.probe.len();
        let is_known = |reply: &ProbeReply, before: &[ProbeReply]| {
            let key = |reply: &ProbeReply| (reply.trial, reply.target, reply.sequence);
            before.iter().rev().any(|old| key(old) == key(reply))
        };
        let new: Vec<_> =
            remains.probe.into_iter().filter(|reply| !is_known(reply, &self.probe[..known])).collect();
        self.probe.extend(new);
        self.tryout.extend(remains.tryout);
        self.operations.extend(remains.operations);
        if let Some(trial) = remains.trial {
            self.complete_trial(trial, remains.latency);
        }
    }

    /// A trial whose end is not in the folder. Its windows are not whole, so that nothing follows from them.
    fn complete_trial(&mut self, trial: Trial, latency: LatencySet) {
        let number = trial.begin.trial;
        match self.trials.iter_mut().find(|known| known.begin.trial == number) {
            Some(known) if known.end.is_some() => return,
            Some(known) => known.end = trial.end,
            None => self.trials.push(trial),
        }
        self.latency.insert(number, latency);
        self.latency_windows.remove(&number);
    }
}

fn extend(series: &mut Series, more: &Series) {
    let last_end = series.windows().last().map(|window| window[1]);
    let columns: Vec<usize> = (0..more.columns().len()).collect();
    let mut rows = more.rows(&columns).skip_while(|row| Some(row.begin_mono_ns) < last_end).peekable();
    if rows.peek().is_some() {
        series.push(SeriesLine::header(more.columns().to_vec()));
        series.extend(rows);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::manifest::RunStatus;
    use crate::store::RunWriter;

    #[test]
    fn what_could_not_be_written_is_in_the_run_that_is_shown() {
        let runs = tempfile::tempdir().expect("a directory");
        let mut writer = RunWriter::create(runs.path(), sample::new_run(1)).expect("creates");
        writer.trial_begin(&sample::trial_begin(1)).expect("writes");
        writer.interval(&sample::interval(1, 0), &sample::latency(1, 0)).expect("writes");
        writer.event(&sample::event(0)).expect("writes");
        let path = writer.path().to_owned();
        let mut run = Run::open(&path, &|_, _| true).expect("opens");
        let mut latency = sample::latency(1, 0);
        latency.merge(&sample::latency(1, 1));
        run.complete_with(Remains {
            facts: Some(sample::facts()),
            trial: Some(Trial { begin: sample::trial_begin(1), end: Some(sample::trial_end(1)) }),
            latency,
            intervals: vec![sample::interval(1, 0), sample::interval(1, 1)],
            events: vec![sample::event(0), sample::event(1)],
            probe: vec![sample::probe_reply(1)],
            ..Remains::default()
        });
        assert_eq!(run.trials[0].end, Some(sample::trial_end(1)));
        assert_eq!((run.intervals.len(), run.events.len(), run.probe.len()), (2, 2, 1));
        assert_eq!(run.latency[&1].get(crate::load::LatencyKind::Service).count(), 200);
        assert_eq!(run.facts, Some(sample::facts()));
        writer.finish(RunStatus::Complete, None, sample::STARTED).expect("finishes");
    }
}
