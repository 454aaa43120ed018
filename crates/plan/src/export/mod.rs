//! An experiment as a folder that runs on another machine: its file, its lab, and every file that these name.
//!
//! Files are named by paths that mean nothing elsewhere, so each gets a place below `files/`, and the texts that name it are
//! changed. A text keeps its comments: it is changed word by word, and written anew only where that would say something else.
//! What commands call, and the settings and services of a lab, have to be on the other machine. Keys of certificates stay here.

mod carrier;

use crate::experiment::ExperimentDraft;
use crate::file;
use crate::host::PlanHost;
use anyhow::Context;
use carrier::FileCarrier;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use sysdyno_record::command::CommandSpec;
use sysdyno_record::experiment::ExperimentPlan;
use sysdyno_record::plan::Plan;
use sysdyno_record::work::WorkKind;

/// Name of the experiment's file in its folder.
const FILE: &str = "experiment.toml";
/// Name of its lab's file.
const LAB: &str = "lab.toml";

/// An experiment to carry elsewhere.
#[derive(Clone, Debug)]
pub struct ExperimentExport {
    /// Its name.
    pub name: String,
    /// What its folder holds, by path.
    pub files: Vec<ExportedFile>,
    /// What the user should know of it, in sentences.
    pub notes: Vec<String>,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    /// Below the folder.
    pub path: String,
    /// What it holds.
    pub content: ExportedContent,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportedContent {
    /// This text.
    Text(String),
    /// What this file or folder holds.
    Copy(PathBuf),
}

impl ExperimentDraft {
    /// What this experiment needs elsewhere; `version` is that of the program.
    ///
    /// # Errors
    /// Whatever is wrong with the file, or with those that it names.
    pub fn export(&self, version: &str, here: &dyn PlanHost) -> anyhow::Result<ExperimentExport> {
        let plan = self.finish(here)?.plan;
        let path = self.file.as_path();
        let cannot = || format!("cannot export experiment '{}'", path.display());
        let text = file::read(path).with_context(cannot)?;
        let (mut files, notes) = carried(&text, path, &plan, version).with_context(cannot)?;
        files.push(ExportedFile {
            path: "README.md".into(),
            content: ExportedContent::Text(readme(&plan, version)),
        });
        Ok(ExperimentExport { name: plan.name, files, notes })
    }
}

fn carried(
    text: &str,
    path: &Path,
    plan: &ExperimentPlan,
    version: &str,
) -> anyhow::Result<(Vec<ExportedFile>, Vec<String>)> {
    let mut table: toml::Table = text.parse()?;
    let beside = path.parent().unwrap_or(Path::new(""));
    let mut carrier = FileCarrier::default();
    let mut lab = None;
    if let Some(toml::Value::String(name)) = table.get_mut("lab") {
        let place = beside.join(name.as_str());
        carrier.rename(name, LAB);
        *name = LAB.into();
        lab = Some(lab_text(&place, &mut carrier)?);
    }
    carrier.take_table(&mut table, beside)?;
    let head = match table.contains_key("seed") {
        true => format!("# Exported by sysdyno {version}.\n"),
        // The same order and the same loads on every machine.
        false => format!("# Exported by sysdyno {version}, which drew the seed.\nseed = {}\n", plan.seed),
    };
    let body = carrier.changed(text, &table)?;
    let mut files = vec![ExportedFile { path: FILE.into(), content: ExportedContent::Text(head + &body) }];
    files.extend(lab.map(|text| ExportedFile { path: LAB.into(), content: ExportedContent::Text(text) }));
    let mut notes = carrier.notes.clone();
    notes.extend(commands_note(plan));
    files.extend(carrier.into_files());
    Ok((files, notes))
}

fn lab_text(place: &Path, carrier: &mut FileCarrier) -> anyhow::Result<String> {
    let cannot = || format!("cannot read lab '{}'", place.display());
    let text = file::read(place).with_context(cannot)?;
    let mut table: toml::Table = text.parse().with_context(cannot)?;
    carrier.take_lab(&mut table, place.parent().unwrap_or(Path::new("")))?;
    carrier.changed(&text, &table)
}

/// Programs that have to be there, since commands call them.
fn commands_note(plan: &ExperimentPlan) -> Option<String> {
    let mut programs = BTreeSet::new();
    for variant in &plan.variants {
        let mut specs: Vec<&CommandSpec> = variant.prepare.iter().chain(&variant.during).collect();
        if let Plan::Work(work) = &variant.plan
            && let WorkKind::Command(command) = &work.kind
        {
            let round = command.round();
            specs.extend(
                round.flat_map(|one| [Some(&one.run), one.prepare.as_ref(), one.clean.as_ref()]).flatten(),
            );
        }
        let named = specs.into_iter().filter_map(|spec| spec.text.split_whitespace().next());
        programs.extend(named.filter(|word| !word.starts_with("{{")).map(str::to_owned));
    }
    let programs: Vec<String> = programs.into_iter().collect();
    (!programs.is_empty()).then(|| {
        format!(
            "not exported, because commands call them: {}; the other machine needs them, too",
            programs.join(", ")
        )
    })
}

/// Where the server has to be, if no lab starts it.
fn server_needed(plan: &ExperimentPlan) -> String {
    let first = plan.variants.first().filter(|_| plan.lab.is_none()).map(|variant| &variant.plan);
    let url = match first {
        Some(Plan::Load(load)) => &load.target.url,
        Some(Plan::Run(run)) => &run.load.target.url,
        _ => return String::new(),
    };
    format!(", start the server for {url},")
}

fn readme(plan: &ExperimentPlan, version: &str) -> String {
    let sudo = if plan.lab.is_some() || plan.variants.iter().any(|variant| !variant.settings.is_empty()) {
        "sudo "
    } else {
        ""
    };
    let server = server_needed(plan);
    format!(
        "# Experiment {name}\n\nTo run it on another machine, copy this folder there{server} and type, in it, with sysdyno {version}:\n\n\
         ```\n{sudo}sysdyno experiment run {FILE} --folder results\n```\n\nThen copy the folder back, and compare the machines: \
         `sysdyno experiment import FOLDER FOLDER`\n",
        name = plan.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::IDLE;

    fn exported(folder: &Path, text: &str) -> ExperimentExport {
        let path = folder.join("x.toml");
        std::fs::write(&path, text).expect("writes");
        let draft = ExperimentDraft { file: path, is_quick: false };
        draft.export("9.9.9", &IDLE).unwrap_or_else(|error| panic!("{error:#}"))
    }

    fn text<'a>(export: &'a ExperimentExport, path: &str) -> &'a str {
        match export.files.iter().find(|file| file.path == path).map(|file| &file.content) {
            Some(ExportedContent::Text(text)) => text,
            other => panic!("{path}: {other:?}"),
        }
    }

    #[test]
    fn files_that_are_named_are_carried_and_named_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in [("body.txt", "id={{csv:users.csv:id}}"), ("users.csv", "id\n7\n")] {
            std::fs::write(folder.path().join(name), content).expect("writes");
        }
        let at = |name: &str| folder.path().join(name).display().to_string();
        let (body, users) = (at("body.txt"), at("users.csv"));
        std::fs::write(&body, format!("id={{{{csv:{users}:id}}}}")).expect("writes");
        let file = format!(
            "# A comment.\nname = 'm'\nurl = 'http://127.0.0.1:9/?a={{{{csv-random:{users}:id|url}}}}'\n\
             [load]\nduration = '5s' # kept\n[target]\nmethod = 'POST'\nbody-file = \"{body}\"\n\
             [[variant]]\nname = 'a'\nprepare = ['sync -f /tmp']\n[[variant]]\nname = 'b'\n"
        );
        let export = exported(folder.path(), &file);
        let changed = text(&export, FILE);
        let expected = "# Exported by sysdyno 9.9.9, which drew the seed.\nseed = 7\n# A comment.\nname = 'm'\n\
             url = 'http://127.0.0.1:9/?a={{csv-random:files/users.csv:id|url}}'\n\
             [load]\nduration = '5s' # kept\n[target]\nmethod = 'POST'\nbody-file = \"files/body.txt\"\n\
             [[variant]]\nname = 'a'\nprepare = ['sync -f /tmp']\n[[variant]]\nname = 'b'\n";
        assert_eq!(changed, expected);
        assert_eq!(text(&export, "files/body.txt"), "id={{csv:files/users.csv:id}}");
        let copied: Vec<&ExportedContent> = export
            .files
            .iter()
            .filter(|file| file.path == "files/users.csv")
            .map(|file| &file.content)
            .collect();
        assert_eq!(copied, [&ExportedContent::Copy(users.into())]);
        assert!(
            text(&export, "README.md")
                .contains("\nsysdyno experiment run experiment.toml --folder results\n")
        );
        assert!(text(&export, "README.md").contains(" there, start the server for http://127.0.0.1:9/?a="));
        assert_eq!(export.notes.len(), 1);
        assert!(export.notes[0].contains("call them: sync;"), "{:?}", export.notes);
    }

    #[test]
    fn a_seed_that_is_there_stays_and_an_error_names_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = "name = 'm'\nseed = 3\nurl = 'http://127.0.0.1:9/'\n[load]\n[[variant]]\nname = 'a'\n[[variant]]\nname = 'b'\n";
        let export = exported(folder.path(), file);
        assert_eq!(text(&export, FILE), format!("# Exported by sysdyno 9.9.9.\n{file}"));
        let draft = ExperimentDraft { file: folder.path().join("none.toml"), is_quick: false };
        let error = draft.export("9.9.9", &IDLE).expect_err("is not there").to_string();
        assert!(error.starts_with("cannot read experiment"), "{error}");
    }
}
