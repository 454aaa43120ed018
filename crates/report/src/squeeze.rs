//! What the report of a squeeze is made from: references to the parts of one record.
//!
//! Screen: [`crate::terminal::render_squeeze`]; page: [`crate::html::render_squeeze`]; document for programs:
//! [`crate::json::squeeze_document`].

use crate::number;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::plan::Plan;
use sysdyno_record::squeeze::{BiteCounter, Elasticity, SqueezeConclusion, SqueezePlan, SqueezedResources};
use sysdyno_record::store::Run;
use sysdyno_record::tryout::{TryLine, TryTrial};
use sysdyno_record::view::FolderView;

/// One squeeze, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct SqueezeInput<'a> {
    /// The run folder.
    pub folder: FolderView<'a>,
    /// What was planned; `None`: it was not written, or is damaged.
    pub plan: Option<&'a SqueezePlan>,
    /// The host; `None`: not written, or damaged.
    pub facts: Option<&'a HostFacts>,
    /// What was found to squeeze, trials and pairs, in the order of the file.
    pub lines: &'a [TryLine],
    /// Its conclusion, read from the folder or derived again.
    pub conclusion: &'a SqueezeConclusion,
}

impl<'a> SqueezeInput<'a> {
    /// A squeeze as it was read, with its conclusion: that of the folder, or derived again where it has none.
    pub fn new(run: &'a Run, conclusion: &'a SqueezeConclusion) -> SqueezeInput<'a> {
        let plan = match &run.plan {
            Some(Plan::Squeeze(plan)) => Some(plan.as_ref()),
            _ => None,
        };
        SqueezeInput {
            folder: run.folder_view(),
            plan,
            facts: run.facts.as_ref(),
            lines: &run.tryout,
            conclusion,
        }
    }

    /// What was found to squeeze; `None`: it did not come to that.
    pub fn found(&self) -> Option<&'a SqueezedResources> {
        self.lines.iter().find_map(|line| match line {
            TryLine::Resources(found) => Some(found.as_ref()),
            _ => None,
        })
    }

    /// The trials, in the order in which they ran.
    pub fn trials(&self) -> impl Iterator<Item = &'a TryTrial> + use<'a> {
        self.lines.iter().filter_map(|line| match line {
            TryLine::Trial(trial) => Some(trial.as_ref()),
            _ => None,
        })
    }

    /// What the load went to, as the user wrote it.
    pub fn url(&self) -> &'a str {
        self.plan.and_then(|plan| plan.tryout.load()).map_or("", |load| &load.target.url)
    }
}

/// The proof that a squeeze bit, in words; empty: there is none.
pub fn bite_text(elasticity: &Elasticity) -> String {
    let texts = elasticity.bites.iter().map(|bite| match bite.counter {
        BiteCounter::BurntCpu => format!("{:.1} of {:.1} CPU seconds taken", bite.moved, bite.of),
        BiteCounter::ThrottledPeriods => {
            format!("throttled in {:.0} of {:.0} periods", bite.moved, bite.of)
        }
        BiteCounter::FewerInFlight => {
            format!("{:.0}% of what was taken away carried no request", 100.0 * bite.moved / bite.of)
        }
        BiteCounter::DiskUsed => format!("{:.0}% of what was left was used", 100.0 * bite.moved / bite.of),
        BiteCounter::HeldBack => format!(
            "{} waits for {}",
            number::count(bite.moved as u64),
            number::counted(bite.of as u64, "packet")
        ),
    });
    texts.collect::<Vec<_>>().join(", ")
}
