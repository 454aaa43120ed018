//! What sets a setting again at boot, if anything.

/// The folder of the units of systemd.
pub(crate) const UNITS: &str = "/etc/systemd/system";

/// What reads the files that a setting could be kept in over a reboot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AtBoot<'a> {
    /// sysctl, for files below `/proc/sys`.
    Sysctl,
    /// udev, for an attribute of a disk.
    Disk {
        /// Its name.
        device: &'a str,
        /// The path of the attribute below the device.
        attribute: &'a str,
    },
    /// udev, for an attribute of a network interface.
    Interface {
        /// Its name.
        device: &'a str,
        /// The path of the attribute below the device.
        attribute: &'a str,
    },
    /// tmpfiles, for another file below `/sys`.
    Tmpfiles {
        /// Its path.
        path: &'a str,
    },
    /// systemd, for a limit of a process of a unit.
    Unit {
        /// The process.
        pid: u32,
        /// The limit, as it is called here.
        name: &'static str,
        /// The limit, as units call it.
        directive: &'static str,
    },
    /// Nothing.
    Nothing,
}

impl<'a> AtBoot<'a> {
    /// What sets a file of the kernel.
    pub(super) fn of_file(path: &'a str) -> AtBoot<'a> {
        let below = |folder: &str| path.strip_prefix(folder)?.split_once('/');
        if let Some((device, attribute)) = below("/sys/block/") {
            AtBoot::Disk { device, attribute }
        } else if let Some((device, attribute)) = below("/sys/class/net/") {
            AtBoot::Interface { device, attribute }
        } else if path.starts_with("/sys/") {
            AtBoot::Tmpfiles { path }
        } else if path.starts_with("/proc/sys/") {
            AtBoot::Sysctl
        } else {
            AtBoot::Nothing
        }
    }

    /// The folder of the files that it reads; `None` for nothing.
    pub(crate) fn folder(self) -> Option<&'static str> {
        match self {
            AtBoot::Sysctl => Some("/etc/sysctl.d"),
            AtBoot::Disk { .. } | AtBoot::Interface { .. } => Some("/etc/udev/rules.d"),
            AtBoot::Tmpfiles { .. } => Some("/etc/tmpfiles.d"),
            AtBoot::Unit { .. } => Some(UNITS),
            AtBoot::Nothing => None,
        }
    }
}
