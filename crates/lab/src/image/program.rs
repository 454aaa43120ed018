//! A program with all that it needs to start: links that lead to it, its package, and what no package says.
//!
//! A program that no package has, as one from `/usr/local`, brings the libraries that `ldd` names; a script brings its
//! interpreter.

use super::packages::Packages;
use super::tree::RootTree;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use sysdyno_run::program::Program;

/// Most links that lead to a file.
const MAX_LINKS: usize = 16;
/// How long `ldd` may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Programs that were taken so far, and the packages that they are of.
#[derive(Debug, Default)]
pub(super) struct TakenPrograms {
    paths: BTreeSet<PathBuf>,
    pub(super) packages: BTreeSet<String>,
}

impl TakenPrograms {
    /// Takes a program, or another file that a service needs.
    pub(super) fn take(&mut self, path: &Path, packages: &Packages, tree: &mut RootTree) -> io::Result<()> {
        let mut left = vec![path.to_owned()];
        while let Some(path) = left.pop() {
            if !self.paths.insert(path.clone()) {
                continue;
            }
            let Some(file) = self.follow(&path, packages, tree)? else { continue };
            left.extend(interpreter(&file)?);
            if packages.owner(&file.to_string_lossy()).is_none() {
                tree.host(&file)?;
                left.extend(libraries(&file)?);
            }
        }
        Ok(())
    }

    /// The file that a path leads to, with the links on the way taken; `None`: it is no regular file.
    fn follow(
        &mut self,
        path: &Path,
        packages: &Packages,
        tree: &mut RootTree,
    ) -> io::Result<Option<PathBuf>> {
        let mut path = path.to_owned();
        for _ in 0..MAX_LINKS {
            self.packages.extend(packages.owner(&path.to_string_lossy()).map(str::to_owned));
            let known = fs::symlink_metadata(&path).map_err(|error| {
                io::Error::new(error.kind(), format!("cannot find '{}': {error}", path.display()))
            })?;
            if !known.is_symlink() {
                return Ok(known.is_file().then_some(path));
            }
            tree.host(&path)?;
            path = joined(path.parent().unwrap_or(Path::new("/")), &fs::read_link(&path)?);
        }
        Err(io::Error::other(format!("too many links lead to '{}'", path.display())))
    }
}

/// Where a link in a folder leads to.
fn joined(folder: &Path, to: &Path) -> PathBuf {
    let mut path = PathBuf::new();
    for component in folder.join(to).components() {
        match component {
            std::path::Component::ParentDir => drop(path.pop()),
            other => path.push(other),
        }
    }
    path
}

/// What runs a script.
fn interpreter(file: &Path) -> io::Result<Option<PathBuf>> {
    let mut head = Vec::new();
    File::open(file)?.take(256).read_to_end(&mut head)?;
    let line = head.strip_prefix(b"#!").and_then(|rest| rest.split(|byte| *byte == b'\n').next());
    let line = String::from_utf8_lossy(line.unwrap_or_default()).into_owned();
    let mut words = line.split_whitespace();
    Ok(match (words.next(), words.next()) {
        (Some("/usr/bin/env"), Some(name)) => super::super::machine::find(&[name.to_owned()]),
        (Some(path), _) if path.starts_with('/') => Some(PathBuf::from(path)),
        _ => None,
    })
}

/// The libraries of a program; none of one that is static, or no program.
fn libraries(file: &Path) -> io::Result<Vec<PathBuf>> {
    let mut command = Command::new("ldd");
    command.arg(file);
    let ended = Program::new(command, LIMIT).run()?;
    Ok(named_libraries(&String::from_utf8_lossy(&ended.output)))
}

fn named_libraries(text: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let path = line.split_once(" => ").map_or(line, |(_, path)| path).trim();
        let path = path.split(" (").next().unwrap_or_default();
        path.starts_with('/').then(|| PathBuf::from(path))
    };
    text.lines().filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_those_that_ldd_found() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x/libc.so.6 (0x7f)\n\tlibz.so => not found\n\
                    \t/lib64/ld-linux-x86-64.so.2 (0x7f)\n";
        let expected = ["/lib/x/libc.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(named_libraries(text), expected);
        assert_eq!(named_libraries("\tnot a dynamic executable\n"), [] as [PathBuf; 0]);
    }

    #[test]
    fn links_and_interpreters_are_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("script"), "#!/bin/sh -e\n").expect("writes");
        std::os::unix::fs::symlink("../one/script", at("relative")).expect("links");
        let (mut taken, mut tree) = (TakenPrograms::default(), RootTree::default());
        fs::create_dir(at("one")).expect("makes");
        fs::rename(at("script"), at("one/script")).expect("moves");
        fs::create_dir(at("two")).expect("makes");
        fs::rename(at("relative"), at("two/relative")).expect("moves");
        taken.take(&at("two/relative"), &Packages::default(), &mut tree).expect("takes");
        let has = |path: &Path| taken.paths.contains(path);
        assert!(has(&at("two/relative")) && has(Path::new("/bin/sh")), "{:?}", taken.paths);
        let paths: Vec<&String> = tree.nodes().map(|(path, _)| path).collect();
        assert!(paths.iter().any(|path| path.ends_with("one/script")), "{paths:?}");
        assert!(taken.take(&at("none"), &Packages::default(), &mut tree).is_err());
    }
}
