//! The data of an autotune's page: the plan, the steps, and what came of them. Nothing is computed.

use crate::autotune::AutotuneInput;
use serde::Serialize;
use sysdyno_record::autotune::{AutotuneConclusion, StepBegan, StepEnded};

#[derive(Serialize)]
pub(super) struct AutotunePayload<'a> {
    schema: &'static str,
    folder: String,
    url: &'a str,
    name: &'a str,
    steps: Vec<Step<'a>>,
    conclusion: &'a AutotuneConclusion,
}

#[derive(Serialize)]
struct Step<'a> {
    began: &'a StepBegan,
    ended: &'a StepEnded,
}

pub(super) fn payload<'a>(input: &AutotuneInput<'a>) -> AutotunePayload<'a> {
    AutotunePayload {
        schema: "sysdyno.report-autotune/1",
        folder: input.path.to_string_lossy().into_owned(),
        url: input.url(),
        name: &input.plan.base.name,
        steps: input.steps().map(|(began, ended)| Step { began, ended }).collect(),
        conclusion: input.conclusion,
    }
}
