//! `sysdyno profile`: where the CPU time of a host goes, or what its threads wait for.

use super::agent::reach_host;
use super::record;
use crate::args::{ProfileArgs, ProfileForm};
use crate::exit::Exit;
use crate::ui::{Signals, Ui};
use anyhow::{Context, bail};
use std::io::IsTerminal;
use sysdyno_analyze::profile::summarize;
use sysdyno_record::profile::{Profile, ProfileKind, ProfileSummary, SampledEvent};
use sysdyno_record::units::{SpanNs, WallNs};
use sysdyno_report::html::{ProfileMade, render_profile};
use sysdyno_report::{number, profile as text};
use sysdyno_run::agent::{Agent, AgentLink, Notice, Proceed};
use sysdyno_run::profiling::{ProfileRequest, take_profile};
use sysdyno_run::{RunError, clock};

const DURATION_DEFAULT: SpanNs = SpanNs::from_secs(10);

/// From this share of lost records, a profile is not to be trusted. Source: house value.
const LOST_MAX: f64 = 0.01;

/// The file that the screen proposes.
const FILE_PROPOSED: &str = "profile.html";

pub fn profile(args: &ProfileArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let form = form(args)?;
    let request = request(args);
    let signals = Signals::listen().context("cannot listen to signals")?;
    let started = clock::wall();
    let profile = match &args.server {
        None => {
            let mut note = Some(announced(&request));
            // Asked once sampling has begun: a user who may not sample gets the error alone.
            take_profile(&request, || {
                note.take().iter().for_each(|note| ui.note(note));
                !signals.is_interrupted()
            })?
        }
        Some(place) => {
            let mut agent = reach_host(&place.0, (&args.ssh, &args.broker), args.server_sudo, ui)?;
            let note = announced(&request);
            let profile = agent.profile(request, &mut UntilInterrupted { signals: &signals, ui, note })?;
            Profile { host: Some(place.0.name.clone()), ..profile }
        }
    };
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

fn request(args: &ProfileArgs) -> ProfileRequest {
    let kind = if args.off_cpu { ProfileKind::OffCpu } else { ProfileKind::OnCpu };
    let event = SampledEvent::ALL.into_iter().find(|event| args.event.as_deref() == Some(event.name()));
    let duration = args.duration.map_or(DURATION_DEFAULT, |span| span.0);
    let (pids, tiers, cgroups) = (args.pids.clone(), args.tiers.clone(), args.cgroups.clone());
    ProfileRequest { kind, event, rate_hz: args.frequency, pids, tiers, cgroups, duration }
}

/// The other side of a profile of another host.
struct UntilInterrupted<'a> {
    signals: &'a Signals,
    ui: &'a Ui,
    /// What is said once sampling has begun.
    note: String,
}

impl AgentLink for UntilInterrupted<'_> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        if matches!(notice, Notice::Profiling) {
            self.ui.note(&self.note);
        }
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        if self.signals.is_interrupted() { Proceed::Stop } else { Proceed::Continue }
    }
}

fn announced(request: &ProfileRequest) -> String {
    let what = match request.kind {
        ProfileKind::OnCpu => "Sampling stacks",
        ProfileKind::OffCpu => "Recording waits",
    };
    let span = number::duration_ns(request.duration.0);
    let pids = request.pids.iter().map(|pid| format!("process {pid}"));
    let named = request.tiers.iter().chain(&request.cgroups).map(|name| format!("'{name}'"));
    let of = pids.chain(named).collect::<Vec<String>>().join(", ");
    let of = if of.is_empty() { subject(&[]) } else { of };
    format!("{what} of {of} for {span}; Ctrl-C stops early")
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
    words.extend(args.server.iter().map(|place| format!("--server {}", place.0.name)));
    words.extend(args.server_sudo.then(|| "--server-sudo".to_owned()));
    words.extend(args.event.iter().map(|event| format!("--event {event}")));
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
                    subject: &match &profile.host {
                        Some(host) => format!("{} on {host}", subject(&profile.scope_pids)),
                        None => subject(&profile.scope_pids),
                    },
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
