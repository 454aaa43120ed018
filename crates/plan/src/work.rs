//! Turns options into a plan of work, and fills in every default.

use crate::command::command;
use crate::options::{LoadOptions, ServerOptions, TargetOptions, WorkOptions};
use anyhow::{Context, bail, ensure};
use sysdyno_record::plan::PhaseEnd;
use sysdyno_record::units::SpanNs;
use sysdyno_record::work::{CacheChoice, CommandWork, FileWork, WorkKind, WorkPlan};

const DEFAULT_RUNS: u64 = 10;
const DEFAULT_DURATION: SpanNs = SpanNs::from_secs(10);
const DEFAULT_TIMEOUT: SpanNs = SpanNs::from_secs(3600);
const DEFAULT_FILES: u32 = 1000;
const DEFAULT_FILE_BYTES: u32 = 4096;

/// Longest file. Unit: bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The options of work on this host.
#[derive(Clone, Debug, Default)]
pub struct WorkDraft {
    /// What is done.
    pub work: WorkOptions,
    /// How often or how long; the rest is of requests.
    pub load: LoadOptions,
    /// The timeout; the rest is of requests.
    pub target: TargetOptions,
    /// Hosts, of which work has none.
    pub servers: ServerOptions,
}

impl WorkDraft {
    /// The plan.
    ///
    /// # Errors
    /// Whatever is wrong with the options.
    pub fn finish(&self) -> anyhow::Result<WorkPlan> {
        let WorkDraft { work, load, target, servers } = self;
        ensure!(
            servers.load_from.is_empty(),
            "cannot spread commands or file operations over several hosts\nhint: leave out --load-from"
        );
        check_load(load)?;
        let workers = work.workers.unwrap_or(1);
        let cache = work.cache.map_or(CacheChoice::AsIs, |word| word.0);
        check_cache(cache, workers, work.accept_drop_caches)?;
        let end = match (load.requests, load.duration) {
            (Some(count), _) => PhaseEnd::Requests(count),
            (None, Some(span)) => PhaseEnd::After(span.0),
            (None, None) if work.command.is_some() => PhaseEnd::Requests(DEFAULT_RUNS),
            (None, None) => PhaseEnd::After(DEFAULT_DURATION),
        };
        let timeout = target.timeout.map(|span| span.0).or(target.typed_timeout()).unwrap_or(DEFAULT_TIMEOUT);
        Ok(WorkPlan { kind: kind(work)?, workers, end, timeout, cache, remounts: false, counter: None })
    }
}

/// Refuses options of requests.
fn check_load(load: &LoadOptions) -> anyhow::Result<()> {
    let has_rate =
        load.rate.is_some() || !load.steps.is_empty() || load.ramp.is_some() || load.arrival.is_some();
    ensure!(
        !has_rate,
        "cannot do work at a rate: each worker starts its next operation when the last one is done\nhint: \
         --workers sets the number of workers"
    );
    ensure!(
        load.connections.is_none(),
        "cannot use connections for work on this host\nhint: --workers sets the number of parallel workers"
    );
    ensure!(
        load.warmup.is_none(),
        "cannot use --warmup for work\nhint: --cache warm runs the command once beforehand"
    );
    ensure!(load.fail_if.is_empty(), "cannot use --fail-if for work: it only checks requests");
    ensure!(load.requests != Some(0), "cannot do 0 operations");
    Ok(())
}

fn kind(options: &WorkOptions) -> anyhow::Result<WorkKind> {
    let spec = |text: &String| command(text, options.shell);
    if let Some(text) = &options.command {
        return Ok(WorkKind::Command(Box::new(CommandWork {
            name: None,
            run: spec(text)?,
            prepare: options.prepare.as_ref().map(spec).transpose()?,
            clean: options.clean.as_ref().map(spec).transpose()?,
            expect_output: Vec::new(),
            reject_output: Vec::new(),
            then: Vec::new(),
        })));
    }
    let Some(folder) = &options.files else {
        bail!("cannot do work: neither a command nor a folder is given")
    };
    let bytes = options.file_size.map_or(u64::from(DEFAULT_FILE_BYTES), |size| size.0.0);
    ensure!(bytes <= MAX_FILE_BYTES, "cannot use files of {bytes} bytes: the maximum is 16 MiB");
    Ok(WorkKind::Files(FileWork {
        folder: std::path::absolute(folder)
            .with_context(|| format!("cannot use folder '{}'", folder.display()))?,
        files_count: options.file_count.unwrap_or(DEFAULT_FILES),
        file_bytes: bytes as u32,
    }))
}

/// A cold cache is everybody's on the host, and cannot be given back: it must be agreed to.
fn check_cache(cache: CacheChoice, workers: u32, is_accepted: bool) -> anyhow::Result<()> {
    if cache != CacheChoice::Cold {
        return Ok(());
    }
    ensure!(
        workers == 1,
        "cannot use a cold cache with {workers} workers: each would drop the others' cache\nhint: leave out \
         --workers"
    );
    ensure!(
        is_accepted,
        "cannot drop the page cache without consent: each run would first write back and drop this host's \
         entire page cache, slowing down all programs until it fills again; this cannot be undone\nhint: add \
         --accept-drop-caches to consent"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Word;

    fn options(command: &str) -> WorkOptions {
        WorkOptions { command: Some(command.into()), ..WorkOptions::default() }
    }

    fn draft(work: &WorkOptions) -> WorkDraft {
        WorkDraft { work: work.clone(), ..WorkDraft::default() }
    }

    fn words(options: &WorkOptions) -> Vec<String> {
        match draft(options).finish().expect("is a plan").kind {
            WorkKind::Command(command) => command.run.words,
            WorkKind::Files(_) => panic!("it is a command"),
        }
    }

    #[test]
    fn words_are_split_as_a_shell_does_it_and_not_read_by_one() {
        assert_eq!(words(&options("svn update 'my wc' $HOME")), ["svn", "update", "my wc", "$HOME"]);
        let shell = WorkOptions { shell: true, ..options("a | b") };
        assert_eq!(words(&shell), ["/bin/sh", "-c", "a | b"]);
        for wrong in ["", "it's"] {
            assert!(draft(&options(wrong)).finish().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_cold_cache_must_be_agreed_to() {
        let cold = WorkOptions { cache: Some(Word(CacheChoice::Cold)), ..options("true") };
        let error = draft(&cold).finish().expect_err("not agreed to").to_string();
        assert!(error.contains("--accept-drop-caches") && error.contains("this cannot be undone"), "{error}");
        let agreed = WorkOptions { accept_drop_caches: true, ..cold };
        assert!(draft(&agreed).finish().is_ok());
        let many = WorkOptions { workers: Some(2), ..agreed };
        assert!(draft(&many).finish().is_err());
    }
}
