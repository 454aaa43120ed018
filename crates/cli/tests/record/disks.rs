//! Disks that are full at some moment: file systems in memory, from one that holds nothing to one that holds a whole run.

use crate::rig::{Kind, Rig};
use std::path::PathBuf;
use std::process::Command;

/// Sizes. Unit: KiB.
const SAMPLE: [u64; 6] = [64, 192, 320, 450, 550, 650];
const STEP: u64 = 16;
const MOST: u64 = 1_400;

pub fn run(rig: &mut Rig) {
    let sizes: Vec<u64> =
        if rig.is_whole { (1..=MOST / STEP).map(|step| step * STEP).collect() } else { SAMPLE.to_vec() };
    for kind in [Kind::Load, Kind::Work] {
        for size in &sizes {
            let disk = Disk::mount(rig.folder().join("disk"), *size);
            let mut program = Command::new(env!("CARGO_BIN_EXE_sysdyno"));
            let ended = Rig::end_of(program.args(rig.arguments(kind, &disk.0)));
            rig.check(kind, &disk.0, &ended, &format!("{kind:?} on a disk of {size} KiB"));
        }
    }
}

struct Disk(PathBuf);

impl Disk {
    fn mount(at: PathBuf, size: u64) -> Disk {
        std::fs::create_dir_all(&at).expect("can be made");
        let options = format!("size={size}k,mode=0700");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "none"]).arg(&at).status();
        assert!(mounted.is_ok_and(|status| status.success()), "a file system can be mounted");
        Disk(at)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
