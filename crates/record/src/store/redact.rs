//! Keeps secrets out of the record: values of request header fields, and user information in URLs.
//!
//! A value is kept only if its field's name is known to carry no secret; any other value is replaced. An unknown field
//! counts as secret, since people mail records to each other.

use crate::command::CommandSpec;
use crate::plan::{HeaderField, LoadPlan, Plan, RunPlan};
use crate::probe::ProbesPlan;
use crate::squeeze::SqueezePlan;
use crate::tryout::{Action, TryPlan, TryWorkload};

/// Replaces a secret.
const REDACTED: &str = "«redacted»";

/// Request header fields whose values are kept, in lower case.
const HARMLESS_FIELDS: &[&str] = &[
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "connection",
    "content-encoding",
    "content-language",
    "content-type",
    "dnt",
    "expect",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "origin",
    "pragma",
    "range",
    "te",
    "upgrade-insecure-requests",
    "x-forwarded-proto",
    "x-requested-with",
];

/// Flags of the command line whose value is a header field, `NAME: VALUE`.
const HEADER_FLAGS: &[&str] = &["-H", "--header"];

pub(super) fn redacted_plan(plan: &Plan) -> Plan {
    match plan {
        Plan::Run(run) => Plan::Run(RunPlan { load: redacted_load(&run.load), ..run.clone() }),
        Plan::Load(load) => Plan::Load(redacted_load(load)),
        Plan::Work(work) => Plan::Work(work.clone()),
        Plan::Watch(watch) => Plan::Watch(watch.clone()),
        Plan::Probe(probes) => Plan::Probe(redacted_probes(probes)),
        Plan::Try(tryout) => Plan::Try(Box::new(redacted_tryout(tryout))),
        Plan::Squeeze(squeeze) => Plan::Squeeze(Box::new(SqueezePlan {
            tryout: redacted_tryout(&squeeze.tryout),
            ..(**squeeze).clone()
        })),
    }
}

fn redacted_probes(plan: &ProbesPlan) -> ProbesPlan {
    let mut plan = plan.clone();
    for probed in &mut plan.targets {
        probed.target.url = redacted_url(&probed.target.url);
    }
    plan
}

fn redacted_tryout(plan: &TryPlan) -> TryPlan {
    let mut plan = plan.clone();
    match &mut plan.workload {
        TryWorkload::Load(load) => **load = redacted_load(load),
        TryWorkload::Capacity(run) => run.load = redacted_load(&run.load),
        TryWorkload::Commands => {}
    }
    if let Some(command) = &mut plan.command {
        let around = [command.prepare.as_mut(), command.clean.as_mut()];
        [Some(&mut command.run)].into_iter().chain(around).flatten().for_each(redact_command);
    }
    for variant in &mut plan.variants {
        match &mut variant.action {
            Action::Target(target) => target.url = redacted_url(&target.url),
            Action::Command(command) | Action::Prepare(command) => redact_command(command),
            Action::AsItIs | Action::Settings(_) | Action::Squeeze(_) => {}
        }
    }
    plan
}

/// Commands have secrets where that of this program has them; what is redacted is not typed again either.
fn redact_command(command: &mut CommandSpec) {
    let words = redacted_command(&command.words);
    if words != command.words {
        command.text = words.join(" ");
        command.words = words;
    }
}

pub(super) fn redacted_load(plan: &LoadPlan) -> LoadPlan {
    let mut plan = plan.clone();
    let operations = plan.workload.operations.iter_mut().flat_map(|operation| &mut operation.request.headers);
    let fields = plan.request.headers.iter_mut().chain(operations);
    fields.filter(|field| !is_harmless(&field.name)).for_each(redact_field);
    let urls = plan.probes.iter_mut().map(|probed| &mut probed.target.url).chain([&mut plan.target.url]);
    urls.for_each(|url| *url = redacted_url(url));
    plan
}

fn redact_field(field: &mut HeaderField) {
    field.value = REDACTED.into();
}

fn is_harmless(name: &str) -> bool {
    HARMLESS_FIELDS.iter().any(|harmless| name.trim().eq_ignore_ascii_case(harmless))
}

/// A command line with the values of header fields and the user information of URLs replaced.
pub fn redacted_command(command: &[String]) -> Vec<String> {
    let mut is_field = false;
    let mut redacted = Vec::with_capacity(command.len());
    for argument in command {
        let flag = HEADER_FLAGS.iter().find(|flag| argument.starts_with(**flag));
        redacted.push(match flag {
            _ if is_field => redacted_field(argument),
            Some(flag) => format!("{flag}{}", redacted_field(&argument[flag.len()..])),
            None => redacted_url(argument),
        });
        is_field = !is_field && HEADER_FLAGS.contains(&argument.as_str());
    }
    redacted
}

/// `NAME: VALUE` with the value replaced unless the name is harmless; a leading `=` of a long flag stays.
fn redacted_field(field: &str) -> String {
    match field.split_once(':') {
        Some((name, _)) if !is_harmless(name.trim_start_matches('=')) => format!("{name}: {REDACTED}"),
        _ => field.to_owned(),
    }
}

/// A URL without its user information; any other text as it is.
fn redacted_url(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://{REDACTED}@{host}{}", &rest[authority.len()..]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_on_the_command_line_are_replaced() {
        let check = |typed: &[&str], kept: &[&str]| {
            let typed: Vec<String> = typed.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(redacted_command(&typed), kept);
        };
        check(&["-H", "Authorization: Bearer x"], &["-H", "Authorization: «redacted»"]);
        check(&["-HX-Key: x", "-c", "1"], &["-HX-Key: «redacted»", "-c", "1"]);
        check(&["--header=Cookie: x"], &["--header=Cookie: «redacted»"]);
        check(&["--header=Accept: */*"], &["--header=Accept: */*"]);
        check(&["-H", "accept: text/html", "-H", "x:y"], &["-H", "accept: text/html", "-H", "x: «redacted»"]);
        check(&["http://u:p@host:80/a@b?c"], &["http://«redacted»@host:80/a@b?c"]);
        check(&["http://host/a@b"], &["http://host/a@b"]);
    }
}
