//! `sysdyno lab`: hosts, links and services, on this machine and on others, behind ssh or in a fleet.

use crate::args::{ImageFormatWord, LabArgs, LabCommand, LabHostOptions};
use crate::exit::Exit;
use crate::ui::{Signals, Ui};
use anyhow::{Context, anyhow, bail, ensure};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use sysdyno_lab::{
    self as lab, Forwarded, HostImage, HostSeat, ImageFormat, KeeperSigns, LabPlan, LabStatus, Labs, Missing,
    NeedsOf, Outside, Recipe, Relay, START_SCRIPT, ServiceStatus, UpOrder, write_images,
};
use sysdyno_plan::options::FleetOptions;
use sysdyno_report::{escape, number};
use sysdyno_run::RunError;
use sysdyno_serve::{ServedLab, ServedService};

/// How much of a log is printed. Unit: bytes.
const MAX_LOG_BYTES: u64 = 64 * 1024;

/// Longest line of a log that is printed. Unit: characters.
const MAX_LINE: usize = 2000;

/// What a keeper is called, so that it is known in a list of processes.
const KEEPER: &std::ffi::CStr = c"lab-keeper";

/// What the process of a link with delay or loss is called.
const RELAY: &std::ffi::CStr = c"lab-relay";

pub fn lab(args: LabArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let done = act(args, ui);
    // Errors of the lab have their cause in their text already.
    done.map_err(|error| match error.downcast_ref::<RunError>() {
        Some(said) => anyhow!("{said}"),
        None => error,
    })
}

/// The labs below a state folder, and how hosts of theirs are reached that are other machines.
pub fn labs(state: Option<&Path>, hosts: &LabHostOptions) -> anyhow::Result<Labs> {
    let fleet = FleetOptions::behind(&hosts.broker);
    let ways = super::agent::ways(&hosts.ssh, hosts.server_sudo, &fleet)?;
    Ok(Labs::below(state, ways, env!("CARGO_PKG_VERSION")))
}

fn act(args: LabArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let labs = labs(args.state_dir.as_deref(), &args.ways)?;
    match args.command {
        LabCommand::Up { file, yes, dry_run: false } => up(&labs, &file, yes, ui),
        LabCommand::Up { file, dry_run: true, .. } => dry_run(&labs, &file, ui),
        LabCommand::Status { lab, json } => status(&labs, lab.as_deref(), json, ui),
        LabCommand::Logs { lab, service } => logs(&labs, &name_of(&lab)?, service.as_deref(), ui),
        LabCommand::Exec { lab, host, command } => {
            let status = labs.run(&name_of(&lab)?, &host, &command)?;
            let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
            Ok(Exit::Of(u8::try_from(code).unwrap_or(1)))
        }
        LabCommand::Reload { lab, service } => {
            labs.reload(&name_of(&lab)?, &service)?;
            Ok(Exit::Done)
        }
        LabCommand::Mount { lab, service } => {
            labs.mount(&name_of(&lab)?, &service)?;
            Ok(Exit::Done)
        }
        LabCommand::Unmount { lab, service } => {
            labs.unmount(&name_of(&lab)?, &service)?;
            Ok(Exit::Done)
        }
        LabCommand::Down { lab, all } => down(&labs, lab.as_deref(), all, ui),
        LabCommand::Export { lab, output, format, host } => {
            export(&labs, (&lab, host.as_deref()), (&output, format), ui)
        }
        LabCommand::Recipes { recipe: None } => {
            let known = lab::recipe_names().filter_map(lab::find_recipe);
            ui.print(
                &known.map(|recipe| format!("{:<21} {}\n", recipe.name, recipe.does)).collect::<String>(),
            );
            Ok(Exit::Done)
        }
        LabCommand::Recipes { recipe: Some(name) } => {
            let found = lab::find_recipe(&name);
            let recipe = found.with_context(|| {
                format!("cannot find recipe '{name}'\nhint: `sysdyno lab recipes` lists them")
            })?;
            ui.print(&described(&recipe));
            Ok(Exit::Done)
        }
        LabCommand::Keep => keep(),
        LabCommand::Relay { order } => {
            // Only a name is lost if this fails.
            let _ = rustix::thread::set_name(RELAY);
            lab::forward(&order, &mut std::io::stdout()).map_err(|error| anyhow!("{error}"))?;
            Ok(Exit::Done)
        }
    }
}

/// The lab that a file says.
fn read(file: &Path) -> anyhow::Result<(LabPlan, String)> {
    let text = read_text(file)?;
    Ok((LabPlan::parse(&text, file)?, text))
}

/// What a lab's file holds.
fn read_text(file: &Path) -> anyhow::Result<String> {
    sysdyno_plan::read_file(file).with_context(|| format!("cannot read lab '{}'", file.display()))
}

/// Whether a file of a lab is meant, and not its name.
fn is_file(typed: &str) -> bool {
    typed.contains('/') || Path::new(typed).extension().is_some_and(|ending| ending == "toml")
}

/// The name of a lab, typed or that of a file.
pub(super) fn name_of(typed: &str) -> anyhow::Result<String> {
    if is_file(typed) { Ok(read(Path::new(typed))?.0.name) } else { Ok(typed.to_owned()) }
}

fn up(labs: &Labs, file: &Path, yes: bool, ui: &Ui) -> anyhow::Result<Exit> {
    let (plan, text) = read(file)?;
    lab::may_make(&plan)?;
    provide(&lab::missing(&plan)?, yes, ui)?;
    fetch(labs, &plan, yes, ui)?;
    provide_there(labs, &plan, yes, ui)?;
    let name = plan.name.clone();
    let order = UpOrder { plan, text, beside: file.parent().unwrap_or(Path::new("")).to_owned() };
    let signals = Signals::listen()?;
    let made = labs.up(&order, &mut |line| ui.note(line), &|| signals.is_interrupted());
    match made {
        Err(_) if signals.is_interrupted() => Ok(Exit::Interrupted),
        Err(error) => Err(error.into()),
        Ok(()) => {
            ui.print(&shown(&labs.status(&name)?));
            Ok(Exit::Done)
        }
    }
}

/// Writes images of the hosts of a lab, which is up or only in its file.
fn export(
    labs: &Labs,
    (lab, host): (&str, Option<&str>),
    (output, format): (&Path, ImageFormatWord),
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let (plan, beside) = match is_file(lab) {
        true => (read(Path::new(lab))?.0, Path::new(lab).parent().unwrap_or(Path::new(""))),
        false => (labs.exportable(lab)?, Path::new("")),
    };
    let images = labs.images(&plan, beside, host)?;
    let cannot = || format!("cannot write image '{}'", output.display());
    let mut file = BufWriter::new(File::create(output).with_context(cannot)?);
    let format = match format {
        ImageFormatWord::Tar => ImageFormat::Tar,
        ImageFormatWord::Oci => ImageFormat::Oci,
    };
    let written = write_images(&plan.name, &images, format, &mut file).and_then(|()| file.flush());
    if let Err(error) = written {
        // What is left would be taken for an image.
        let _ = std::fs::remove_file(output);
        return Err(error).with_context(cannot);
    }
    for image in &images {
        let HostImage { host, services_count, packages_count, .. } = image;
        let (files, size) = (number::count(image.files_count()), number::bytes(image.size_bytes()));
        let plural = if *services_count == 1 { "" } else { "s" };
        ui.print(&format!(
            "{host}: {services_count} service{plural}, {packages_count} packages, {files} files, {size}"
        ));
    }
    if let (ImageFormat::Tar, Some(first)) = (format, images.first()) {
        ui.note(&format!(
            "hint: unpack it as root, and start a host with `systemd-nspawn -D {0} {1}` or `unshare --mount --pid --fork \
             --kill-child --mount-proc --root {0} {1}`",
            first.host,
            START_SCRIPT
        ));
    }
    Ok(Exit::Done)
}

/// Sees to it that what is missing gets installed, if that is wanted.
pub(super) fn provide(missing: &Missing, yes: bool, ui: &Ui) -> anyhow::Result<()> {
    if missing.programs.is_empty() {
        return Ok(());
    }
    let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(" ");
    let (programs, packages) = (list(&missing.programs), list(&missing.packages));
    if !missing.unknown.is_empty() {
        bail!(
            "cannot find packages with {programs} for this distribution\nhint: install them, then try again"
        );
    }
    ui.note(&format!("not installed: {programs}"));
    ui.note(&format!("apt-get would install: {packages} (they stay when the lab is torn down)"));
    ensure!(yes || is_wanted("install", ui)?, "cannot bring the lab up without {programs}");
    ui.note(&format!("installing {packages}"));
    Ok(lab::install(&missing.packages)?)
}

/// Sees to it that jars that are missing get fetched, if that is wanted.
pub(super) fn fetch(labs: &Labs, plan: &LabPlan, yes: bool, ui: &Ui) -> anyhow::Result<()> {
    for set in labs.missing_jars(plan)? {
        let folder = set.folder.display();
        ui.note(&format!("mvn would fetch: {}, {} jars, into '{folder}' (they stay)", set.name, set.count));
        ensure!(yes || is_wanted("fetch", ui)?, "cannot bring the lab up without {}", set.name);
        ui.note(&format!("fetching {}", set.name));
        labs.fetch(&set)?;
    }
    Ok(())
}

/// Sees to it that what is missing on other machines gets installed and fetched there, if that is wanted.
pub(super) fn provide_there(labs: &Labs, plan: &LabPlan, yes: bool, ui: &Ui) -> anyhow::Result<()> {
    for NeedsOf { host, needs } in labs.needs_there(plan)? {
        let Missing { programs, packages, unknown } = &needs.missing;
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(" ");
        if !unknown.is_empty() {
            let programs = list(programs);
            bail!(
                "cannot find packages with {programs} for host '{host}'\nhint: install them there, then try again"
            );
        }
        if programs.is_empty() && needs.jars.is_empty() {
            continue;
        }
        if !programs.is_empty() {
            ui.note(&format!("not installed on host '{host}': {}", list(programs)));
            let packages = list(packages);
            ui.note(&format!(
                "apt-get would install there: {packages} (they stay when the lab is torn down)"
            ));
        }
        needs
            .jars
            .iter()
            .for_each(|set| ui.note(&format!("mvn would fetch on host '{host}': {set} (they stay)")));
        ensure!(yes || is_wanted("install", ui)?, "cannot bring the lab up: host '{host}' lacks programs");
        ui.note(&format!("installing on host '{host}'"));
        labs.provide_there(plan, &host)?;
    }
    Ok(())
}

fn is_wanted(verb: &str, ui: &Ui) -> anyhow::Result<bool> {
    ui.ask(&format!("{verb} them?"))?.with_context(|| {
        format!("cannot ask whether to {verb} them: no terminal\nhint: --yes does it without asking")
    })
}

fn dry_run(labs: &Labs, file: &Path, ui: &Ui) -> anyhow::Result<Exit> {
    let (plan, _) = read(file)?;
    let missing = lab::missing(&plan)?;
    let mut text = String::new();
    for host in &plan.hosts {
        let share = || format!("as lab {}-{host} there", plan.name);
        let is = match plan.outside.get(host) {
            Some(Outside { seat: HostSeat::Ssh(place), address }) => {
                format!("{address}, over ssh to {place}, {}", share())
            }
            Some(Outside { seat: HostSeat::Fleet(place), address }) => {
                format!("{address}, agent {place}, {}", share())
            }
            Some(Outside { seat: HostSeat::Here, address }) => format!("{address}, this machine"),
            None => format!("network namespace sysdyno-{}-{host}", plan.name),
        };
        let _ = writeln!(text, "host     {host}: {is}");
    }
    for link in &plan.links {
        let end = |end: &lab::End| {
            let address =
                end.address.map_or(String::new(), |found| format!(" {}/{}", found.ip, found.prefix_bits));
            format!("{} {}{address}", end.host, end.interface)
        };
        let held = link.relay.map_or(String::new(), |relay| format!(", {}", told(&relay)));
        let _ = writeln!(text, "link     {} -- {}{held}", end(&link.ends[0]), end(&link.ends[1]));
    }
    for service in &plan.services {
        let _ = writeln!(text, "service  {}: {} on {}", service.name, service.recipe, service.host);
    }
    for package in &missing.packages {
        let _ = writeln!(text, "install  {package}");
    }
    for set in labs.missing_jars(&plan)? {
        let _ = writeln!(text, "fetch    {}: {} jars", set.name, set.count);
    }
    ui.print(&text);
    Ok(Exit::Done)
}

fn status(labs: &Labs, lab: Option<&str>, is_json: bool, ui: &Ui) -> anyhow::Result<Exit> {
    let names = match lab {
        Some(typed) => vec![name_of(typed)?],
        None => labs.names()?,
    };
    let found = names.iter().map(|name| labs.status(name)).collect::<Result<Vec<_>, _>>()?;
    if is_json {
        ui.print_json(&serde_json::json!({ "labs": found }))?;
    } else if found.is_empty() {
        ui.print("no labs");
    } else {
        ui.print(&found.iter().map(shown).collect::<Vec<_>>().join("\n"));
    }
    let is_well = |lab: &LabStatus| {
        let has_relays =
            lab.links.iter().filter_map(|link| link.relay.as_ref()).all(|relay| relay.pid.is_some());
        lab.is_up && has_relays && lab.services.iter().all(|service| service.is_healthy)
    };
    Ok(if found.iter().all(is_well) { Exit::Done } else { Exit::CheckFailed })
}

fn state(lab: &LabStatus) -> &'static str {
    match (lab.is_of_this_boot, lab.is_up) {
        (false, _) => "gone since the last boot; `sysdyno lab down` removes its files",
        (true, true) => "up",
        (true, false) => "incomplete; `sysdyno lab down` removes the rest",
    }
}

/// The labs of this host as `serve` shows them; those that cannot be read are left out.
pub fn served() -> Vec<ServedLab> {
    let Ok(labs) = labs(None, &LabHostOptions::default()) else { return Vec::new() };
    let names = labs.names().unwrap_or_default();
    let service = |service: ServiceStatus| ServedService {
        name: service.name,
        host: service.host,
        recipe: service.recipe,
        cause: service.cause,
    };
    let lab = |lab: LabStatus| ServedLab {
        state: state(&lab).to_owned(),
        name: lab.name,
        hosts: lab.hosts.into_iter().map(|host| host.name).collect(),
        services: lab.services.into_iter().map(service).collect(),
    };
    names.iter().filter_map(|name| labs.status(name).ok()).map(lab).collect()
}

fn shown(lab: &LabStatus) -> String {
    let mut text = format!("{}: {}\n", lab.name, state(lab));
    for host in &lab.hosts {
        let missing = if host.is_there { "" } else { "  (missing)" };
        let place = match (&host.ssh, &host.fleet) {
            (Some(place), _) => format!("ssh {}", place.trim_start_matches("ssh://")),
            (None, Some(place)) => place.clone(),
            _ if host.is_here => format!("here, also as netns {}", host.namespace),
            _ => format!("netns {}", host.namespace),
        };
        let _ =
            writeln!(text, "  host     {:<12} {place}  {}{missing}", host.name, host.addresses.join(", "));
    }
    for link in &lab.links {
        let [one, other] = &link.ends;
        let Some(relay) = &link.relay else { continue };
        let _ = writeln!(text, "  link     {one} -- {other}: {}", told(&relay.relay));
        for (from, counts) in link.ends.iter().zip(&relay.from_ends) {
            let Forwarded { forwarded_count, lost_count, overflowed_count } = counts;
            let _ = writeln!(
                text,
                "from {from}: {forwarded_count} frames forwarded, {lost_count} lost, {overflowed_count} \
                 dropped (queue full)"
            );
        }
        if let Some(cause) = &relay.cause {
            let _ = writeln!(text, "           no traffic passes: {}", escape::terminal(cause, 200));
        }
    }
    for service in &lab.services {
        let pid = service.pid.map_or("-".to_owned(), |pid| pid.to_string());
        let cause =
            service.cause.as_deref().map_or("healthy".to_owned(), |cause| escape::terminal(cause, 200));
        let endpoint = service.endpoint.as_deref().map_or(String::new(), |endpoint| format!(", {endpoint}"));
        let _ = writeln!(
            text,
            "  service  {:<12} {} on {}{endpoint}, pid {pid}: {cause}",
            service.name, service.recipe, service.host
        );
        for symptom in &service.symptoms {
            let _ = writeln!(text, "           warning: {}", escape::terminal(symptom, 400));
        }
        if let Some(metrics) = &service.metrics {
            let _ = writeln!(text, "           metrics {metrics}");
        }
        let values = service.values.iter().filter_map(|known| Some((known, known.value?)));
        let values: Vec<String> = values
            .map(|(known, value)| match known.name == known.unit {
                true => format!("{value} {}", known.unit),
                false => format!("{}: {value} {}", known.name, known.unit),
            })
            .collect();
        if !values.is_empty() {
            let _ = writeln!(text, "           {}", values.join(", "));
        }
    }
    text
}

/// What a relay does to frames.
fn told(relay: &Relay) -> String {
    let delay = (relay.delay_ns.0 > 0).then(|| format!("delay {}", relay.delay_ns));
    let loss = (relay.loss_ppm > 0).then(|| format!("loss {}%", f64::from(relay.loss_ppm) / 10_000.0));
    [delay, loss].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn logs(labs: &Labs, lab: &str, service: Option<&str>, ui: &Ui) -> anyhow::Result<Exit> {
    let found = labs.logs(lab, service, MAX_LOG_BYTES)?;
    for log in &found {
        for line in log.text.lines() {
            let line = escape::terminal(line, MAX_LINE);
            let is_read = match found.len() {
                1 => ui.try_print(&line),
                _ => ui.try_print(&format!("{}: {line}", log.service)),
            };
            if !is_read {
                return Ok(Exit::Done);
            }
        }
    }
    Ok(Exit::Done)
}

fn down(labs: &Labs, lab: Option<&str>, all: bool, ui: &Ui) -> anyhow::Result<Exit> {
    let names = match lab {
        Some(typed) => vec![name_of(typed)?],
        None => labs.names()?,
    };
    ensure!(all || !names.is_empty(), "cannot tear down a lab: none given\nhint: name it, or use --all");
    for name in names {
        // Taking one away may have taken another one away that was its share on this machine.
        if all && !labs.names()?.contains(&name) {
            continue;
        }
        let notes = labs.down(&name, &mut |line| ui.note(line))?;
        notes.iter().for_each(|note| ui.note(&format!("warning: {note}")));
        ui.note(&format!("{name}: removed"));
    }
    Ok(Exit::Done)
}

fn described(recipe: &Recipe) -> String {
    let mut text = format!("{}: {}\n", recipe.name, recipe.does);
    for (distribution, packages) in &recipe.packages {
        let _ = writeln!(text, "  packages of {distribution}: {}", packages.join(" "));
    }
    for (name, parameter) in &recipe.parameters {
        let _ = writeln!(text, "  {name}: {}; {}", parameter.does, parameter.takes());
        if let Some(default) = &parameter.default {
            let _ = writeln!(text, "    default {default}");
        }
    }
    for metric in &recipe.metric {
        let _ = writeln!(text, "  metric {}: {}, in {}", metric.name, metric.does, metric.unit);
    }
    for tunable in &recipe.tunables {
        let _ = writeln!(text, "  tunable {}: {}", tunable.key, tunable.does);
    }
    text
}

fn keep() -> anyhow::Result<Exit> {
    // Only a name and a terminal are lost if these fail.
    let _ = rustix::thread::set_name(KEEPER);
    let _ = rustix::process::setsid();
    let (stop, stopped) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        pipe::register(signal, stopped.try_clone()?)?;
    }
    let (child, ended) = UnixStream::pair()?;
    pipe::register(SIGCHLD, ended)?;
    let signs = KeeperSigns { stop: stop.as_fd(), child: child.as_fd() };
    lab::keep(std::io::stdin().lock(), &mut std::io::stdout(), signs).map_err(|error| anyhow!("{error}"))?;
    Ok(Exit::Done)
}
