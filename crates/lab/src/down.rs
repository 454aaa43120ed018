//! Tears down a lab: removes everything that its journal says was created or about to be, and nothing else.
//!
//! It can be killed and repeated at any point: every step skips what is already gone, and the journal is removed last.

use super::journal::{LabJournal, LabRecord, MadeHost, MadeLab, ProcessId};
use super::labs::Labs;
use super::process::{self, Held};
use super::values::recipe_of;
use super::{files, limits, namespace, volume};
use rustix::process::Signal;
use std::io;
use std::time::Duration;
use sysdyno_observe::{cgroup_root, host_processes, network_namespace};
use sysdyno_run::RunError;

/// What a keeper gets beyond the time that its service has to stop.
const KEEPER_MARGIN: Duration = Duration::from_secs(5);

/// How long a journal may be held by a process that was just killed.
const LOCK_PATIENCE: u32 = 100;

/// After what time it is tried again: a lock cannot be waited for with an end.
const LOCK_PAUSE: Duration = Duration::from_millis(10);

impl Labs {
    /// Takes a lab away, however far it was made; notes say what was left alone.
    ///
    /// # Errors
    /// There is no such lab, another process is using it, or a part of it cannot be removed.
    pub fn down(&self, name: &str, told: &mut dyn FnMut(&str)) -> Result<Vec<String>, RunError> {
        let cannot =
            |source| RunError::Process { operation: "tear down", object: format!("lab '{name}'"), source };
        let path = self.journal_of(name);
        let is_name = super::plan::is_kept_name(name);
        if !is_name || !path.exists() {
            // A draft that a death has left speaks of nothing.
            if is_name {
                files::remove_file(&path.with_extension("new")).map_err(cannot)?;
            }
            return Err(self.unknown(name));
        }
        let (mut journal, made) = self.open_patiently(name)?;
        let Some(made) = made else {
            let cause = format!(
                "its journal cannot be read\nhint: check '{}' and the output of `ip netns`",
                path.display()
            );
            return Err(cannot(io::Error::other(cause)));
        };
        journal.append(&LabRecord::Down {})?;
        let mut notes = Vec::new();
        let failures = self.take_shares(&made, &mut journal, told, &mut notes);
        self.put_back(name, &mut notes);
        let is_this_boot = sysdyno_observe::boot_id().is_some_and(|boot| boot == made.begin.boot_id);
        if is_this_boot {
            stop_services(&made, |_| true, told);
            for service in &made.begin.plan.services {
                let group = limits::group_name(name, &service.name);
                limits::remove_left(&cgroup_root(), &group).map_err(cannot)?;
            }
            volume::remove(&made, |_| true, &mut notes).map_err(cannot)?;
            for host in made.hosts.iter().rev() {
                let is_here = made.begin.plan.is_here(&host.host);
                remove_host(host, is_here, &mut notes).map_err(cannot)?;
            }
            self.remove_root().map_err(cannot)?;
        }
        files::remove_tree(&self.folder_of(name)).map_err(cannot)?;
        if !failures.is_empty() {
            let hint =
                format!("hint: once this is fixed, `sysdyno lab down {name}` removes what is left there");
            return Err(RunError::Refused(format!("{}\n{hint}", failures.join("\n"))));
        }
        journal.remove()?;
        Ok(notes)
    }

    /// Opens a journal; one that is held by a child of a process that was just killed is free in a moment.
    pub(super) fn open_patiently(&self, name: &str) -> Result<(LabJournal, Option<MadeLab>), RunError> {
        let path = self.journal_of(name);
        for _ in 0..LOCK_PATIENCE {
            if let Ok(opened) = LabJournal::open(&path) {
                return Ok(opened);
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        LabJournal::open(&path)
    }

    /// Takes the folder of names away if a lab made it, and nothing is in it any more.
    fn remove_root(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        let mark = self.root_mark();
        let Ok(boot_id) = std::fs::read_to_string(&mark) else { return Ok(()) };
        let is_over = sysdyno_observe::boot_id().is_none_or(|boot| boot != boot_id);
        if is_over || namespace::remove_root()? {
            files::remove_file(&mark)?;
        }
        Ok(())
    }
}

/// Stops keepers and with them services that are meant, last first, then kills what a keeper that was killed has left.
pub(super) fn stop_services(made: &MadeLab, is_meant: impl Fn(&str) -> bool, told: &mut dyn FnMut(&str)) {
    for (service, id) in made.keepers.iter().rev().filter(|(service, _)| is_meant(service)) {
        let Some(keeper) = Held::of(*id) else { continue };
        told(&format!("{}: stopping {service}", made.begin.name));
        stop(made, service, &keeper);
    }
    for (service, main) in made.mains.iter().rev().filter(|(service, _)| is_meant(service)) {
        kill_session(made, service, *main);
    }
}

fn stop(made: &MadeLab, service: &str, keeper: &Held) {
    let recipe = made.begin.plan.service(service).and_then(|service| recipe_of(service).ok());
    let limit = recipe.map_or(KEEPER_MARGIN, |recipe| recipe.start.stop_within() + KEEPER_MARGIN);
    keeper.signal(Signal::TERM);
    if !keeper.wait(limit).unwrap_or(false) {
        keeper.kill_with_descendants();
    }
}

/// Kills processes that are in the session of a service and in a namespace of its lab. A session's id is not given to
/// another one as long as a process is in it.
fn kill_session(made: &MadeLab, service: &str, main: ProcessId) {
    // A relay is alone on what the journal knows as a host of its name.
    let host = made.begin.plan.service(service).map_or(service, |service| &service.host);
    let made_host = made.hosts.iter().find(|known| known.host == host);
    let Some(inode) = made_host.and_then(|known| known.inode) else { return };
    process::kill_all(|process| {
        process.session_id == main.pid
            && process.start_ticks >= main.start_ticks
            && network_namespace(process.pid) == Some(inode)
    });
}

/// Takes the name of a host away, and with it the host if the lab made it.
fn remove_host(host: &MadeHost, is_here: bool, notes: &mut Vec<String>) -> io::Result<()> {
    let now = namespace::inode(&host.namespace);
    if now.zip(host.inode).is_some_and(|(now, inode)| now != inode) {
        let path = host.namespace.display();
        notes.push(format!("'{path}' is not the one that the lab created; it was left alone"));
        return Ok(());
    }
    if let Some(inode) = host.inode.or(now).filter(|_| !is_here) {
        let is_in_it = |pid: u32| network_namespace(pid) == Some(inode);
        let inside = host_processes().into_iter().filter(|process| is_in_it(process.pid));
        notes.extend(inside.map(|process| {
            let command = process.command.escape_debug();
            format!(
                "process {} ({command}) does not belong to the lab and keeps running without host '{}'",
                process.pid, host.host
            )
        }));
    }
    namespace::remove(&host.namespace)
}
