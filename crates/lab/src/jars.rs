//! Jars of recipes: a resolved set with checksums, fetched by Maven into the cache below the state folder.
//!
//! Invariant: a set is in the cache under its name only if it has exactly the files of the list, each with the listed digest.
//! It stays when labs are torn down.

use super::labs::Labs;
use super::paths::jars_of;
use super::plan::LabPlan;
use super::values::recipe_of;
use super::{files, machine};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use sysdyno_run::RunError;
use sysdyno_run::program::Program;

/// What fetches a set, in the version that the lists were made with.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies";

/// How long a set may take to be fetched.
const LIMIT: Duration = Duration::from_secs(1800);

/// A set of jars that a lab takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JarSet {
    /// Its name, with its version.
    pub name: String,
    /// How many there are.
    pub count: usize,
    /// Where they are going to be.
    pub folder: PathBuf,
    pom: &'static str,
    list: &'static str,
}

impl Labs {
    /// Sets of jars that a lab takes on this machine and that are not in the cache.
    ///
    /// # Errors
    /// A recipe is not known.
    pub fn missing_jars(&self, plan: &LabPlan) -> Result<Vec<JarSet>, RunError> {
        let mut missing: Vec<JarSet> = Vec::new();
        for service in plan.own_services() {
            let recipe = recipe_of(service).map_err(RunError::Refused)?;
            let Some(jars) = recipe.jars else { continue };
            let folder = jars_of(&self.folder_of(&plan.name).join(&service.name), &jars);
            if folder.is_dir() || missing.iter().any(|known| known.name == jars.name) {
                continue;
            }
            let (pom, list) = (jars.pom(), jars.list());
            missing.push(JarSet { name: jars.name, count: digests(list).len(), folder, pom, list });
        }
        Ok(missing)
    }

    /// Fetches a set into the cache, and looks at every byte of it.
    ///
    /// # Errors
    /// Maven is not there or says so, or a jar is not the one of the list.
    pub fn fetch(&self, set: &JarSet) -> Result<(), RunError> {
        let cannot = |source| RunError::Process { operation: "fetch", object: set.name.clone(), source };
        self.prepare().map_err(&cannot)?;
        // Others may make labs meanwhile, and fetch other sets.
        set.folder.parent().map_or(Ok(()), files::make_folders).map_err(&cannot)?;
        let _lock = files::lock_by_name(&set.folder.with_file_name(format!("{}.lock", set.name)), LIMIT)
            .map_err(&cannot)?;
        let draft = set.folder.with_extension("new");
        let fetched = files::remove_tree(&draft).and_then(|()| fetch(set, &draft));
        let removed = files::remove_tree(&draft);
        fetched.and(removed).map_err(cannot)
    }
}

fn fetch(set: &JarSet, draft: &Path) -> io::Result<()> {
    if set.folder.is_dir() {
        return Ok(());
    }
    files::make_folders(draft)?;
    files::write(draft, "pom.xml", set.pom.as_bytes())?;
    let maven = machine::find(&["mvn".to_owned()]);
    let maven = maven.ok_or_else(|| io::Error::other("'mvn' is not installed"))?;
    let option = |name: &str, path: &str| format!("-D{name}={}", draft.join(path).display());
    let mut command = Command::new(maven);
    command
        .args(["--batch-mode", "--quiet", "-DincludeScope=runtime"])
        .args([option("maven.repo.local", "repository"), option("outputDirectory", "jars"), COPY.to_owned()])
        .current_dir(draft);
    let ended = Program::new(command, LIMIT).run()?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.output);
        let first = said.lines().find(|line| line.contains("ERROR")).unwrap_or("mvn failed");
        return Err(io::Error::other(first.to_owned()));
    }
    let jars = draft.join("jars");
    check(&jars, set.list)?;
    files::rename(&jars, &set.folder)
}

/// Whether a folder has exactly the files of a list.
fn check(folder: &Path, list: &str) -> io::Result<()> {
    let mut wanted = digests(list);
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let digest = digest(File::open(entry.path())?)?;
        if wanted.remove(name.as_str()) != Some(digest.as_str()) {
            let cause = format!("'{}' is not the file that this version expects", name.escape_debug());
            return Err(io::Error::other(cause));
        }
    }
    match wanted.first_key_value() {
        None => Ok(()),
        Some((name, _)) => Err(io::Error::other(format!("'{name}' was not downloaded"))),
    }
}

/// The SHA-256 of a file, in hexadecimal digits.
fn digest(mut file: File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut block = vec![0; 64 * 1024];
    loop {
        match file.read(&mut block)? {
            0 => break,
            count => hash.update(&block[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Name of each jar → its SHA-256, in hexadecimal digits.
fn digests(list: &str) -> BTreeMap<&str, &str> {
    list.lines().filter_map(|line| line.split_once(' ')).map(|(digest, name)| (name, digest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jar_with_another_digest_one_too_many_and_one_too_few_are_refused() {
        let folder = tempfile::tempdir().expect("can be made");
        let digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        let list = format!("{digest} a.jar\n");
        let said = |list: &str| check(folder.path(), list).expect_err("is refused").to_string();
        assert_eq!(said(&list), "'a.jar' was not downloaded");
        files::write(folder.path(), "a.jar", b"x").expect("can be written");
        check(folder.path(), &list).expect("is what the list says");
        assert!(said(&list.replace("2d71", "2d72")).contains("not the file"));
        assert!(said("").contains("not the file"));
    }

    #[test]
    fn every_set_is_a_list_of_digests() {
        for recipe in super::super::recipe_names().filter_map(super::super::find_recipe) {
            let Some(jars) = recipe.jars else { continue };
            let known = digests(jars.list());
            let is_whole = known.len() == jars.list().lines().count();
            assert!(is_whole && known.values().all(|digest| digest.len() == 64), "{}", recipe.name);
            assert!(jars.pom().contains("<project"), "{}", recipe.name);
        }
    }
}
