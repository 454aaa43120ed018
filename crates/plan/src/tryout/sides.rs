//! A and B, as typed or as defined in a file.

use super::{TimedCommand, TryDraft};
use crate::change::settings;
use crate::command::command;
use crate::file;
use crate::options::{Combine, SideTable, TargetOptions, TryFile, TryOptions};
use anyhow::{Context, bail, ensure};
use std::path::Path;
use sysdyno_analyze::tryout::variants_of;
use sysdyno_record::change::SettingChange;
use sysdyno_record::tryout::{Action, Variant};
use sysdyno_record::work::CommandWork;

/// Most changes that are tried one by one and together.
const CHANGES_MAX: usize = 6;

/// What is compared, before anything else is known.
pub(super) struct Sides {
    /// The server under load; `None`: commands are compared.
    pub url: Option<String>,
    /// The command that is timed under all of them; `None`: there is a server, or each has a command of its own.
    pub command: Option<Box<CommandWork>>,
    /// A, B, and what else there is.
    pub variants: Vec<Variant>,
    /// How it goes.
    pub options: TryOptions,
    /// The request and its response.
    pub target: TargetOptions,
    /// Whether A is B.
    pub is_calibration: bool,
}

/// What was typed.
pub(super) fn of_arguments(draft: &TryDraft) -> anyhow::Result<Sides> {
    let (options, target) = (draft.options.clone(), draft.target.clone());
    let is_calibration = options.calibrate == Some(true);
    let variant = |name: &str, action| Variant { name: name.into(), action };
    let timed = draft.command.as_ref().map(|timed| timed_command(timed, draft.has_shell)).transpose()?;
    let sides = |url, variants| Sides { url, command: timed, variants, options, target, is_calibration };
    if draft.command.is_some() {
        ensure!(draft.servers.is_empty(), "cannot load a server and time a command at the same time");
        return match draft.changes.as_slice() {
            [] if is_calibration => Ok(sides(None, as_it_is_twice())),
            [] => bail!("cannot try nothing: give a change, or --calibrate"),
            _ if is_calibration => bail!("cannot combine --calibrate with a change"),
            changes => Ok(sides(None, variants_of(&few(settings(changes, "")?)?))),
        };
    }
    if let Some([a, b]) = &draft.commands {
        let b = if is_calibration { a } else { b };
        let variants = vec![
            variant("A", Action::Command(command(a, draft.has_shell)?)),
            variant("B", Action::Command(command(b, draft.has_shell)?)),
        ];
        return Ok(sides(None, variants));
    }
    match (draft.servers.as_slice(), draft.changes.as_slice()) {
        ([], _) => bail!(
            "cannot try anything: no server to load\nhint: give its URL after '--', such as sysdyno try \
             'net.core.somaxconn=4096' -- http://127.0.0.1/\nhint: or give a command to time by --command"
        ),
        ([url], []) if is_calibration => Ok(sides(Some(url.clone()), as_it_is_twice())),
        ([_], []) => bail!("cannot try nothing: give a change, a second URL, or --calibrate"),
        ([_], _) | ([_, _], _) if is_calibration => {
            bail!("cannot combine --calibrate with a change")
        }
        ([url], changes) => Ok(sides(Some(url.clone()), variants_of(&few(settings(changes, url)?)?))),
        ([a, b], []) => {
            let url = |url: &str| SideTable { url: Some(url.into()), ..SideTable::default() };
            let variants = vec![variant("A", action(&url(a), a)?), variant("B", action(&url(b), a)?)];
            Ok(sides(Some(a.clone()), variants))
        }
        _ => bail!("cannot compare two servers and change a setting at the same time"),
    }
}

/// The same twice, for a comparison of the host with itself.
fn as_it_is_twice() -> Vec<Variant> {
    ["A", "B"].map(|name| Variant { name: name.into(), action: Action::AsItIs }).into()
}

/// Changes, if they are not too many.
fn few(changes: Vec<SettingChange>) -> anyhow::Result<Vec<SettingChange>> {
    let count = changes.len();
    ensure!(count <= CHANGES_MAX, "cannot try {count} changes: the maximum is {CHANGES_MAX}");
    Ok(changes)
}

/// A command as it is recorded.
fn timed_command(timed: &TimedCommand, has_shell: bool) -> anyhow::Result<Box<CommandWork>> {
    let spec = |text: &String| command(text, has_shell);
    Ok(Box::new(CommandWork {
        name: None,
        run: spec(&timed.run)?,
        prepare: timed.prepare.as_ref().map(spec).transpose()?,
        clean: timed.clean.as_ref().map(spec).transpose()?,
        expect_output: Vec::new(),
        reject_output: Vec::new(),
        then: Vec::new(),
    }))
}

/// The contents of a file; typed options override its options.
pub(super) fn of_file(path: &Path, draft: &TryDraft) -> anyhow::Result<Sides> {
    let (options, target) = (draft.options.clone(), draft.target.clone());
    let cannot = || format!("cannot read experiment '{}'", path.display());
    let text = file::read(path).with_context(cannot)?;
    let file: TryFile = toml::from_str(&text).with_context(cannot)?;
    file.target.check_no_fence().with_context(cannot)?;
    let url = file.url.clone().or_else(|| file.a.url.clone());
    let base = url.clone().unwrap_or_default();
    let variant = |name: &str, side: &SideTable| {
        Ok::<Variant, anyhow::Error>(Variant {
            name: name.into(),
            action: action(side, &base).with_context(cannot)?,
        })
    };
    let variants = vec![variant("A", &file.a)?, variant("B", &file.b)?];
    let is_command = |variant: &&Variant| matches!(variant.action, Action::Command(_));
    ensure!(
        file.command.is_some() || file.prepare.is_none() && file.clean.is_none(),
        "{}: 'prepare' and 'clean' are for 'command', which is missing",
        cannot()
    );
    let timed = file.command.as_ref().map(|run| {
        let (prepare, clean) = (file.prepare.clone(), file.clean.clone());
        timed_command(&TimedCommand { run: run.clone(), prepare, clean }, draft.has_shell)
    });
    let timed = timed.transpose().with_context(cannot)?;
    match variants.iter().filter(is_command).count() {
        0 if timed.is_some() => {
            let is_setting = |one: &Variant| matches!(one.action, Action::AsItIs | Action::Settings(_));
            ensure!(
                url.is_none() && variants.iter().all(is_setting),
                "{}: a command is timed under settings, without a url",
                cannot()
            );
        }
        _ if timed.is_some() => bail!("{}: it has a command for both sides and one of a side", cannot()),
        0 => ensure!(url.is_some(), "{}: it has no url to load", cannot()),
        1 => bail!("{}: a command can only be compared with a command", cannot()),
        _ => {}
    }
    let options = options.or(file.options);
    ensure!(
        options.calibrate == Some(true) || variants[0].action != variants[1].action,
        "{}: A and B are the same\nhint: --calibrate compares the host with itself",
        cannot()
    );
    let is_calibration = options.calibrate == Some(true);
    let commands = variants.iter().any(|variant| is_command(&variant));
    Ok(Sides {
        url: url.filter(|_| !commands),
        command: timed,
        variants,
        options,
        target: target.or(file.target),
        is_calibration,
    })
}

/// What one side does, of which it may say one thing.
fn action(side: &SideTable, url: &str) -> anyhow::Result<Action> {
    let given = usize::from(!side.settings.is_empty())
        + [&side.command, &side.prepare, &side.url].into_iter().flatten().count();
    ensure!(given <= 1, "a side has one of settings, command, prepare, or url");
    if !side.settings.is_empty() {
        return Ok(Action::Settings(settings(&side.settings, url)?));
    }
    if let Some(text) = &side.command {
        return Ok(Action::Command(command(text, false)?));
    }
    if let Some(text) = &side.prepare {
        return Ok(Action::Prepare(command(text, false)?));
    }
    match &side.url {
        Some(url) => Ok(Action::Target(Box::new(sysdyno_load::target::resolve(url)?))),
        None => Ok(Action::AsItIs),
    }
}
