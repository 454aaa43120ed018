//! Turns options into the plan of a probe that runs alone.

use crate::host::PlanHost;
use crate::load;
use crate::options::{LoadOptions, TargetOptions, Word};
use crate::request;
use anyhow::bail;
use sysdyno_load::probe::{self, ProbeJob, ProbeTarget, Way};
use sysdyno_record::probe::{ProbeKind, ProbePlan};
use sysdyno_record::units::SpanNs;

/// Port of a TCP probe that is given none.
const DEFAULT_PORT: u16 = 80;

/// The options of a probe.
#[derive(Clone, Debug, Default)]
pub struct ProbeDraft {
    /// What is probed, as it was typed.
    pub target: String,
    /// The operation; `None`: that of the target's form.
    pub kind: Option<Word<ProbeKind>>,
    /// Most operations; `None`: until it is stopped.
    pub count: Option<u64>,
    /// How long it may go on; `None`: until it is stopped.
    pub duration: Option<SpanNs>,
    /// Time between two operations; `None`: the default.
    pub interval: Option<SpanNs>,
    /// When an operation is given up; `None`: the default.
    pub timeout: Option<SpanNs>,
}

impl ProbeDraft {
    /// The probe.
    ///
    /// # Errors
    /// A target that cannot be probed, or not in this way or this often.
    pub fn finish(&self, here: &dyn PlanHost) -> anyhow::Result<ProbeJob> {
        let target = ProbeTarget::parse(&self.target)?;
        let kind = self.kind.map_or(target.kind, |word| word.0);
        let interval = self.interval.unwrap_or(probe::ALONE_INTERVAL);
        let timeout = self.timeout.unwrap_or(probe::TIMEOUT);
        let way = match kind {
            ProbeKind::Http => {
                let url = ["tcp://", "icmp://"].iter().find_map(|scheme| self.target.strip_prefix(scheme));
                let url = url.unwrap_or(&self.target);
                let shape = load::shape(&LoadOptions::default())?;
                Way::Http(Box::new(request::plan(url, &TargetOptions::default(), shape, here)?))
            }
            _ if target.host.is_empty() => bail!("cannot probe a Unix socket by {}", kind.name()),
            ProbeKind::Tcp => Way::Tcp(target.resolve(target.port.unwrap_or(DEFAULT_PORT))?),
            ProbeKind::Icmp => Way::Icmp(target.resolve(0)?),
        };
        let in_time = self.duration.map(|span| span.0.div_ceil(interval.0));
        let count = [self.count, in_time].into_iter().flatten().min();
        let plan = ProbePlan { kind, interval, timeout };
        let job = ProbeJob { plan, way, count, trial: 0, seed: here.seed(), generator_threads: 0 };
        job.check()?;
        Ok(job)
    }
}
