//! Names of functions that a runtime has compiled, by its perf map: a file with a line for each, `BEGIN SIZE NAME`, in hexadecimal.
//!
//! It is read line by line, and only names of addresses that were sampled are kept. A function may have moved, or another one may be
//! where it was: the last line counts. Java writes `0x` before its numbers, Node.js does not.
//! Source: `tools/perf/Documentation/jit-interface.txt`.

use super::bounded;
use crate::object_file::open_regular;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Longest map that is read. Source: house value; a large program of Node.js writes some 100 MB. Unit: bytes.
const MAP_MAX: u64 = 512 << 20;

/// Longest line that is understood. Unit: bytes.
const LINE_MAX: u64 = 4_096;

/// The name of each address of a process; `None`: it has no map, or the map does not have it.
pub(super) fn names(pid: u32, addresses: &[u64]) -> Vec<Option<String>> {
    match open(pid) {
        Some(map) => named(BufReader::new(map.take(MAP_MAX)), addresses),
        None => vec![None; addresses.len()],
    }
}

/// Opens the map of a process where it sees it; of one that has ended, here.
///
/// Anybody may write to `/tmp`. What names functions of a process that runs must be its user's, or root's.
fn open(pid: u32) -> Option<File> {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else {
        return open_regular(Path::new(&format!("/tmp/perf-{pid}.map")));
    };
    let own_pid = innermost_pid(&status).unwrap_or(pid);
    let map = open_regular(Path::new(&format!("/proc/{pid}/root/tmp/perf-{own_pid}.map")))?;
    let owner = std::fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    [0, owner].contains(&map.metadata().ok()?.uid()).then_some(map)
}

/// Its id as the process knows it. Source: `NSpid` in `/proc/PID/status`, the innermost namespace last.
fn innermost_pid(status: &str) -> Option<u32> {
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    pids.split_ascii_whitespace().last()?.parse().ok()
}

fn named(mut map: impl BufRead, addresses: &[u64]) -> Vec<Option<String>> {
    let mut names = vec![None; addresses.len()];
    let mut sorted: Vec<usize> = (0..addresses.len()).collect();
    sorted.sort_by_key(|index| addresses[*index]);
    let mut line = Vec::new();
    // What cannot be read is the end.
    while let Ok(length) = map.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)
        && length > 0
    {
        if let Some(Function { begin, end, name }) = function(&line) {
            let first = sorted.partition_point(|index| addresses[*index] < begin);
            for index in sorted[first..].iter().take_while(|index| addresses[**index] < end) {
                names[*index] = Some(bounded(&String::from_utf8_lossy(name)));
            }
        }
        line.clear();
    }
    names
}

struct Function<'a> {
    begin: u64,
    end: u64,
    name: &'a [u8],
}

/// A line; `None`: it is no whole one.
fn function(line: &[u8]) -> Option<Function<'_>> {
    let mut fields = line.strip_suffix(b"\n")?.splitn(3, |byte| *byte == b' ');
    let mut number = || {
        let text = std::str::from_utf8(fields.next()?).ok()?;
        u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
    };
    let begin = number()?;
    let end = begin.checked_add(number()?)?;
    fields.next().filter(|name| !name.is_empty()).map(|name| Function { begin, end, name })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &[u8] = b"2b2adb54b296 26 JS:~leafWork /srv/spin.js:1:18\n\
        0x00007f7ba4f1a720 0x00000000000000b8 long Spin.leafWork(long)\n\
        0x00007f7ba4f1a720 0x0000000000000100 long Spin.compiledAgain(long)\n\
        no line of a map\n\
        7f7ba4f1b000 ffffffffffffffff beyond the end\n\
        7f7ba4f1c000 10\n\
        7f7ba4f1d000 10 cut off";

    fn check(addresses: &[u64], expected: &[Option<&str>]) {
        let names = named(MAP, addresses);
        assert_eq!(names.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn functions_are_found_by_their_addresses_in_the_forms_of_all_runtimes() {
        check(
            &[0x7f7b_a4f1_a7d8, 0x2b2a_db54_b2bb, 0x2b2a_db54_b2bc, 0x7f7b_a4f1_a720, 0x7f7b_a4f1_a820],
            &[
                Some("long Spin.compiledAgain(long)"),
                Some("JS:~leafWork /srv/spin.js:1:18"),
                None,
                Some("long Spin.compiledAgain(long)"),
                None,
            ],
        );
    }

    #[test]
    fn lines_that_are_not_understood_name_nothing() {
        check(&[0x7f7b_a4f1_b000, 0x7f7b_a4f1_c000, 0x7f7b_a4f1_d000, 0, u64::MAX], &[None; 5]);
        let endless = [&b"10 10 "[..], &[b'x'; 20_000], b"\n30 10 after\n"].concat();
        assert_eq!(named(&endless[..], &[0x10, 0x30]), [None, Some("after".to_owned())]);
    }

    #[test]
    fn a_process_in_a_container_knows_itself_by_another_id() {
        assert_eq!(innermost_pid("Name:\tjava\nNSpid:\t4711\t7\nThreads:\t1\n"), Some(7));
        assert_eq!(innermost_pid("Name:\tjava\n"), None);
    }

    #[test]
    fn the_map_of_a_running_process_has_to_be_its_own() {
        let pid = std::process::id();
        let path = format!("/tmp/perf-{pid}.map");
        std::fs::write(&path, "5000 10 compiled\n").expect("can be written");
        let found = names(pid, &[0x5008, 0x6000]);
        std::fs::remove_file(&path).expect("is there");
        assert_eq!(found, [Some("compiled".to_owned()), None]);
    }
}
