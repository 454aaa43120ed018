//! Takes away what a variant takes besides settings, and reads how far it bit.

use crate::burner::Burner;
use crate::error::RunError;
use std::path::Path;
use sysdyno_observe::group_throttling;
use sysdyno_observe::source::cpu_stat::Throttling;
use sysdyno_record::squeeze::{BiteCounter, BurnKind, SqueezeAction, SqueezeBite};
use sysdyno_record::tryout::Action;

/// What is taken away while a trial lasts.
#[derive(Debug, Default)]
pub(super) struct Squeezer {
    /// `None`: nothing is burnt in this tryout.
    burner: Option<Burner>,
    /// What is on, with the throttling of its groups when it began.
    on: Option<(SqueezeAction, Vec<(u32, Throttling)>)>,
}

impl Squeezer {
    /// Makes ready to burn CPU time; the process that does.
    pub(super) fn start(&mut self, program: &Path) -> Result<u32, RunError> {
        let burner = Burner::start(program)?;
        let pid = burner.pid();
        self.burner = Some(burner);
        Ok(pid)
    }

    /// Begins what a variant takes away; its settings are made already.
    pub(super) fn begin(&mut self, action: &Action) -> Result<(), RunError> {
        let Action::Squeeze(squeeze) = action else { return Ok(()) };
        let read = |pid: u32| Some((pid, group_throttling(pid)?));
        let groups = limited(squeeze).into_iter().filter_map(read).collect();
        if let Some(burner) = &mut self.burner {
            burner.order(squeeze.burn.as_ref())?;
        }
        self.on = Some(((**squeeze).clone(), groups));
        Ok(())
    }

    /// Ends it; how far it bit.
    pub(super) fn end(&mut self) -> Result<Vec<SqueezeBite>, RunError> {
        let Some((squeeze, groups)) = self.on.take() else { return Ok(Vec::new()) };
        let mut bites = Vec::new();
        if let Some(burner) = &mut self.burner {
            let burnt = burner.order(None)?;
            if squeeze.burn.is_some_and(|burn| burn.ratio > 0.0) {
                let (moved, of) = (burnt.burnt_s, burnt.due_s);
                bites.push(SqueezeBite { counter: BiteCounter::BurntCpu, moved, of });
            }
        }
        let grown = groups.into_iter().filter_map(|(pid, before)| {
            let after = group_throttling(pid)?;
            let grown = |of: fn(&Throttling) -> u64| of(&after).saturating_sub(of(&before)) as f64;
            Some([grown(|group| group.throttled_count), grown(|group| group.periods_count)])
        });
        let grown = grown.reduce(|sum, one| [sum[0] + one[0], sum[1] + one[1]]);
        bites.extend(grown.map(|[moved, of]| SqueezeBite {
            counter: BiteCounter::ThrottledPeriods,
            moved,
            of,
        }));
        Ok(bites)
    }
}

/// The processes whose groups have a quota.
fn limited(squeeze: &SqueezeAction) -> Vec<u32> {
    let Some(BurnKind::Follow(roots)) = squeeze.burn.as_ref().map(|burn| &burn.kind) else {
        return Vec::new();
    };
    let has_group = |pid: &u32| {
        let key = format!("process.{pid}.cpus");
        squeeze.settings.iter().any(|change| change.key == key && change.value != "placed")
    };
    roots.iter().copied().filter(has_group).collect()
}
