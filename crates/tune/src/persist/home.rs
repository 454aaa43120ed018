//! Where settings other than sysctls persist across reboots: udev rules for devices, tmpfiles lines for other kernel files,
//! drop-ins of systemd units for limits of their processes.
//!
//! Sources: udev(7), tmpfiles.d(5), systemd.unit(5), systemd.exec(5).

use crate::plan::PlannedChange;
use crate::roots::TuneRoots;
use crate::setting::{AtBoot, UNITS, read_file};
use std::collections::BTreeMap;

/// The file of rules for devices.
pub(super) const RULES: &str = "/etc/udev/rules.d/90-sysdyno.rules";

/// The file of lines for other files of the kernel.
pub(super) const LINES: &str = "/etc/tmpfiles.d/90-sysdyno.conf";

/// What our drop-ins are called.
const DROP_IN: &str = "90-sysdyno.conf";

/// How the name of a folder of drop-ins for a service ends; units, aliases and folders of wants lie beside them.
const DROP_INS: &str = ".service.d";

/// Programs that read what is kept at boot; a host has one of them or does not read it.
const UDEV: [&str; 4] = ["/usr/bin/udevadm", "/bin/udevadm", "/usr/sbin/udevadm", "/sbin/udevadm"];
const TMPFILES: [&str; 4] =
    ["/usr/bin/systemd-tmpfiles", "/bin/systemd-tmpfiles", "/usr/bin/tmpfiles", "/bin/tmpfiles"];

/// How one setting is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// The file, from the root.
    pub(super) file: String,
    /// By what it is taken out again.
    pub(super) key: String,
    /// The line that sets it.
    pub(super) line: String,
}

/// How a change is kept.
///
/// # Errors
/// It cannot be.
pub(super) fn home(change: &PlannedChange, roots: &TuneRoots) -> Result<Home, String> {
    let kept = |file: &str, line: String| Home { file: file.into(), key: change.key.clone(), line };
    match change.at_boot() {
        AtBoot::Disk { device, attribute } => {
            is_read(RULES, "udev", &UDEV, roots)?;
            Ok(kept(RULES, disk(device, attribute, &change.new, roots)?))
        }
        AtBoot::Interface { device, attribute } => {
            is_read(RULES, "udev", &UDEV, roots)?;
            Ok(kept(RULES, interface(device, attribute, &change.new, roots)?))
        }
        AtBoot::Tmpfiles { path } => {
            is_read(LINES, "systemd-tmpfiles", &TMPFILES, roots)?;
            Ok(kept(LINES, format!("w {path} - - - - {}", change.new)))
        }
        AtBoot::Unit { pid, name, directive } => {
            let groups = std::fs::read_to_string(roots.place(&format!("/proc/{pid}/cgroup")));
            unit_limit(&groups.unwrap_or_default(), (name, directive), &change.new)
        }
        AtBoot::Sysctl | AtBoot::Nothing => Err("there is no mechanism to keep it across reboots".into()),
    }
}

/// Refuses a file that nothing on this host would read at boot.
fn is_read(file: &str, reader: &str, programs: &[&str], roots: &TuneRoots) -> Result<(), String> {
    if programs.iter().any(|program| roots.place(program).exists()) {
        return Ok(());
    }
    Err(format!("nothing on this host reads {file} at boot: it has no {reader}"))
}

/// Files of ours among the drop-ins of services that may be there.
pub(super) fn drop_ins(roots: &TuneRoots) -> Vec<String> {
    let entries = std::fs::read_dir(roots.place(UNITS)).into_iter().flatten().flatten();
    let folders = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let folders = folders.filter(|name| name.ends_with(DROP_INS));
    let files = folders.filter(|name| roots.place(&format!("{UNITS}/{name}")).is_dir());
    files.map(|name| format!("{UNITS}/{name}/{DROP_IN}")).collect()
}

/// A text between the quotes of a rule, which takes no quotes and no patterns.
fn quoted(text: &str) -> Result<&str, String> {
    let is_plain = |letter: char| letter.is_ascii_graphic() && !"\"\\*?[]|".contains(letter) || letter == ' ';
    if text.chars().all(is_plain) {
        Ok(text)
    } else {
        Err(format!("'{text}' cannot stand in a rule of udev"))
    }
}

fn disk(device: &str, attribute: &str, value: &str, roots: &TuneRoots) -> Result<String, String> {
    let read = |file: &str| {
        let text = read_file(roots, &format!("/sys/block/{device}/{file}")).ok()?;
        Some(text.trim().to_owned()).filter(|text| quoted(text).is_ok())
    };
    // Names of disks are given in the order in which they are found; their identities are their own.
    let by = match (read("wwid"), read("device/wwid")) {
        (Some(wwid), _) => format!("ATTR{{wwid}}==\"{wwid}\""),
        (None, Some(wwid)) => format!("ATTRS{{wwid}}==\"{wwid}\""),
        (None, None) => format!("KERNEL==\"{}\"", quoted(device)?),
    };
    let value = quoted(value)?;
    Ok(format!(
        "ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", {by}, ATTR{{{attribute}}}=\"{value}\""
    ))
}

fn interface(device: &str, attribute: &str, value: &str, roots: &TuneRoots) -> Result<String, String> {
    let address = read_file(roots, &format!("/sys/class/net/{device}/address")).unwrap_or_default();
    let address = match address.trim() {
        "" | "00:00:00:00:00:00" => String::new(),
        address => format!("ATTR{{address}}==\"{}\", ", quoted(address)?),
    };
    let (device, value) = (quoted(device)?, quoted(value)?);
    // It has its last name after it was moved to it.
    Ok(format!(
        "ACTION==\"add|move\", SUBSYSTEM==\"net\", KERNEL==\"{device}\", {address}ATTR{{{attribute}}}=\"{value}\""
    ))
}

/// A limit, by its name here and in units, kept with the unit that the process belongs to.
fn unit_limit(groups: &str, (name, directive): (&str, &str), value: &str) -> Result<Home, String> {
    let steps = groups.lines().flat_map(|line| line.rsplit(':').next().unwrap_or_default().split('/'));
    let is_plain =
        |unit: &&str| unit.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_.\\@".contains(&byte));
    let unit = steps.filter(|step| step.ends_with(".service")).rfind(is_plain);
    let unit = unit
        .ok_or("its process does not belong to a systemd unit: whatever starts it has to set its limits")?;
    let value = value.replace("unlimited", "infinity").replace(' ', ":");
    Ok(Home {
        file: format!("{UNITS}/{unit}.d/{DROP_IN}"),
        key: format!("{unit}.{name}"),
        line: format!("{directive}={value}"),
    })
}

/// The text of a file of ours after its first line: a heading where the format wants one, and for each setting its key and its line.
pub(super) fn text(file: &str, kept: &BTreeMap<String, String>) -> String {
    let heading = if file.starts_with(UNITS) { "\n[Service]\n" } else { "" };
    let lines = kept.iter().map(|(key, line)| format!("\n{MARK}{key}\n{line}\n"));
    format!("{heading}{}", lines.collect::<String>())
}

/// The text before a key.
const MARK: &str = "# sets: ";

/// The keys of a text of ours, with their lines.
pub(super) fn parse(text: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let pair = |pair: &[&str]| Some((pair[0].strip_prefix(MARK)?.to_owned(), pair[1].to_owned()));
    lines.windows(2).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_kept_with_the_unit_of_the_process() {
        let home =
            unit_limit("0::/system.slice/nginx.service\n", ("nofile", "LimitNOFILE"), "65536 unlimited")
                .expect("has a unit");
        assert_eq!(home.file, "/etc/systemd/system/nginx.service.d/90-sysdyno.conf");
        assert_eq!(
            (home.key.as_str(), home.line.as_str()),
            ("nginx.service.nofile", "LimitNOFILE=65536:infinity")
        );
        assert!(unit_limit("0::/user.slice/session-1.scope\n", ("nofile", "LimitNOFILE"), "1 1").is_err());
        assert!(unit_limit("0::/a.service\"\n", ("nofile", "LimitNOFILE"), "1 1").is_err());
    }

    #[test]
    fn what_a_file_of_ours_says_is_read_back() {
        let pair = |key: &str, line: &str| (key.to_owned(), line.to_owned());
        let kept = BTreeMap::from([pair("a.b", "w /sys/a - - - - 1"), pair("c", "X=1")]);
        assert_eq!(BTreeMap::from_iter(parse(&text(LINES, &kept))), kept);
        let unit =
            text("/etc/systemd/system/a.service.d/90-sysdyno.conf", &BTreeMap::from([pair("c", "X=1")]));
        assert!(unit.contains("[Service]\n\n# sets: c\nX=1\n"), "{unit}");
        assert!(quoted("a\"b").is_err() && quoted("a*").is_err() && quoted("naa.5000c500").is_ok());
    }
}
