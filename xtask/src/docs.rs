//! The documents that are generated from the program's own definition of its commands: `docs/cli.md`, `docs/man/` and
//! `docs/completions/`.
//!
//! The hidden command `sysdyno docs FOLDER` writes them side by side; this module runs it and says where each belongs.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where the generated documents belong, by the end of their names; all others in `docs/` itself.
const FOLDERS: &[(&str, &str)] = &[
    (".1", "docs/man"),
    (".bash", "docs/completions"),
    (".zsh", "docs/completions"),
    (".fish", "docs/completions"),
];

/// Folders that hold generated documents and nothing else.
pub const OWN_FOLDERS: &[&str] = &["docs/man/", "docs/completions/"];

/// The document whose presence means that all of them are kept in the repository.
pub const INDEX: &str = "docs/cli.md";

/// Writes the generated documents into the repository.
pub fn write(root: &Path) -> Result<ExitCode> {
    let documents = generate(root)?;
    for (path, text) in &documents {
        let path = root.join(path);
        let folder = path.parent().expect("a document lies in a folder");
        fs::create_dir_all(folder).with_context(|| format!("cannot create '{}'", folder.display()))?;
        fs::write(&path, text).with_context(|| format!("cannot write '{}'", path.display()))?;
    }
    println!("docs: {} files written", documents.len());
    Ok(ExitCode::SUCCESS)
}

/// The generated documents as the program writes them now: path relative to the root, and text.
pub fn generate(root: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let program = build(root)?;
    let folder = root.join("target/generated-docs");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty '{}'", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot create '{}'", folder.display()))?;
    let status = Command::new(&program).arg("docs").arg(&folder).status();
    let status = status.with_context(|| format!("cannot run '{}'", program.display()))?;
    ensure!(status.success(), "cannot generate documents: 'sysdyno docs' ended with {status}");
    let documents = collect(&folder)?;
    ensure!(!documents.is_empty(), "cannot generate documents: 'sysdyno docs' wrote nothing");
    Ok(documents)
}

/// How names of variables begin by which cargo tells a program of itself. Build scripts that are told them run again, here and
/// in the next test.
const TOLD: [&str; 2] = ["CARGO_MANIFEST_", "CARGO_PKG_"];

/// Builds the program and says where it is.
///
/// An example is built along: its packages need what tests need, so that the features of all dependencies are those of
/// `cargo test`, and what that has built is not built again.
fn build(root: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    for (name, _) in std::env::vars_os() {
        if TOLD.iter().any(|begin| name.to_string_lossy().starts_with(begin)) {
            command.env_remove(name);
        }
    }
    let output = command
        .current_dir(root)
        .args(["build", "--quiet", "--bin", "sysdyno", "--example", "sample_report"])
        .args(["--message-format", "json-render-diagnostics"])
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "cannot build sysdyno");
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut programs = messages.lines().filter(|line| line.contains("\"kind\":[\"bin\"]"));
    let executable = programs.find_map(|line| line.split_once("\"executable\":\""));
    let (_, rest) = executable.context("cannot find the program that cargo built")?;
    Ok(rest.split('"').next().expect("split yields at least one part").into())
}

fn collect(folder: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let context = || format!("cannot read '{}'", folder.display());
    let mut documents = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let belongs =
            FOLDERS.iter().find(|(ending, _)| name.ends_with(ending)).map_or("docs", |(_, place)| place);
        documents
            .insert(Path::new(belongs).join(&name), fs::read_to_string(entry.path()).with_context(context)?);
    }
    Ok(documents)
}
