//! Manual pages, completions, the command reference and the reference of checks and findings, all from the definitions
//! that the program itself works by.

mod compare;

use crate::args::Cli;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::fmt::Write;
use std::path::Path;
use sysdyno_analyze::fail_if::{KINDS, METRICS, STATISTICS};
use sysdyno_analyze::threshold::Threshold;

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

pub fn completions(shell: Shell, ui: &Ui) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "sysdyno", &mut script);
    ui.print(&String::from_utf8(script).context("cannot print completions")?);
    Ok(Exit::Done)
}

pub fn write(folder: &Path) -> anyhow::Result<Exit> {
    let cannot = || format!("cannot write documents to '{}'", folder.display());
    let write = |name: String, bytes: Vec<u8>| std::fs::write(folder.join(name), bytes).with_context(cannot);
    for inner in ["man", "completions"] {
        std::fs::create_dir_all(folder.join(inner)).with_context(cannot)?;
    }
    let mut root = Cli::command();
    root.build();
    let root = without_environment(root);
    for shell in SHELLS {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut root.clone(), "sysdyno", &mut script);
        write(format!("completions/sysdyno.{shell}"), script)?;
    }
    write("man/sysdyno.1".into(), manual(&root)?)?;
    for (name, command) in named(&root) {
        let page = name.replace(' ', "-");
        write(format!("man/{page}.1"), manual(&command.name(page))?)?;
    }
    write("cli.md".into(), reference(&root).into_bytes())?;
    write("checks.md".into(), checks().into_bytes())?;
    write("settings.md".into(), settings().into_bytes())?;
    write("facts.md".into(), facts().into_bytes())?;
    write("compare.md".into(), compare::reference().into_bytes())?;
    Ok(Exit::Done)
}

/// The same commands without the values that variables have just now.
fn without_environment(command: Command) -> Command {
    command.mut_args(|arg| arg.hide_env_values(true)).mut_subcommands(without_environment)
}

fn visible(root: &Command) -> impl Iterator<Item = &Command> {
    root.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

/// All commands that are shown, those of commands included, by what is typed to get at them.
fn named(root: &Command) -> Vec<(String, Command)> {
    let below = |parent: &Command, typed: &str| -> Vec<(String, Command)> {
        let name = |command: &Command| (format!("{typed} {}", command.get_name()), command.clone());
        visible(parent).map(name).collect()
    };
    let first = below(root, root.get_name()).into_iter();
    first
        .flat_map(|(typed, command)| {
            let inner = below(&command, &typed);
            std::iter::once((typed, command)).chain(inner)
        })
        .collect()
}

fn manual(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone().disable_help_subcommand(true)).render(&mut page)?;
    Ok(page)
}

fn reference(root: &Command) -> String {
    let mut text = String::from(
        "# Commands\n\nBuilt from the definitions in `crates/cli/src/args` and `crates/plan/src/options`; do not edit.\n",
    );
    let all = std::iter::once((root.get_name().to_owned(), root.clone())).chain(named(root));
    for (name, command) in all {
        let help = command.bin_name(name.clone()).term_width(100).render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    }
    text
}

const CHECKS_HEADER: &str = "\
# Checks and findings

Built from the definitions in `crates/analyze/src/verdict` and `crates/analyze/src/findings`; do not
edit. A *check* decides if the numbers of a run can be trusted, and makes the verdict; a *finding* names the
bottleneck. Limits without another source are house values, to be revised as recorded runs allow.
";

const FINDINGS_HEADER: &str = "
## Findings

A finding is *likely* if the counter of its mechanism moved, an independent signal agrees, and it explains what users
noticed: failed requests first, then responses that missed the objective or became slow. A mechanism that cannot explain that,
or was seen only a few times, is at most *possible*. Counters never make it *confirmed*: only an experiment with the remedy can.
";

/// The reference of checks and findings.
fn checks() -> String {
    let mut text = format!("{CHECKS_HEADER}\n## Checks of the verdict\n");
    for check in sysdyno_analyze::verdict::CHECKS {
        let _ = write!(text, "\n### {} {}\n\n{}\n", check.id, check.name, sentence(check.meaning));
        text.push_str(&thresholds(check.thresholds));
        let _ = writeln!(text, "\nWhat to do: {}", sentence(check.remedy));
    }
    text.push_str(FINDINGS_HEADER);
    text.push_str(&thresholds(sysdyno_analyze::findings::OF_ALL));
    let beds = sysdyno_plan::fault::beds().unwrap_or_default();
    let faults: Vec<_> = beds.iter().flat_map(|bed| &bed.faults).collect();
    for rule in sysdyno_analyze::findings::RULES {
        let _ = write!(text, "\n### {} {}\n\n{}\n", rule.id, rule.name, sentence(rule.meaning));
        text.push_str(&thresholds(rule.thresholds()));
        let _ = writeln!(text, "\nRemedy: {}", sentence(rule.remedy));
        let _ = writeln!(text, "\nWhat would disprove it: {}", sentence(rule.counterfactual));
        let of_it = faults.iter().filter(|fault| fault.diagnoses.iter().any(|id| id == rule.id));
        let of_it: Vec<String> = of_it.map(|fault| format!("`{}`", fault.name)).collect();
        if !of_it.is_empty() {
            let _ = writeln!(text, "\nPlanted by `sysdyno inject` as {}.", of_it.join(", "));
        }
    }
    text.push_str(&asked());
    text
}

const ASKED_HEADER: &str = "
## Checks with --fail-if

`--fail-if 'METRIC OP LIMIT'` of `load` and `run` (also `SYSDYNO_FAIL_IF`, several separated by commas, and `fail-if` in
`sysdyno.toml`) fails the command if the comparison holds: exit code 1, with which check failed and by how much. `OP` is
`>`, `>=`, `<`, or `<=`; spaces between the parts are allowed. For `run`, the numbers are those of the shown trial: the one at
the highest rate that met the objective. A check that cannot be decided fails and says why: a percentile with too few
samples beyond it, a lower bound (`≥`) on the harmless side of the limit, or a metric that this run does not have. The
measured value decides; if the limit is within its 95% interval, the message says so. An INVALID run ends with exit code 3,
and an interrupted one with 130, whatever its checks say.
";

/// The reference of the checks that a user can ask for.
fn asked() -> String {
    let mut text = ASKED_HEADER.to_owned();
    let names: Vec<String> = STATISTICS.iter().map(|statistic| format!("`{}`", statistic.name)).collect();
    let _ = write!(
        text,
        "\n| metric | meaning | limit |\n|---|---|---|\n| {} | of the response time or, in a closed loop, which has \
         none, of the service time | `20ms` |\n",
        names.join(" ")
    );
    for kind in KINDS {
        let _ = writeln!(
            text,
            "| `{0}.p50` … `{0}.mean` | of the {0} time: {1} | `20ms` |",
            kind.name, kind.meaning
        );
    }
    for metric in METRICS {
        let _ =
            writeln!(text, "| `{}` | {} | `{}` |", metric.name, metric.meaning, metric.dimension.example());
    }
    text.push_str("\nTimes are typed in `ns`, `us`, `ms`, `s` or `min`, shares in `%`, rates as elsewhere (`500/s`, `5k/s`); 0 needs no unit.\n");
    text
}

fn thresholds<'a>(thresholds: impl IntoIterator<Item = &'a Threshold>) -> String {
    let mut text = String::new();
    for limit in thresholds {
        let start = if text.is_empty() { "\n" } else { "" };
        let _ = writeln!(text, "{start}- {limit}");
    }
    text
}

const SETTINGS_HEADER: &str = "\
# Settings

Built from the definitions in `crates/tune/src/tunable`; do not edit. These are the settings
that `sysdyno tune` can change: accepted values, scope, when a change takes effect, and what a wrong value can do. Sources are below `Documentation/` of the kernel's source.
";

/// The reference of settings.
fn settings() -> String {
    let mut text = SETTINGS_HEADER.to_owned();
    for tunable in sysdyno_tune::TUNABLES.iter().copied().flatten() {
        let _ = write!(text, "\n### {}\n\n{}\n\n", tunable.id, tunable.does);
        let _ = writeln!(text, "- takes {} ({})", tunable.kind.describe(), tunable.unit);
        let _ =
            writeln!(text, "- reaches {}; takes effect {}", tunable.scope.words(), tunable.effect.words());
        let _ = writeln!(text, "- risk: {}", tunable.risk.word());
        if let Some(other) = tunable.counterpart {
            let _ = writeln!(text, "- the kernel zeroes `{other}` with it; both are restored together");
        }
        if !tunable.followers.is_empty() {
            let followers = tunable.followers.join("`, `");
            let _ = writeln!(
                text,
                "- the kernel resets these with it, and they are restored with it: `{followers}`"
            );
        }
        let kept = match (tunable.persists_in(), tunable.scope.survives_boot()) {
            (_, true) => "kept as it is".to_owned(),
            (Some(folder), _) => format!("lost; `tune persist` keeps it, below `{folder}`"),
            (None, _) => "lost".to_owned(),
        };
        let _ = writeln!(text, "- after a reboot: {kept}");
        let _ = writeln!(text, "- source: `{}`", tunable.source);
    }
    text
}

const FACTS_HEADER: &str = "\
# Differences between hosts

Built from the definitions in `crates/analyze/src/facts`; do not edit. `sysdyno facts A B`
ranks the differences between two hosts by these rules. A weight says how likely a difference matters for a web server, for
work with many files, and for an in-memory data server: 10 can change results by a factor between similar machines, 0
is not known to matter. The weights are house values. If several rules match a fact, the first one counts; between
equal weights, their order decides. A fact that only one of the hosts has counts half, and two numbers that are
nearly equal have weight 1. Sources named `Documentation/` and `fs/` are in the kernel's source.
";

/// The reference of what is known of facts.
fn facts() -> String {
    use sysdyno_analyze::facts::{FACT_RULES, LEFT_OUT, NEARLY_SAME};
    let mut text = format!("{FACTS_HEADER}{}", thresholds(&[NEARLY_SAME]));
    text.push_str("\n| rule | facts | web | files | memory | what it is, and why it matters | source |\n");
    text.push_str("|---|---|---|---|---|---|---|\n");
    for rule in FACT_RULES.iter().copied().flatten() {
        let (weights, known) = (rule.weights, rule.known);
        let _ = writeln!(
            text,
            "| {} | `{}` | {} | {} | {} | {}: {} | {} |",
            known.rule,
            rule.patterns.join("` `"),
            weights.web,
            weights.files,
            weights.memory,
            known.what,
            known.why,
            known.source
        );
    }
    text.push_str("\n## What is left out\n\nThese vary on a single host, or are reported elsewhere.\n\n");
    text.push_str("| facts | why |\n|---|---|\n");
    for left_out in LEFT_OUT {
        let _ = writeln!(text, "| `{}` | {} |", left_out.pattern, left_out.reason);
    }
    text
}

/// A phrase as a sentence of its own.
fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}
