//! Finds the files that texts name, gives each a place in the folder, and changes the texts.

use super::{ExportedContent, ExportedFile};
use crate::file;
use anyhow::{Context, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use sysdyno_load::workload::values::text::{self, TextPart, Value};

/// Most files of an experiment.
const MAX_FILES: usize = 1000;

/// Options whose value is a file.
const FILE_KEYS: [&str; 3] = ["body-file", "tls-ca", "tls-cert"];
/// The option whose value is a private key.
const KEY_KEY: &str = "tls-key";
/// The option whose value may be a file.
const RAMP_KEY: &str = "ramp";
/// Tables whose values mean something to a lab.
const OF_LAB: [&str; 3] = ["lab", "services", "with"];

/// Files that were found so far.
#[derive(Debug, Default)]
pub(super) struct FileCarrier {
    files: Vec<Carried>,
    /// Words of texts, and what they become.
    renames: Vec<[String; 2]>,
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
struct Carried {
    source: PathBuf,
    file: ExportedFile,
}

impl FileCarrier {
    /// Takes note that texts name this file otherwise.
    pub(super) fn rename(&mut self, old: &str, new: &str) {
        self.renames.push([old.to_owned(), new.to_owned()]);
    }

    pub(super) fn into_files(self) -> impl Iterator<Item = ExportedFile> {
        self.files.into_iter().map(|carried| carried.file)
    }

    /// Takes all files that an experiment names; a lab in it names them from `beside`.
    pub(super) fn take_table(&mut self, table: &mut toml::Table, beside: &Path) -> anyhow::Result<()> {
        if let Some(toml::Value::Table(lab)) = table.get_mut("lab") {
            self.take_lab(lab, beside)?;
        }
        let mut own = table.iter_mut().filter(|(key, _)| !OF_LAB.contains(&key.as_str()));
        own.try_for_each(|(key, value)| self.take_value(key, value))
    }

    /// Takes the sources of a lab's files.
    pub(super) fn take_lab(&mut self, lab: &mut toml::Table, beside: &Path) -> anyhow::Result<()> {
        let services = lab.get_mut("service").and_then(toml::Value::as_array_mut);
        let tables = services.into_iter().flatten().filter_map(toml::Value::as_table_mut);
        let files = tables.filter_map(|service| service.get_mut("files")?.as_array_mut());
        for file in files.flatten().filter_map(toml::Value::as_table_mut) {
            if let Some(toml::Value::String(source)) = file.get_mut("source") {
                *source = self.take(&source.clone(), &beside.join(source.as_str()))?;
            }
        }
        Ok(())
    }

    fn take_value(&mut self, key: &str, value: &mut toml::Value) -> anyhow::Result<()> {
        match value {
            toml::Value::Table(table) => {
                let mut own = table.iter_mut().filter(|(key, _)| !OF_LAB.contains(&key.as_str()));
                own.try_for_each(|(key, value)| self.take_value(key, value))
            }
            toml::Value::Array(values) => values.iter_mut().try_for_each(|value| self.take_value(key, value)),
            toml::Value::String(text) => self.take_text(key, text),
            _ => Ok(()),
        }
    }

    fn take_text(&mut self, key: &str, text: &mut String) -> anyhow::Result<()> {
        let path = PathBuf::from(text.as_str());
        if key == KEY_KEY {
            self.notes.push(format!("not exported, because it is a private key: '{}'", path.display()));
        } else if key == "body-file" && file::read(&path).is_ok_and(|body| !tables_of(&body).is_empty()) {
            *text = self.take_body(text, &path)?;
        } else if FILE_KEYS.contains(&key) || (key == RAMP_KEY && path.is_file()) {
            *text = self.take(&text.clone(), &path)?;
        } else {
            *text = self.take_tables(text)?;
        }
        Ok(())
    }

    /// A body that names tables is a text that changes, too.
    fn take_body(&mut self, typed: &str, path: &Path) -> anyhow::Result<String> {
        let body = file::read(path).with_context(|| format!("cannot read body '{}'", path.display()))?;
        let body = self.take_tables(&body)?;
        let place = self.take(typed, path)?;
        if let Some(carried) = self.files.iter_mut().find(|carried| carried.file.path == place) {
            carried.file.content = ExportedContent::Text(body);
        }
        Ok(place)
    }

    /// Takes the tables that the values of a text come from.
    fn take_tables(&mut self, text: &str) -> anyhow::Result<String> {
        let mut changed = text.to_owned();
        for table in tables_of(text) {
            let place = self.take(&table, Path::new(&table))?;
            changed = renamed_table(&changed, &table, &place);
        }
        Ok(changed)
    }

    /// The place of a file or folder in the folder.
    fn take(&mut self, typed: &str, source: &Path) -> anyhow::Result<String> {
        let place = match self.files.iter().find(|carried| carried.source == source) {
            Some(known) => known.file.path.clone(),
            None => self.add(source)?,
        };
        self.rename(typed, &place);
        Ok(place)
    }

    fn add(&mut self, source: &Path) -> anyhow::Result<String> {
        std::fs::metadata(source).with_context(|| format!("cannot read '{}'", source.display()))?;
        ensure!(self.files.len() < MAX_FILES, "it names more than {MAX_FILES} files");
        let Some(name) = source.file_name().and_then(|name| name.to_str()) else {
            bail!("cannot export '{}': its name is not text", source.display());
        };
        let is_taken = |path: &String| self.files.iter().any(|carried| carried.file.path == *path);
        let numbered = (2..).map(|number| format!("files/{number}-{name}"));
        let mut paths = std::iter::once(format!("files/{name}")).chain(numbered);
        let path = paths.find(|path| !is_taken(path)).expect("there are more numbers than files");
        let content = ExportedContent::Copy(source.to_owned());
        self.files
            .push(Carried { source: source.to_owned(), file: ExportedFile { path: path.clone(), content } });
        Ok(path)
    }

    /// A text that says what `table` says: itself with other names, or else one that is written anew.
    pub(super) fn changed(&self, text: &str, table: &toml::Table) -> anyhow::Result<String> {
        let changed = self.renames.iter().fold(text.to_owned(), |text, [old, new]| {
            let quoted = ['"', '\''].iter().fold(text, |text, quote| {
                text.replace(&format!("{quote}{old}{quote}"), &format!("{quote}{new}{quote}"))
            });
            renamed_table(&quoted, old, new)
        });
        if changed.parse::<toml::Table>().is_ok_and(|found| found == *table) {
            return Ok(changed);
        }
        toml::to_string(table).context("it cannot be written anew")
    }
}

fn renamed_table(text: &str, old: &str, new: &str) -> String {
    ["csv", "csv-random"].iter().fold(text.to_owned(), |text, kind| {
        text.replace(&format!("{{{{{kind}:{old}:"), &format!("{{{{{kind}:{new}:"))
    })
}

/// The files that the values of a text come from; those of a text that has none, or is none, are none.
fn tables_of(text: &str) -> BTreeSet<String> {
    let parts = text::parse(text).unwrap_or_default().into_iter();
    let file = |part| match part {
        TextPart::Value { value: Value::Cell { file, .. }, .. } => Some(file),
        TextPart::Text(_) | TextPart::Value { .. } => None,
    };
    parts.filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{CapacityOptions, LoadOptions, TargetOptions};
    use clap::Args;
    use std::any::TypeId;

    /// Options that take a path, of all that an experiment's file may have.
    fn paths() -> BTreeSet<String> {
        let command = clap::Command::new("x");
        let command = LoadOptions::augment_args(command);
        let command = TargetOptions::augment_args(command);
        let capacity = CapacityOptions::augment_args(clap::Command::new("y"));
        let is_path = |arg: &&clap::Arg| arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        let of = |command: &clap::Command| {
            let named = command.get_arguments().filter(is_path).filter_map(clap::Arg::get_long);
            named.map(str::to_owned).collect::<Vec<String>>()
        };
        of(&command).into_iter().chain(of(&capacity)).collect()
    }

    #[test]
    fn every_option_that_takes_a_path_is_known() {
        let known = FILE_KEYS.iter().chain([&KEY_KEY]).map(|key| (*key).to_owned()).collect();
        assert_eq!(paths(), known);
    }

    #[test]
    fn sources_of_a_lab_are_carried_and_names_do_not_collide() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a", "b"] {
            std::fs::create_dir(folder.path().join(name)).expect("makes");
            std::fs::write(folder.path().join(name).join("page.html"), name).expect("writes");
        }
        let text = "name = 'l' # comment\n[[service]]\nname = 'w'\nfiles = [{ path = 'x', source = 'a/page.html' }, \
                    { path = 'y', source = \"b/page.html\" }, { path = 'a/page.html', text = 'a/page.html' }]\n";
        let mut table: toml::Table = text.parse().expect("is TOML");
        let mut carrier = FileCarrier::default();
        carrier.take_lab(&mut table, folder.path()).expect("takes");
        let changed = carrier.changed(text, &table).expect("changes");
        assert_eq!(changed.parse::<toml::Table>().expect("is TOML"), table);
        let path =
            |number: usize, key: &str| table["service"][0]["files"][number][key].as_str().map(str::to_owned);
        assert_eq!(path(0, "source").as_deref(), Some("files/page.html"));
        assert_eq!(path(1, "source").as_deref(), Some("files/2-page.html"));
        assert_eq!(path(2, "path").as_deref(), Some("a/page.html"), "a word that is no source stays");
        let missing = carrier.take("c", &folder.path().join("c")).expect_err("is not there");
        assert!(missing.to_string().starts_with("cannot read"), "{missing}");
    }

    #[test]
    fn a_private_key_stays() {
        let mut carrier = FileCarrier::default();
        let mut table: toml::Table = "tls-key = '/etc/key.pem'\n".parse().expect("is TOML");
        carrier.take_table(&mut table, Path::new("")).expect("takes");
        assert_eq!(table["tls-key"].as_str(), Some("/etc/key.pem"));
        assert_eq!(carrier.notes, ["not exported, because it is a private key: '/etc/key.pem'"]);
        assert_eq!(carrier.into_files().count(), 0);
    }
}
