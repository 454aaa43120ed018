//! Files next to lab.toml that services on another host serve: found here, sent in pieces, stored there next to the share.

use super::super::files::{self, SourceFile};
use super::super::plan::{FileContent, LabPlan};
use super::{MAX_PIECE_BYTES, ShareCall};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path};
use sysdyno_run::RunError;

/// Most that is sent to one host. Unit: bytes.
const MAX_SOURCES_BYTES: u64 = 32 << 20;

/// The folder of a share that contains them; no service has such a name.
pub(super) const FOLDER: &str = "lab.sources";

/// Hands every piece of what services of a host take from beside the lab's file to `send`.
///
/// # Errors
/// There is more than is sent, a file cannot be read, or `send` says so.
pub(super) fn send(
    plan: &LabPlan,
    host: &str,
    beside: &Path,
    send: &mut dyn FnMut(ShareCall) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let of_host = plan.services.iter().filter(|service| service.host == host);
    let mut sources: Vec<&String> = of_host
        .flat_map(|service| &service.files)
        .filter_map(|data| if let FileContent::Source(source) = &data.content { Some(source) } else { None })
        .collect();
    sources.sort();
    sources.dedup();
    let mut left = MAX_SOURCES_BYTES;
    for source in sources {
        let cannot = |source_error| RunError::Process {
            operation: "send",
            object: format!("'{}' to host '{host}'", source.escape_debug()),
            source: source_error,
        };
        for file in files::regular_files(&beside.join(source), source).map_err(cannot)? {
            let rest = left.checked_sub(file.length_bytes).ok_or_else(|| cannot(too_much()))?;
            pieces(&file, left, send, &cannot)?;
            left = rest;
        }
    }
    Ok(())
}

fn too_much() -> io::Error {
    let most = MAX_SOURCES_BYTES >> 20;
    io::Error::other(format!(
        "the files of one host's services exceed {most} MiB\nhint: `size` creates files there; larger ones \
         must already be there"
    ))
}

/// Every piece of a file, the first one even if it is empty.
fn pieces(
    file: &SourceFile,
    most: u64,
    send: &mut dyn FnMut(ShareCall) -> Result<(), RunError>,
    cannot: &dyn Fn(io::Error) -> RunError,
) -> Result<(), RunError> {
    // A file may grow while it is read.
    let mut input = File::open(&file.from).map_err(cannot)?.take(most);
    let mut is_first = true;
    loop {
        let mut bytes = Vec::new();
        (&mut input).take(MAX_PIECE_BYTES as u64).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.is_empty() && !is_first {
            return Ok(());
        }
        is_first = false;
        send(ShareCall::Source { path: file.path.clone(), bytes })?;
    }
}

/// Takes a piece into the folder of a share.
pub(super) fn take(folder: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let mut parts = Path::new(path).components();
    let is_below = !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)));
    if !is_below || path.contains('\0') || bytes.len() > MAX_PIECE_BYTES {
        return Err(io::Error::other("this is not a piece of a file"));
    }
    let top = folder.join(FOLDER);
    files::make_folder(&top, 0o711)?;
    files::append(&top, path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: &str = "name = 'l'\n[[host]]\nname = 'far'\nssh = 'root@192.0.2.7'\n[[host]]\nname = 'near'\n\
        [[service]]\nname = 'a'\nhost = 'far'\nrecipe = 'nginx'\nfiles = [{ path = 'x', source = 'site' }]\n\
        [[service]]\nname = 'b'\nhost = 'near'\nrecipe = 'nginx'\nfiles = [{ path = 'x', source = 'other' }]\n";

    fn sent(beside: &Path, there: &Path) -> Result<(), RunError> {
        let plan = LabPlan::parse(LAB, Path::new("lab.toml")).expect("is in order");
        send(&plan, "far", beside, &mut |call| {
            let ShareCall::Source { path, bytes } = call else { panic!("only files are sent") };
            take(there, &path, &bytes).map_err(|error| RunError::Refused(error.to_string()))
        })
    }

    #[test]
    fn files_of_that_host_come_as_they_are() {
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().expect("can be made"));
        let long: Vec<u8> = (0..MAX_PIECE_BYTES as u32 + 3).map(|number| number as u8).collect();
        files::write(here.path(), "site/a/long", &long).expect("can be written");
        files::write(here.path(), "site/empty", b"").expect("can be written");
        sent(here.path(), there.path()).expect("is sent");
        let read = |path: &str| std::fs::read(there.path().join(FOLDER).join(path)).expect("came");
        assert_eq!((read("site/a/long"), read("site/empty")), (long, Vec::new()));
        assert!(!there.path().join(FOLDER).join("other").exists());
    }

    #[test]
    fn too_much_and_what_is_not_there_are_told() {
        let [here, there] = [(); 2].map(|()| tempfile::tempdir().expect("can be made"));
        let told = sent(here.path(), there.path()).expect_err("is not there").to_string();
        assert!(told.starts_with("cannot send 'site' to host 'far'"), "{told}");
        let file = File::create(here.path().join("site")).expect("can be made");
        file.set_len(MAX_SOURCES_BYTES + 1).expect("takes no room");
        let told = sent(here.path(), there.path()).expect_err("is too much").to_string();
        assert!(told.contains("exceed 32 MiB\nhint: "), "{told}");
    }

    #[test]
    fn nothing_is_written_elsewhere() {
        let there = tempfile::tempdir().expect("can be made");
        for path in ["", "/etc/x", "../x", "a/../../x", "a\0b"] {
            assert!(take(there.path(), path, b"x").is_err(), "{path:?}");
        }
        assert!(take(there.path(), "a", &vec![0; MAX_PIECE_BYTES + 1]).is_err());
    }
}
