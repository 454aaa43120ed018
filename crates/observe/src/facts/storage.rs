//! Facts of the block devices and of the root file system.

use super::sheet::{Sheet, chosen, list};
use std::path::Path;

/// At most this many devices are listed.
const MAX_DISKS: usize = 64;
/// The unit of `/sys/block/NAME/size`. Unit: bytes.
const SECTOR_BYTES: f64 = 512.0;

pub(super) fn read(sheet: &mut Sheet<'_>) {
    let folder = sheet.roots.in_sys("block");
    let names = list(&folder);
    let is_listed = |name: &String| !["loop", "ram", "zram"].iter().any(|kind| name.starts_with(kind));
    for name in names.into_iter().filter(is_listed).take(MAX_DISKS) {
        read_disk(sheet, &name, &folder.join(&name));
    }
    read_root(sheet);
}

fn read_disk(sheet: &mut Sheet<'_>, name: &str, folder: &Path) {
    let size = sheet.read_count(&folder.join("size")).map(|sectors| sectors * SECTOR_BYTES);
    sheet.number(format!("disk.{name}.size_bytes"), size);
    let model = sheet.read(&folder.join("device/model"));
    sheet.text(format!("disk.{name}.model"), model);
    let scheduler = sheet.read(&folder.join("queue/scheduler")).map(|text| chosen(&text));
    sheet.text(format!("disk.{name}.scheduler"), scheduler);
    let rotational = sheet.read(&folder.join("queue/rotational"));
    let rotational = rotational.map(|flag| if flag == "0" { "no" } else { "yes" }.to_owned());
    sheet.text(format!("disk.{name}.is_rotational"), rotational);
    let cache = sheet.read(&folder.join("queue/write_cache"));
    sheet.text(format!("disk.{name}.write_cache"), cache);
    let requests = sheet.read_count(&folder.join("queue/nr_requests"));
    sheet.number(format!("disk.{name}.queue_requests"), requests);
    let ahead = sheet.read_count(&folder.join("queue/read_ahead_kb")).map(|kibibytes| kibibytes * 1024.0);
    sheet.number(format!("disk.{name}.read_ahead_bytes"), ahead);
}

fn read_root(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("self/mountinfo");
    let answer = sheet.read(&path).and_then(|text| {
        let root = text.lines().rev().find_map(parse_root);
        root.ok_or("'/proc/self/mountinfo' has no root".to_owned())
    });
    sheet.text("filesystem.root.kind", answer.clone().map(|root| root.kind));
    sheet.text("filesystem.root.options", answer.map(|root| root.options));
}

/// The mounted root.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Root {
    kind: String,
    options: String,
}

/// Options whose values are kept; those of others may be addresses or names.
const KEPT_OPTIONS: &[&str] =
    &["commit", "compress", "data", "errors", "logbsize", "logbufs", "size", "stripe"];

/// A line of `/proc/self/mountinfo` (proc(5)), if it is that of the root.
fn parse_root(line: &str) -> Option<Root> {
    let (mount, rest) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(4);
    (fields.next()? == "/").then_some(())?;
    let own = fields.next()?;
    let mut rest = rest.split(' ');
    let kind = rest.next()?.to_owned();
    let common = rest.nth(1).unwrap_or("");
    let mut options: Vec<&str> = Vec::new();
    for option in own.split(',').chain(common.split(',')).filter(|option| !option.is_empty()) {
        let name = option.split_once('=').map_or(option, |(name, _)| name);
        let shown = if KEPT_OPTIONS.contains(&name) { option } else { name };
        if !options.contains(&shown) {
            options.push(shown);
        }
    }
    Some(Root { kind, options: options.join(",") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_found_and_addresses_are_left_out() {
        let root =
            parse_root("22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,commit=5,addr=10.0.0.1");
        let expected = Root { kind: "ext4".into(), options: "rw,relatime,commit=5,addr".into() };
        assert_eq!(root, Some(expected));
        assert_eq!(parse_root("23 22 0:5 / /proc rw - proc proc rw"), None);
        assert_eq!(parse_root("garbage"), None);
    }
}
