//! The journal of a lab: every object is recorded on disk before it is created.
//!
//! Frames are those of the tuning journal; the records are specified in `docs/reference/formats/lab.md`. Reading stops before
//! the first incomplete or unknown frame; every record that was read leads to the objects created for it.

use super::files;
use super::plan::{LabPlan, LabService};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use sysdyno_record::units::WallNs;
use sysdyno_run::RunError;
use sysdyno_tune::frame::{self, Chain};

/// Longest journal that is read. Unit: bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LabRecord {
    /// The first one; then the lab's folder is made.
    Begin(Box<LabBegin>),
    /// A namespace is going to be made.
    Host { host: String, namespace: PathBuf },
    /// It was made.
    Made { host: String, inode: u64 },
    /// A pair of interfaces is going to be made, within the namespaces.
    Link { a: LinkEnd, b: LinkEnd },
    /// A share is going to be begun or changed on another host, by one more agent.
    Share(MadeShare),
    /// A share is gone.
    Gone { host: String },
    /// A volume is going to be made and mounted.
    Volume(MadeVolume),
    /// The disk of a volume is going to be limited.
    Throttle(MadeThrottle),
    /// A keeper waits to be let go.
    Keeper { service: String, process: ProcessId },
    /// The service itself runs.
    Main { service: String, process: ProcessId },
    /// A service is going to be restarted, as it says from now on.
    Service(Box<LabService>),
    /// All is up.
    Up {},
    /// It is about to be torn down.
    Down {},
}

/// Which lab, and since when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LabBegin {
    pub(super) name: String,
    pub(super) tool: String,
    pub(super) boot_id: String,
    pub(super) folder: PathBuf,
    pub(super) started_unix_ns: WallNs,
    pub(super) plan: LabPlan,
}

impl LabBegin {
    /// What no other lab of any machine is called.
    pub(super) fn id(&self) -> String {
        format!("{}/{}", self.boot_id, self.started_unix_ns.0)
    }
}

/// One end of a pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LinkEnd {
    pub(super) host: String,
    pub(super) interface: String,
}

/// A file system in a file that was made and mounted, or was going to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeVolume {
    pub(super) service: String,
    pub(super) image: PathBuf,
    pub(super) folder: PathBuf,
}

/// Limits of a device that were set, or were going to be; 0: it has no such limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeThrottle {
    pub(super) service: String,
    /// `MAJOR:MINOR`.
    pub(super) device: String,
    pub(super) groups: Vec<PathBuf>,
    /// Requests per second, reading and writing each.
    pub(super) requests_hz: u64,
    /// Bytes per second, likewise.
    pub(super) bytes_hz: u64,
}

/// How another machine is reached.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Door {
    /// Whom ssh reaches, or an agent: `fleet:NAME`.
    pub(super) place: String,
    pub(super) ssh_config: Option<PathBuf>,
    pub(super) uses_sudo: bool,
}

/// A share of the lab on another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MadeShare {
    pub(super) host: String,
    /// What the lab is called there.
    pub(super) lab: String,
    /// What distinguishes it from another one of that name.
    pub(super) of: String,
    pub(super) door: Door,
    /// Agents that may be at work on it.
    pub(super) agents: Vec<AgentProcess>,
}

/// A process of an agent on another host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentProcess {
    /// The boot of that host.
    pub boot_id: String,
    /// The process.
    pub process: ProcessId,
}

/// A process that no other one of this boot is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: u32,
    /// When it started. Unit: ticks of `USER_HZ` since boot.
    pub start_ticks: u64,
}

/// What the records of a journal add up to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MadeLab {
    pub(super) begin: LabBegin,
    pub(super) hosts: Vec<MadeHost>,
    pub(super) shares: Vec<MadeShare>,
    pub(super) volumes: Vec<MadeVolume>,
    pub(super) throttles: Vec<MadeThrottle>,
    pub(super) keepers: Vec<(String, ProcessId)>,
    pub(super) mains: Vec<(String, ProcessId)>,
    pub(super) is_up: bool,
    pub(super) is_going_down: bool,
}

/// A namespace that was made, or was going to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MadeHost {
    pub(super) host: String,
    pub(super) namespace: PathBuf,
    /// `None`: it was not said any more that it was made.
    pub(super) inode: Option<u64>,
}

impl MadeLab {
    fn of(records: Vec<LabRecord>) -> Option<MadeLab> {
        let mut records = records.into_iter();
        let Some(LabRecord::Begin(begin)) = records.next() else { return None };
        let mut made = MadeLab {
            begin: *begin,
            hosts: Vec::new(),
            shares: Vec::new(),
            volumes: Vec::new(),
            throttles: Vec::new(),
            keepers: Vec::new(),
            mains: Vec::new(),
            is_up: false,
            is_going_down: false,
        };
        for record in records {
            match record {
                LabRecord::Begin(_) => return None,
                LabRecord::Host { host, namespace } => {
                    made.hosts.push(MadeHost { host, namespace, inode: None });
                }
                LabRecord::Made { host, inode } => {
                    let known = made.hosts.iter_mut().find(|known| known.host == host);
                    known.into_iter().for_each(|known| known.inode = Some(inode));
                }
                LabRecord::Link { .. } => {}
                LabRecord::Share(share) => made.add_share(share),
                LabRecord::Gone { host } => made.shares.retain(|share| share.host != host),
                LabRecord::Volume(volume) => made.volumes.push(volume),
                LabRecord::Throttle(throttle) => made.throttles.push(throttle),
                LabRecord::Keeper { service, process } => made.keepers.push((service, process)),
                LabRecord::Main { service, process } => made.mains.push((service, process)),
                LabRecord::Service(now) => made.begin.plan.replace(&now),
                LabRecord::Up {} => made.is_up = true,
                LabRecord::Down {} => made.is_going_down = true,
            }
        }
        Some(made)
    }

    /// Agents of a share add up.
    fn add_share(&mut self, share: MadeShare) {
        match self.shares.iter_mut().find(|known| known.host == share.host) {
            Some(known) => known.agents.extend(share.agents),
            None => self.shares.push(share),
        }
    }
}

/// A journal that is appended to; its lock is held.
#[derive(Debug)]
pub(super) struct LabJournal {
    file: File,
    path: PathBuf,
    chain: Chain,
    length: u64,
}

impl LabJournal {
    /// Writes `begin` into a new journal, and puts it on the disk before it gets its name.
    pub(super) fn create(path: &Path, begin: LabBegin) -> Result<LabJournal, RunError> {
        let draft = path.with_extension("new");
        files::remove_file(&draft).map_err(cannot("remove", &draft))?;
        let file = files::open(&draft, OFlags::EXCL).map_err(cannot("create", &draft))?;
        let mut journal = LabJournal { file, path: path.to_owned(), chain: Chain::default(), length: 0 };
        journal.file.try_lock().map_err(|error| cannot("lock", &draft)(error.into()))?;
        journal.append(&LabRecord::Begin(Box::new(begin)))?;
        files::rename(&draft, path).map_err(cannot("rename", &draft))?;
        Ok(journal)
    }

    /// Opens a journal to append to it, and returns its state; `None` if its begin record cannot be read.
    ///
    /// # Errors
    /// Somebody else is at it, or it cannot be read.
    pub(super) fn open(path: &Path) -> Result<(LabJournal, Option<MadeLab>), RunError> {
        let file = files::open(path, OFlags::empty()).map_err(cannot("open", path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let busy = io::Error::other("another sysdyno process is using this lab");
                return Err(cannot("use", path)(busy));
            }
            Err(TryLockError::Error(error)) => return Err(cannot("lock", path)(error)),
        }
        let mut journal = LabJournal { file, path: path.to_owned(), chain: Chain::default(), length: 0 };
        let bytes = bounded(&mut journal.file).map_err(cannot("read", path))?;
        let frames = frame::read(&bytes);
        (journal.chain, journal.length) = (frames.chain, frames.length as u64);
        let made = sum(&frames.texts);
        Ok((journal, made))
    }

    /// Appends a record and puts it on the disk.
    pub(super) fn append(&mut self, record: &LabRecord) -> Result<(), RunError> {
        let json =
            serde_json::to_string(record).map_err(|error| cannot("write", &self.path)(error.into()))?;
        let text = self.chain.frame(&json);
        let write = |file: &mut File, at: u64| {
            file.set_len(at)?;
            file.seek(SeekFrom::Start(at))?;
            file.write_all(text.as_bytes())?;
            file.sync_data()
        };
        write(&mut self.file, self.length).map_err(cannot("write", &self.path))?;
        self.length += text.len() as u64;
        Ok(())
    }

    /// Removes the journal: nothing that it speaks of is there any more.
    pub(super) fn remove(self) -> Result<(), RunError> {
        files::remove_file(&self.path).map_err(cannot("remove", &self.path))?;
        self.path.parent().map_or(Ok(()), files::sync_folder).map_err(cannot("sync", &self.path))
    }
}

/// Reads a journal without its lock; `None` if it is not there, or has no begin that can be read.
pub(super) fn read(path: &Path) -> Result<Option<MadeLab>, RunError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map_err(io::Error::from);
    match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot("open", path)(error)),
        Ok(file) => {
            let bytes = bounded(&mut File::from(file)).map_err(cannot("read", path))?;
            Ok(sum(&frame::read(&bytes).texts))
        }
    }
}

fn sum(texts: &[&str]) -> Option<MadeLab> {
    MadeLab::of(texts.iter().map_while(|text| serde_json::from_str(text).ok()).collect())
}

fn bounded(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("longer than 16 MiB"));
    }
    Ok(bytes)
}

fn cannot(operation: &'static str, path: &Path) -> impl Fn(io::Error) -> RunError {
    let object = format!("journal '{}'", path.display());
    move |source| RunError::Process { operation, object: object.clone(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin() -> LabBegin {
        let (hosts, links, services) = (vec![], vec![], vec![]);
        let (switches, outside) = ([].into(), [].into());
        let plan = LabPlan { name: "a".into(), hosts, switches, outside, share: None, links, services };
        let (boot_id, folder) = ("b".to_owned(), PathBuf::from("/x"));
        LabBegin { name: "a".into(), tool: "0".into(), boot_id, folder, started_unix_ns: WallNs(1), plan }
    }

    #[test]
    fn every_prefix_of_a_journal_says_what_may_have_been_made() {
        let folder = tempfile::tempdir().expect("can be made");
        let path = folder.path().join("a.wal");
        let mut journal = LabJournal::create(&path, begin()).expect("can be made");
        let namespace = PathBuf::from("/run/netns/sysdyno-a-h");
        journal.append(&LabRecord::Host { host: "h".into(), namespace }).expect("can be written");
        journal.append(&LabRecord::Made { host: "h".into(), inode: 7 }).expect("can be written");
        drop(journal);
        let bytes = std::fs::read(&path).expect("can be read");
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        for length in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..length]).expect("can be written");
            let made = read(&path).expect("can be read");
            let hosts = made.as_ref().map(|made| made.hosts.len());
            let inode = made.and_then(|made| made.hosts.first().and_then(|host| host.inode));
            assert_eq!(hosts.is_some(), length >= ends[0], "{length}");
            assert_eq!(hosts == Some(1), length >= ends[1], "{length}");
            assert_eq!(inode, (length >= ends[2]).then_some(7), "{length}");
        }
    }

    #[test]
    fn a_share_is_known_with_all_its_agents_until_it_is_gone() {
        let folder = tempfile::tempdir().expect("can be made");
        let path = folder.path().join("a.wal");
        let mut journal = LabJournal::create(&path, begin()).expect("can be made");
        let share = |pid| MadeShare {
            host: "h".into(),
            lab: "a-h".into(),
            of: begin().id(),
            door: Door { place: "u@h".into(), ssh_config: None, uses_sudo: false },
            agents: vec![AgentProcess { boot_id: "b".into(), process: ProcessId { pid, start_ticks: 1 } }],
        };
        let agents = || -> Vec<Vec<u32>> {
            let made = read(&path).expect("can be read").expect("has a begin");
            made.shares.iter().map(|one| one.agents.iter().map(|agent| agent.process.pid).collect()).collect()
        };
        journal.append(&LabRecord::Share(share(7))).expect("can be written");
        journal.append(&LabRecord::Share(share(8))).expect("can be written");
        assert_eq!(agents(), [[7, 8]]);
        journal.append(&LabRecord::Gone { host: "h".into() }).expect("can be written");
        assert!(agents().is_empty());
    }

    #[test]
    fn a_journal_has_one_user_at_a_time() {
        let folder = tempfile::tempdir().expect("can be made");
        let path = folder.path().join("a.wal");
        let journal = LabJournal::create(&path, begin()).expect("can be made");
        assert!(LabJournal::open(&path).is_err());
        drop(journal);
        // A process that another test forks has a copy of the lock until it runs its own program.
        let opened = (0..1_000).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            LabJournal::open(&path).ok()
        });
        let (journal, made) = opened.expect("is free");
        assert_eq!(made.map(|made| made.begin), Some(begin()));
        journal.remove().expect("can be removed");
        assert_eq!(read(&path).expect("can be read"), None);
    }
}
