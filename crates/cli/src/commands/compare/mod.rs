//! `sysdyno compare`: runs side by side, or in the order of time.

use crate::args::{CompareArgs, FailIfWord};
use crate::commands::record::is_living;
use crate::commands::runs::indexed;
use crate::commands::show;
use crate::exit::Exit;
use crate::settings::SettingsFile;
use crate::ui::Ui;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use sysdyno_analyze::analyze;
use sysdyno_analyze::compare::{
    COMPARABILITY, COMPARED_METRICS, CompareOptions, RunProfile, SIDES_MAX, Side, TREND_RUNS_MAX, compare,
    over_time,
};
use sysdyno_index::{IndexedRun, RunQuery};
use sysdyno_plan::options::Combine;
use sysdyno_record::comparison::{RunsComparison, SideVerdict};
use sysdyno_record::effect::Comparison;
use sysdyno_record::profile::Profile;
use sysdyno_record::store::{Run, list};
use sysdyno_report::{compare as text, escape, html};

/// Most runs that are opened in one comparison.
const RUNS_MAX: usize = 400;

pub fn compare_runs(args: CompareArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let folder = args.record.clone().or(SettingsFile::read()?.record).folder()?;
    let options = options(&args)?;
    let mut profiles = None;
    let comparison = if args.trend {
        let runs = match args.runs.as_slice() {
            [] => read_newest(&folder, ui)?,
            words => read_all(words, &folder, ui)?,
        };
        if runs.len() > TREND_RUNS_MAX {
            ui.note(&format!("note: only the newest {TREND_RUNS_MAX} runs are used"));
        }
        over_time(runs, &options)
    } else {
        let sides = sides(&args, &folder, ui)?;
        profiles = self::profiles(&sides);
        compare(sides, &options)
    };
    let page = if args.no_report {
        None
    } else {
        Some(args.report.clone().unwrap_or_else(|| page(&comparison, &folder)))
    };
    let screen = text::render(&comparison, page.as_deref(), &ui.style());
    if let Some(path) = &page {
        std::fs::write(path, html::render_comparison(&comparison, profiles.as_ref().map(|[a, b]| [a, b])))
            .with_context(|| format!("cannot write report '{}'", path.display()))?;
    }
    if args.json {
        ui.print_json(&comparison)?;
    } else {
        ui.print(&screen);
    }
    Ok(exit(&comparison, args.fail_if))
}

/// What was asked for, if there is such a thing.
fn options(args: &CompareArgs) -> anyhow::Result<CompareOptions> {
    let metrics: Vec<&str> = COMPARED_METRICS.iter().map(|metric| metric.name).collect();
    for metric in &args.metrics {
        if !metrics.contains(&metric.as_str()) {
            bail!(
                "cannot compare '{}': not a metric\nhint: use one of {}",
                shown(metric),
                metrics.join(", ")
            );
        }
    }
    Ok(CompareOptions {
        margin_ratio: args.effect.map(|effect| effect.0),
        metrics: args.metrics.clone(),
        allowed: allowed(&args.allowed)?,
        workload: args.workload.0,
    })
}

/// Gates that the user allows, if they are gates that can be allowed.
pub fn allowed(names: &[String]) -> anyhow::Result<Vec<String>> {
    for name in names {
        match COMPARABILITY.iter().find(|gate| gate.id == name || gate.name == name) {
            Some(gate) if gate.can_be_allowed => {}
            Some(gate) => bail!(
                "cannot allow '{}': these numbers are not the server's\nhint: {}",
                gate.name,
                gate.remedy
            ),
            None => bail!(
                "cannot allow '{}': not a gate\nhint: docs/reference/compare.md lists all gates",
                shown(name)
            ),
        }
    }
    Ok(names.to_vec())
}

fn shown(text: &str) -> String {
    escape::terminal(text, 40)
}

/// The sides that were typed: two groups around `--`, or one for each word.
fn sides(args: &CompareArgs, folder: &Path, ui: &Ui) -> anyhow::Result<Vec<Side>> {
    let groups: Vec<Vec<PathBuf>> = if args.candidates.is_empty() {
        args.runs.iter().map(|word| vec![word.clone()]).collect()
    } else {
        vec![args.runs.clone(), args.candidates.clone()]
    };
    match groups.len() {
        0 | 1 => bail!("cannot compare a single run\nhint: sysdyno compare OLD NEW"),
        count if count > SIDES_MAX => bail!("cannot compare more than {SIDES_MAX} sides at once"),
        _ => {}
    }
    let side = |words: &Vec<PathBuf>| {
        let names: Vec<String> = words.iter().map(|word| word.display().to_string()).collect();
        let runs = read_all(words, folder, ui)?;
        anyhow::Ok(Side { name: names.join(" "), runs, blocks: Vec::new() })
    };
    let sides: Vec<Side> = groups.iter().map(side).collect::<anyhow::Result<_>>()?;
    let mut ids: Vec<&str> = sides.iter().flat_map(|side| &side.runs).map(|run| run.id.as_str()).collect();
    ids.sort_unstable();
    if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("cannot compare run '{}' with itself", shown(twice[0]));
    }
    Ok(sides)
}

/// The runs that these words mean, a folder of runs for each of them.
fn read_all(words: &[PathBuf], folder: &Path, ui: &Ui) -> anyhow::Result<Vec<RunProfile>> {
    let mut paths = Vec::new();
    for word in words {
        paths.extend(meant(word, folder)?);
    }
    if paths.len() > RUNS_MAX {
        bail!("cannot compare {} runs at once: the maximum is {RUNS_MAX}", paths.len());
    }
    paths.iter().map(|path| read(path, ui)).collect()
}

/// The newest runs of a folder that can be looked at in the order of time, one more than are used if there are more.
fn read_newest(folder: &Path, ui: &Ui) -> anyhow::Result<Vec<RunProfile>> {
    let query = RunQuery { limit: Some(RUNS_MAX), ..RunQuery::default() };
    let found = indexed(folder, ui)?.find(&query)?;
    let has_verdict = |run: &&IndexedRun| run.answer.as_ref().is_some_and(|answer| answer.verdict.is_some());
    let ended = found.runs.iter().filter(has_verdict).take(TREND_RUNS_MAX + 1);
    let paths: Vec<PathBuf> = ended.map(|run| folder.join(&run.name)).collect();
    if paths.is_empty() {
        bail!("cannot compare '{}': it is not a run and contains none", folder.display());
    }
    paths.iter().map(|path| read(path, ui)).collect()
}

fn meant(word: &Path, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !word.is_dir() {
        return Ok(vec![show::find(Some(word), folder)?]);
    }
    if word.join("manifest.json").exists() {
        return Ok(vec![word.to_owned()]);
    }
    let runs: Vec<PathBuf> =
        list(word)?.into_iter().filter(|run| run.manifest.is_ok()).map(|run| run.path).collect();
    if runs.is_empty() {
        bail!("cannot compare '{}': it is not a run and contains none", word.display());
    }
    Ok(runs)
}

/// What a comparison needs of a run; the rest of it is forgotten. Damage is noted.
pub fn read(path: &Path, ui: &Ui) -> anyhow::Result<RunProfile> {
    let run = Run::open(path, &is_living)?;
    run.damage.iter().for_each(|damage| ui.note(&format!("warning: {}: {damage}", path.display())));
    profile(&run)
}

/// What a comparison needs of a run that is open.
pub fn profile(run: &Run) -> anyhow::Result<RunProfile> {
    let path = run.path();
    if run.plan.is_none() {
        bail!("cannot compare '{}': it has no plan", path.display());
    }
    let analysis = run.analysis.clone().unwrap_or_else(|| analyze(&run.view()));
    let profile = RunProfile::new(&run.manifest, run.is_incomplete, &run.view(), analysis);
    let mut profile = profile.with_context(|| {
        format!("cannot compare '{}': it is an experiment, or no trial was completed", path.display())
    })?;
    profile.stacks = run.profile.clone();
    Ok(profile)
}

/// The call stacks of two runs that are held against each other; `None`: there are more of them, or one was not profiled.
pub fn profiles(sides: &[Side]) -> Option<[Profile; 2]> {
    let [a, b] = sides else { return None };
    let ([a], [b]) = (a.runs.as_slice(), b.runs.as_slice()) else { return None };
    Some([a.stacks.clone()?, b.stacks.clone()?])
}

/// Where the page is written unless a place was named.
fn page(comparison: &RunsComparison, folder: &Path) -> PathBuf {
    // An id is what a manifest says it is: it must not lead anywhere else.
    let plain = |id: &str| -> String {
        id.chars().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-').take(60).collect()
    };
    let ids = comparison.sides.iter().filter_map(|side| side.runs.first()).map(|run| plain(&run.id));
    let ids: Vec<String> = ids.take(2).collect();
    let kind = if comparison.trend.is_some() { "trend" } else { "compare" };
    folder.join(format!("{kind}-{}.html", ids.join("-")))
}

/// Numbers that may not be compared pass no check and fail none.
fn exit(comparison: &RunsComparison, fail_if: Option<FailIfWord>) -> Exit {
    if comparison.is_refused {
        return Exit::Untrusted;
    }
    let is_worse = |verdict: &SideVerdict| !verdict.worse.is_empty();
    let is_better = |verdict: &SideVerdict| !verdict.better.is_empty();
    let changes = comparison.trend.iter().flat_map(|trend| &trend.metrics).flat_map(|metric| &metric.changes);
    let has_change = |word: Comparison| changes.clone().any(|change| change.verdict.word == word);
    let verdicts = &comparison.verdicts;
    let worse = verdicts.iter().any(is_worse) || has_change(Comparison::Worse);
    let better = verdicts.iter().any(is_better) || has_change(Comparison::Better);
    match fail_if {
        Some(FailIfWord::Worse) if worse => Exit::CheckFailed,
        Some(FailIfWord::Different) if worse || better => Exit::CheckFailed,
        _ => Exit::Done,
    }
}
