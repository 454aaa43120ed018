//! `sysdyno facts`: what a host is, and what differs between two.

use super::{record, show};
use crate::args::{FactsArgs, RecordOptions};
use crate::exit::Exit;
use crate::settings::SettingsFile;
use crate::ui::{Signals, Ui};
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use sysdyno_analyze::facts::{compare, matches, weight};
use sysdyno_plan::options::Combine;
use sysdyno_record::facts::{FactsDocument, HostFacts};
use sysdyno_record::json;
use sysdyno_record::store::{read_facts, read_run_facts};
use sysdyno_record::units::SpanNs;
use sysdyno_report::escape;
use sysdyno_report::facts::{self as text, Amount};
use sysdyno_run::agent::{Agent, Deaf, LocalAgent};
use sysdyno_run::clock;
use sysdyno_tune::blink;

/// The name of this host.
const THIS_HOST: &str = "localhost";

pub fn facts(args: &FactsArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if let [port, rest @ ..] = args.identify.as_slice() {
        return identify(port, rest.first(), ui);
    }
    match args.hosts.as_slice() {
        [a, b] => print_differences(args, [a, b], ui),
        [one] => print_facts(args, one, ui),
        _ => print_facts(args, Path::new(THIS_HOST), ui),
    }
}

fn print_facts(args: &FactsArgs, host: &Path, ui: &Ui) -> anyhow::Result<Exit> {
    if args.fail_if_different {
        bail!("cannot compare one host: --fail-if-different needs two\nhint: sysdyno facts A B");
    }
    let facts = Host::find(host, &args.record)?.facts(args.only.as_deref())?;
    if args.ports {
        ui.print(&text::ports(&facts, &ui.style()));
        return Ok(Exit::Done);
    }
    let is_document = args.json || args.output.is_some();
    let document = is_document.then(|| document(&facts)).transpose()?;
    if let (Some(path), Some(document)) = (&args.output, &document) {
        std::fs::write(path, format!("{document}\n"))
            .with_context(|| format!("cannot write facts '{}'", path.display()))?;
    }
    match document {
        Some(document) if args.json => ui.print(&document),
        Some(_) => {}
        None => {
            let weight = |name: &str| weight(name, args.workload.0);
            ui.print(&text::sheet(&facts, amount(args), &weight, &ui.style()));
        }
    }
    Ok(Exit::Done)
}

fn print_differences(args: &FactsArgs, hosts: [&PathBuf; 2], ui: &Ui) -> anyhow::Result<Exit> {
    if args.ports {
        bail!("cannot compare ports: --ports shows those of a single host");
    }
    if args.output.is_some() {
        bail!(
            "cannot save a comparison: -o saves the facts of a single host\nhint: --json prints all \
             differences"
        );
    }
    let [a, b] = hosts.map(|host| Host::find(host, &args.record));
    let (a, b) = (a?, b?);
    let only = args.only.as_deref();
    let comparison = compare(&a.facts(only)?, &b.facts(only)?, args.workload.0);
    let names = [a.name(), b.name()];
    let names = [names[0].as_str(), names[1].as_str()];
    ui.print(&if args.json {
        format!("{:#}", text::comparison_document(&comparison, names))
    } else {
        text::differences(&comparison, names, amount(args), &ui.style())
    });
    let is_failed = args.fail_if_different && !comparison.differences.is_empty();
    Ok(if is_failed { Exit::CheckFailed } else { Exit::Done })
}

/// For how long a port blinks unless it is said, and at most.
const BLINK_DEFAULT: SpanNs = SpanNs::from_secs(30);
const BLINK_MAX: SpanNs = SpanNs::from_secs(3600);

fn identify(port: &str, typed: Option<&String>, ui: &Ui) -> anyhow::Result<Exit> {
    let span = typed.map(|typed| typed.parse::<SpanNs>()).transpose()?.unwrap_or(BLINK_DEFAULT);
    if span < SpanNs::from_secs(1) || span > BLINK_MAX {
        bail!("cannot let a port blink for {span}: use 1s to 1h");
    }
    let signals = Signals::listen().context("cannot listen to signals")?;
    let is_whole = blink(port, span.seconds().ceil() as u64, |second| {
        // It blinks, since the first second went by without an error.
        if second == 1 {
            ui.note(&format!("{} blinks for {span}; Ctrl-C stops it", escape::terminal(port, 40)));
        }
        !signals.is_interrupted()
    })?;
    Ok(if is_whole { Exit::Done } else { Exit::Interrupted })
}

/// Facts that were asked for by name are all printed.
fn amount(args: &FactsArgs) -> Amount {
    if args.all || args.only.is_some() { Amount::All } else { Amount::Screen }
}

fn document(facts: &HostFacts) -> anyhow::Result<String> {
    let document = FactsDocument::new(facts.clone(), record::tool(), clock::wall());
    json::pretty(&document).context("cannot print JSON")
}

/// Where facts come from.
enum Host {
    Here,
    Run(PathBuf),
    File(PathBuf),
}

impl Host {
    /// What is meant by a word: this host, a path, or a run.
    fn find(word: &Path, record: &RecordOptions) -> anyhow::Result<Host> {
        if word == Path::new(THIS_HOST) {
            return Ok(Host::Here);
        }
        if word.is_dir() {
            return Ok(Host::Run(word.to_owned()));
        }
        if word.exists() {
            return Ok(Host::File(word.to_owned()));
        }
        let runs = record.clone().or(SettingsFile::read()?.record).folder()?;
        let run = show::find(Some(word), &runs).with_context(|| {
            format!("cannot find '{}': it is not localhost, a file, or a run", word.display())
        })?;
        Ok(Host::Run(run))
    }

    /// Its facts, or those of them that were asked for.
    fn facts(&self, only: Option<&str>) -> anyhow::Result<HostFacts> {
        let mut facts = match self {
            Host::Here => here()?,
            Host::Run(folder) => read_run_facts(folder)?,
            Host::File(path) => read_facts(path)?,
        };
        if let Some(only) = only {
            facts.facts.retain(|name, _| matches(only, name));
        }
        Ok(facts)
    }

    /// How it is called in a comparison. Untrusted.
    fn name(&self) -> String {
        match self {
            Host::Here => "this host, now".to_owned(),
            Host::Run(path) => format!("run {}", path.display()),
            Host::File(path) => format!("file {}", path.display()),
        }
    }
}

fn here() -> anyhow::Result<HostFacts> {
    Ok(LocalAgent::default().facts(&mut Deaf)?)
}
