//! `sysdyno profile`: where the CPU time of this host goes, or what its threads wait for.

use super::record;
use crate::args::{ProfileArgs, ProfileForm};
use crate::exit::Exit;
use crate::ui::{Signals, Ui};
use anyhow::{Context, bail};
use std::io::IsTerminal;
use std::time::Duration;
use sysdyno_analyze::profile::summarize;
use sysdyno_observe::{cgroup_processes, host_processes};
use sysdyno_record::profile::{Profile, ProfileKind, ProfileSummary};
use sysdyno_record::units::WallNs;
use sysdyno_report::html::{ProfileMade, render_profile};
use sysdyno_report::{number, profile as text};
use sysdyno_run::clock;
use sysdyno_run::profiling::{ProfileRequest, take_profile};

const DURATION_DEFAULT: Duration = Duration::from_secs(10);

/// From this share of lost records, a profile is not to be trusted. Source: house value.
const LOST_MAX: f64 = 0.01;

/// The file that the screen proposes.
const FILE_PROPOSED: &str = "profile.html";

pub fn profile(args: &ProfileArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let form = form(args)?;
    let request = request(args)?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let started = clock::wall();
    let mut note = Some(announced(&request));
    // Asked once sampling has begun: a user who may not sample gets the error alone.
    let profile = take_profile(&request, || {
        note.take().iter().for_each(|note| ui.note(note));
        !signals.is_interrupted()
    })?;
    let summary = summarize(&profile);
    let taken = Taken { profile, summary, started };
    match &args.file {
        Some(path) => {
            std::fs::write(path, taken.bytes(form))
                .with_context(|| format!("cannot write profile '{}'", path.display()))?;
            ui.print(&taken.screen(Some(&path.display().to_string()), ui));
        }
        None if form == ProfileForm::Text => ui.print(&taken.screen(Some(&next(args)), ui)),
        None => ui.print_bytes(&taken.bytes(form)),
    }
    let counts = &taken.profile.counts;
    let lost = counts.lost_count + counts.beyond_bound_count;
    let is_trusted = lost as f64 <= LOST_MAX * (lost + counts.samples_count) as f64;
    Ok(match counts.samples_count {
        0 if signals.is_interrupted() => Exit::Interrupted,
        _ if !is_trusted => Exit::Untrusted,
        _ => Exit::Done,
    })
}

/// The format, and whether it can go where it is to go.
fn form(args: &ProfileArgs) -> anyhow::Result<ProfileForm> {
    let asked = args.output.or(args.json.then_some(ProfileForm::Json));
    let Some(path) = &args.file else {
        let form = asked.unwrap_or(ProfileForm::Text);
        if form == ProfileForm::Pprof && std::io::stdout().is_terminal() {
            bail!("cannot print pprof to a terminal: it is binary\nhint: -o profile.pb.gz");
        }
        return Ok(form);
    };
    let by_name = || ProfileForm::of_file(&path.to_string_lossy());
    asked.or_else(by_name).with_context(|| {
        format!(
            "cannot write profile '{}': its ending names no format\nhint: end it with .html, .folded, .pb.gz, \
             .firefox.json, or .json, or add --output FORM",
            path.display()
        )
    })
}

fn request(args: &ProfileArgs) -> anyhow::Result<ProfileRequest> {
    let duration = args.duration.map_or(DURATION_DEFAULT, |span| Duration::from_nanos(span.0.0));
    let kind = if args.off_cpu { ProfileKind::OffCpu } else { ProfileKind::OnCpu };
    let mut pids = args.pids.clone();
    for tier in &args.tiers {
        pids.extend(pids_of(tier)?);
    }
    for cgroup in &args.cgroups {
        pids.extend(pids_in(cgroup)?);
    }
    pids.sort_unstable();
    pids.dedup();
    Ok(ProfileRequest { kind, rate_hz: args.frequency, pids, duration })
}

/// The processes whose name begins with this. The kernel keeps 15 bytes of a name.
fn pids_of(tier: &str) -> anyhow::Result<Vec<u32>> {
    let end = (0..=tier.len().min(15)).rev().find(|end| tier.is_char_boundary(*end)).unwrap_or(0);
    let found = host_processes().into_iter().filter(|process| process.command.starts_with(&tier[..end]));
    let pids = others(found.map(|process| process.pid));
    if tier.is_empty() || pids.is_empty() {
        bail!("cannot profile tier '{tier}': no process has such a name\nhint: `ps -e` lists processes");
    }
    Ok(pids)
}

fn pids_in(cgroup: &str) -> anyhow::Result<Vec<u32>> {
    let pids = others(cgroup_processes(cgroup).into_iter());
    if pids.is_empty() {
        bail!(
            "cannot profile control group '{cgroup}': it has no processes\nhint: `ps -e -o pid,cgroup,comm` lists the groups of \
             all processes"
        );
    }
    Ok(pids)
}

/// All but this process.
fn others(pids: impl Iterator<Item = u32>) -> Vec<u32> {
    let own = std::process::id();
    pids.filter(|pid| *pid != own).collect()
}

fn announced(request: &ProfileRequest) -> String {
    let what = match request.kind {
        ProfileKind::OnCpu => "Sampling stacks",
        ProfileKind::OffCpu => "Recording waits",
    };
    let span = number::duration_ns(u64::try_from(request.duration.as_nanos()).unwrap_or(u64::MAX));
    format!("{what} of {} for {span}; Ctrl-C stops early", subject(&request.pids))
}

/// What is profiled.
fn subject(pids: &[u32]) -> String {
    match pids {
        [] => "all processes".into(),
        [pid] => format!("process {pid} and its children"),
        pids => format!("{} processes and their children", number::count(pids.len() as u64)),
    }
}

/// The same command, with the page.
fn next(args: &ProfileArgs) -> String {
    let mut words = vec!["sysdyno profile".to_owned()];
    words.extend(args.pids.iter().map(|pid| format!("-p {pid}")));
    words.extend(args.tiers.iter().map(|tier| format!("--tier {tier}")));
    words.extend(args.cgroups.iter().map(|cgroup| format!("--cgroup {cgroup}")));
    words.extend(args.off_cpu.then(|| "--off-cpu".to_owned()));
    words.push(format!("-o {FILE_PROPOSED}"));
    words.join(" ")
}

/// A profile, and when it was taken.
struct Taken {
    profile: Profile,
    summary: ProfileSummary,
    started: WallNs,
}

impl Taken {
    fn screen(&self, next: Option<&str>, ui: &Ui) -> String {
        text::screen(&self.profile, &self.summary, next, &ui.style())
    }

    fn bytes(&self, form: ProfileForm) -> Vec<u8> {
        let Taken { profile, summary, started } = self;
        match form {
            ProfileForm::Text => {
                text::screen(profile, summary, None, &sysdyno_report::terminal::Style::default()).into()
            }
            ProfileForm::Html => {
                let made = ProfileMade {
                    subject: &subject(&profile.scope_pids),
                    tool: &record::tool(),
                    started_unix_ns: *started,
                };
                render_profile(profile, summary, &made).into()
            }
            ProfileForm::Folded => text::folded(profile).into(),
            ProfileForm::Pprof => text::pprof(profile, *started),
            ProfileForm::Firefox => text::firefox(profile, *started),
            ProfileForm::Json => format!("{:#}\n", text::document(profile, summary)).into(),
        }
    }
}
