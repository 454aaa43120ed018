//! The documents that are built from the program's own definitions: man pages, completions, and the reference of commands,
//! checks, settings, and facts.
//!
//! They are not kept in the repository. The hidden command `sysdyno docs FOLDER` writes them; this module builds the program and
//! runs it.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where hand-written documents link to them, and where they are written unless told otherwise. Git ignores them there.
const PLACE: &str = "docs/reference";

/// Writes the documents into a folder; `None` is their place in the repository.
pub fn write(root: &Path, into: Option<&Path>) -> Result<ExitCode> {
    let folder = into.map_or_else(|| root.join(PLACE), Path::to_owned);
    make(root, &folder)?;
    println!("docs: written to {}", folder.display());
    Ok(ExitCode::SUCCESS)
}

/// The Markdown documents as the program writes them now: path relative to the root, and text.
pub fn generate(root: &Path) -> Result<BTreeMap<String, String>> {
    let folder = root.join("target/generated-docs");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty '{}'", folder.display()))?;
    }
    make(root, &folder)?;
    let context = || format!("cannot read '{}'", folder.display());
    let mut documents = BTreeMap::new();
    for entry in fs::read_dir(&folder).with_context(context)? {
        let path = entry.with_context(context)?.path();
        if let Some(name) =
            path.file_name().and_then(|name| name.to_str()).filter(|name| name.ends_with(".md"))
        {
            documents.insert(format!("{PLACE}/{name}"), fs::read_to_string(&path).with_context(context)?);
        }
    }
    ensure!(!documents.is_empty(), "cannot build the documents: 'sysdyno docs' wrote none");
    Ok(documents)
}

fn make(root: &Path, folder: &Path) -> Result<()> {
    let program = build(root)?;
    let status = Command::new(&program).arg("docs").arg(folder).status();
    let status = status.with_context(|| format!("cannot run '{}'", program.display()))?;
    ensure!(status.success(), "cannot build the documents: 'sysdyno docs' ended with {status}");
    Ok(())
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
