//! The data of a squeeze's page: what was found, and what became of it. Nothing is computed.

use crate::squeeze::SqueezeInput;
use serde::Serialize;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::manifest::Manifest;
use sysdyno_record::squeeze::{SqueezeConclusion, SqueezePlan, SqueezedResources};
use sysdyno_record::tryout::TryTrial;

#[derive(Serialize)]
pub(super) struct SqueezePayload<'a> {
    schema: &'static str,
    folder: String,
    manifest: &'a Manifest,
    is_incomplete: bool,
    damage: &'a [String],
    plan: Option<&'a SqueezePlan>,
    facts: Option<&'a HostFacts>,
    found: Option<&'a SqueezedResources>,
    conclusion: &'a SqueezeConclusion,
    trials: Vec<&'a TryTrial>,
}

pub(super) fn payload<'a>(input: &SqueezeInput<'a>) -> SqueezePayload<'a> {
    SqueezePayload {
        schema: "sysdyno.report-squeeze/1",
        folder: input.folder.path.to_string_lossy().into_owned(),
        manifest: input.folder.manifest,
        is_incomplete: input.folder.is_incomplete,
        damage: input.folder.damage,
        plan: input.plan,
        facts: input.facts,
        found: input.found(),
        conclusion: input.conclusion,
        trials: input.trials().collect(),
    }
}
