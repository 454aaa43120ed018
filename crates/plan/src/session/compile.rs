//! Turns a session file into a plan, and reports errors with their line.

use super::file::{DistributionFile, OperationFile, RulesFile, SessionFile, SessionWish, TimeFile};
use super::objects::Objects;
use super::problem::SessionProblem;
use super::upload;
use super::values::{check_values, takes};
use crate::options::{ObjectiveOption, Typed};
use std::collections::HashMap;
use std::ops::Range;
use sysdyno_record::plan::{HeaderField, LoadPlan, PhaseEnd, PhaseKind, RequestSpec, Validators};
use sysdyno_record::session::{
    Distribution, OperationLimit, Pace, SessionOperation, SessionPlan, SessionRules,
};
use sysdyno_record::units::SpanNs;
use sysdyno_record::workload::{MAX_OPERATIONS, OperationPlan};
use toml::Spanned;

/// Default rules: those of Faban.
const DEFAULT_DEVIATION: f64 = 0.02;
const DEFAULT_ERRORS: f64 = 0.01;

/// An exponential time is cut off after so many means, where the file says nothing; as in Faban.
const DEFAULT_MAX_MEANS: u64 = 5;

/// Makes the operations and the session of a plan, whose phases are known.
pub(super) fn compile(plan: &mut LoadPlan, file: &SessionFile, wish: &SessionWish<'_>) -> anyhow::Result<()> {
    let session = make(plan, file, wish).map_err(|problem| problem.told(wish.text))?;
    plan.workload.session = Some(Box::new(session));
    Ok(())
}

fn make(
    plan: &mut LoadPlan,
    file: &SessionFile,
    wish: &SessionWish<'_>,
) -> Result<SessionPlan, SessionProblem> {
    let whole = 0..0;
    if file.operation.is_empty() || file.operation.len() > MAX_OPERATIONS {
        return Err(SessionProblem::at(
            whole,
            format!("a session has 1 to {MAX_OPERATIONS} operations ([[operation]])"),
        ));
    }
    let mut positions = HashMap::new();
    for (number, operation) in (0u32..).zip(&file.operation) {
        let name = operation.name.get_ref().clone();
        if name.is_empty() || name.len() > 80 || positions.insert(name, number).is_some() {
            return Err(SessionProblem::at(
                operation.name.span(),
                "an operation needs a unique name of at most 80 bytes",
            ));
        }
    }
    check_values(file, wish)?;
    let first = match &file.first {
        None => 0,
        Some(name) => known(&positions, name.get_ref(), name.span())?,
    };
    let cookies = file.cookies.unwrap_or(true);
    let mut objects = Objects::default();
    let mut operations = Vec::new();
    let mut walks = Vec::new();
    for operation in &file.operation {
        let mut planned = request(plan, operation, wish)?;
        // What a server shows to somebody whom it knows differs from user to user.
        planned.validators.same_body &= !cookies && operation.take.is_none();
        operations.push(planned);
        walks.push(walk(operation, &positions, &mut objects, wish)?);
    }
    let users = match (wish.sessions_hz, wish.users, &file.users) {
        (Some(_), ..) => 0,
        (None, Some(typed), _) => typed,
        (None, None, Some(written)) => *written.get_ref(),
        (None, None, None) => 1,
    };
    if wish.sessions_hz.is_some() && walks.iter().all(|walk| walk.exit_ratio <= 0.0) {
        let cause = "arriving sessions must end: no operation has an 'exit' above 0";
        return Err(SessionProblem::at(whole, cause));
    }
    plan.workload.operations = operations;
    Ok(SessionPlan {
        name: file.name.clone().unwrap_or_else(|| wish.name.to_owned()),
        users,
        sessions_hz: wish.sessions_hz,
        stagger: stagger(plan, file, users),
        cold_ratio: share(file.cold_share.as_ref(), 1.0)?,
        first,
        operations: walks,
        objects: objects.list,
        rules: rules(&file.rules, wish)?,
        cookies,
    })
}

/// All users begin in the first half of the ramp-up, however many they are. In the second half they walk on, so that the
/// mix of what is measured is not that of first operations.
fn stagger(plan: &LoadPlan, file: &SessionFile, users: u32) -> SpanNs {
    let ramp_up = plan.phases.iter().filter(|phase| phase.kind == PhaseKind::Warmup);
    let ramp_up_ns: u64 =
        ramp_up.map(|phase| if let PhaseEnd::After(span) = phase.end { span.0 } else { 0 }).sum();
    let longest_ns = ramp_up_ns / 2 / u64::from(users.max(1));
    SpanNs(file.stagger.map_or(longest_ns, |span| span.0.0.min(longest_ns)))
}

fn rules(file: &RulesFile, wish: &SessionWish<'_>) -> Result<SessionRules, SessionProblem> {
    let most = file.users_per_rate.as_ref();
    if let Some(most) = most.filter(|most| !(most.get_ref().is_finite() && *most.get_ref() > 0.0)) {
        return Err(SessionProblem::at(most.span(), "it must be a number above 0"));
    }
    Ok(SessionRules {
        mix_deviation: share(file.mix.as_ref(), DEFAULT_DEVIATION)?,
        cycle_deviation: share(file.cycle.as_ref(), DEFAULT_DEVIATION)?,
        max_error_ratio: share(file.errors.as_ref(), DEFAULT_ERRORS)?,
        max_users_per_rate: most.filter(|_| wish.sessions_hz.is_none()).map(|most| *most.get_ref()),
    })
}

fn share(written: Option<&Spanned<f64>>, default: f64) -> Result<f64, SessionProblem> {
    match written {
        None => Ok(default),
        Some(share) if (0.0..=1.0).contains(share.get_ref()) => Ok(*share.get_ref()),
        Some(share) => Err(SessionProblem::at(share.span(), "it must be a share from 0 to 1")),
    }
}

fn known(positions: &HashMap<String, u32>, name: &str, span: Range<usize>) -> Result<u32, SessionProblem> {
    positions
        .get(name)
        .copied()
        .ok_or_else(|| SessionProblem::at(span, format!("there is no operation '{}'", name.escape_debug())))
}

fn walk(
    operation: &OperationFile,
    positions: &HashMap<String, u32>,
    objects: &mut Objects,
    wish: &SessionWish<'_>,
) -> Result<SessionOperation, SessionProblem> {
    let mut next = vec![0.0; positions.len()];
    for (name, weight) in operation.next.get_ref() {
        let position = known(positions, name, operation.next.span())?;
        if !(weight.is_finite() && *weight >= 0.0) {
            let cause = format!("the weight of '{}' must be 0 or more", name.escape_debug());
            return Err(SessionProblem::at(operation.next.span(), cause));
        }
        next[position as usize] = *weight;
    }
    if next.iter().sum::<f64>() <= 0.0 {
        return Err(SessionProblem::at(operation.next.span(), "no weight is above 0"));
    }
    let pace = match (&operation.cycle, &operation.think) {
        (Some(cycle), None) => Pace::Cycle(distribution(cycle)?),
        (None, Some(think)) => Pace::Think(distribution(think)?),
        _ => {
            let cause = "an operation needs either a cycle time ('cycle') or a think time ('think')";
            return Err(SessionProblem::at(operation.name.span(), cause));
        }
    };
    let mut embedded = Vec::new();
    if !wish.pages_only {
        embedded = objects.add(&operation.objects, false)?;
        embedded.extend(objects.add(&operation.images, true)?);
    }
    Ok(SessionOperation {
        name: operation.name.get_ref().clone(),
        next,
        exit_ratio: share(operation.exit.as_ref(), 0.0)?,
        pace,
        limit: operation.limit.as_ref().map(limit).transpose()?,
        objects: embedded,
        begins_session: operation.begins_session,
        takes: takes(operation)?,
    })
}

fn limit(written: &Spanned<String>) -> Result<OperationLimit, SessionProblem> {
    let objective = written.get_ref().parse::<ObjectiveOption>();
    let objective = objective.map_err(|cause| SessionProblem::at(written.span(), cause))?.0;
    Ok(OperationLimit { percentile_ratio: objective.percentile_ratio, limit: objective.limit })
}

fn distribution(written: &Spanned<TimeFile>) -> Result<Distribution, SessionProblem> {
    let problem = |cause: &str| SessionProblem::at(written.span(), cause);
    let drawn = match written.get_ref() {
        TimeFile::Fixed(span) => return Ok(Distribution::Fixed(span.0)),
        TimeFile::Drawn(drawn) => drawn,
    };
    let span = |typed: Option<Typed<SpanNs>>| typed.map(|typed| typed.0);
    let (mean, min, max) = (span(drawn.mean), span(drawn.min).unwrap_or(SpanNs(0)), span(drawn.max));
    match drawn.distribution {
        DistributionFile::Uniform => match max {
            Some(max) if min <= max && mean.is_none() && !drawn.shifted => {
                Ok(Distribution::Uniform { min, max })
            }
            _ => Err(problem("a uniform time needs exactly 'min' and 'max', with 'min' not above 'max'")),
        },
        DistributionFile::Exponential => {
            let mean = mean.ok_or_else(|| problem("an exponential time needs its 'mean'"))?;
            let max = max.unwrap_or(SpanNs(mean.0.saturating_mul(DEFAULT_MAX_MEANS)));
            if min > mean || mean > max {
                return Err(problem("'min', 'mean', and 'max' must not decrease"));
            }
            Ok(Distribution::Exponential { mean, min, max, is_shifted: drawn.shifted })
        }
    }
}

fn request(
    plan: &LoadPlan,
    operation: &OperationFile,
    wish: &SessionWish<'_>,
) -> Result<OperationPlan, SessionProblem> {
    let path = operation.path.get_ref();
    if !path.starts_with('/') {
        return Err(SessionProblem::at(operation.path.span(), "a path must start with '/'"));
    }
    let mut headers = plan.request.headers.clone();
    for field in &operation.header {
        let value = field.get_ref().value.clone();
        let value =
            value.ok_or_else(|| SessionProblem::at(field.span(), "a header must be 'Name: value'"))?;
        headers.push(HeaderField { name: field.get_ref().name.clone(), value });
    }
    let written = operation.body.as_ref().map(|body| body.get_ref().clone());
    let mut body = written.unwrap_or_default().into_bytes();
    let form = if wish.pages_only { None } else { upload::form(operation)? };
    if let Some((content, value)) = form {
        body = content;
        headers.push(HeaderField { name: "Content-Type".into(), value });
    }
    let has_body = !body.is_empty() || !operation.uploads.is_empty();
    let method = operation.method.clone().unwrap_or_else(|| if has_body { "POST" } else { "GET" }.into());
    Ok(OperationPlan {
        name: operation.name.get_ref().clone(),
        path: path.clone(),
        request: RequestSpec {
            method: method.to_ascii_uppercase(),
            headers,
            body_bytes: body.len() as u64,
            body: body.into(),
        },
        weight: 1.0,
        validators: Validators {
            statuses: operation.expect_status.clone(),
            body_contains: operation.expect_body.clone(),
            ..plan.validators.clone()
        },
    })
}
