//! The threads of one process: how much CPU each one got, how long it waited for a CPU, and what it is doing now.

use crate::error::ObserveError;
use crate::source::{KeptFile, Shape, decimal, pid_stat, pid_status, schedstat};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// At most this many threads of a process are followed, those with the smallest ids.
const MAX_THREADS: usize = 64;

/// The threads that are followed, and what remains of those that ended.
#[derive(Debug)]
pub(super) struct Threads {
    folder: PathBuf,
    followed: Vec<Thread>,
    /// Run delay of threads that ended. Unit: nanoseconds.
    ended_delay_ns: u64,
    /// Context switches of threads that ended: voluntary and involuntary.
    ended_switches: [u64; 2],
    /// Why a schedule could not be read in this pass.
    failure: Option<String>,
}

#[derive(Debug)]
struct Thread {
    id: u32,
    schedstat: KeptFile,
    stat: KeptFile,
    status: KeptFile,
    latest: Option<schedstat::Schedstat>,
    latest_switches: [u64; 2],
    /// The schedule when the switches were read.
    switches_at: Option<schedstat::Schedstat>,
    /// What was read in this pass: CPU time and run delay.
    reading: Option<schedstat::Schedstat>,
    state: Option<u8>,
    is_gone: bool,
}

impl Thread {
    fn new(folder: &Path, id: u32) -> Thread {
        let own = folder.join(id.to_string());
        Thread {
            id,
            schedstat: KeptFile::new(own.join("schedstat"), Shape::Whole),
            stat: KeptFile::new(own.join("stat"), Shape::Whole),
            status: KeptFile::new(own.join("status"), Shape::Whole),
            latest: None,
            latest_switches: [0; 2],
            switches_at: None,
            reading: None,
            state: None,
            is_gone: false,
        }
    }

    fn read_schedule(&mut self, buffer: &mut Vec<u8>) -> Result<schedstat::Schedstat, String> {
        let text = self.schedstat.read(buffer).map_err(|error| error.to_string())?;
        let path = self.schedstat.path();
        schedstat::parse(text).map_err(|error| ObserveError::malformed(path)(error).to_string())
    }

    /// Whether it has not run since its switches were read: what does not run is not switched.
    fn has_rested(&self) -> bool {
        // A kernel that does not account schedules says zero to all.
        let known = self.reading.filter(|reading| reading.cpu_ns > 0);
        known.is_some() && known == self.switches_at
    }

    fn read_switches(&mut self, buffer: &mut Vec<u8>) -> Result<[u64; 2], String> {
        let text = self.status.read(buffer).map_err(|error| error.to_string())?;
        let (switches, path) = (pid_status::parse(text), self.status.path());
        let switches = switches.map_err(|error| ObserveError::malformed(path)(error).to_string())?;
        Ok([switches.voluntary_count, switches.involuntary_count])
    }
}

fn add(sum: &mut [u64; 2], counts: [u64; 2]) {
    sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.saturating_add(count));
}

impl Threads {
    /// The threads below `/proc/PID/task`; none are known yet.
    pub(super) fn new(folder: PathBuf) -> Threads {
        Threads { folder, followed: vec![], ended_delay_ns: 0, ended_switches: [0; 2], failure: None }
    }

    /// Ids of the threads that are followed, in the order of their columns.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.followed.iter().map(|thread| thread.id)
    }

    /// Takes up threads that came, and lets go of those that ended. Returns whether there were any.
    ///
    /// `count`: how many the process had when it was last read. While these are there and none has ended, they are not
    /// listed again.
    ///
    /// `room`: how many may be followed.
    pub(super) fn look(&mut self, count: Option<u64>, room: usize) -> bool {
        let most = room.min(MAX_THREADS);
        let known = self.followed.iter().filter(|thread| !thread.is_gone).count();
        let is_full = known == most && count.is_some_and(|count| count >= known as u64);
        if known == self.followed.len() && (count == Some(known as u64) || is_full) {
            return false;
        }
        let Some(listed) = list(&self.folder) else { return false };
        let before = self.followed.len();
        let (delay_ns, switches) = (&mut self.ended_delay_ns, &mut self.ended_switches);
        self.followed.retain(|thread| {
            let is_there = !thread.is_gone && listed.contains(&thread.id);
            if !is_there {
                *delay_ns = delay_ns.saturating_add(thread.latest.map_or(0, |latest| latest.run_delay_ns));
                add(switches, thread.latest_switches);
            }
            is_there
        });
        let mut is_changed = self.followed.len() != before;
        for id in listed {
            if self.followed.len() >= most {
                break;
            }
            if !self.followed.iter().any(|thread| thread.id == id) {
                self.followed.push(Thread::new(&self.folder, id));
                is_changed = true;
            }
        }
        is_changed
    }

    /// Lets the files of this many threads stay open.
    pub(super) fn keep_open(&mut self, count: usize) {
        for (index, thread) in self.followed.iter_mut().enumerate() {
            thread.schedstat.keep(index < count);
            thread.stat.keep(index < count);
            thread.status.keep(index < count);
        }
    }

    /// Reads each thread's schedule.
    pub(super) fn read(&mut self, buffer: &mut Vec<u8>) {
        self.failure = None;
        for thread in self.followed.iter_mut() {
            (thread.reading, thread.state) = (None, None);
            if thread.is_gone {
                continue;
            }
            match thread.read_schedule(buffer) {
                Ok(schedule) => (thread.reading, thread.latest) = (Some(schedule), Some(schedule)),
                Err(_) if !thread.stat.path().exists() => thread.is_gone = true,
                Err(reason) => self.failure = Some(reason),
            }
        }
    }

    /// Reads the state of each thread if there are several. `sampler`: the thread that reads, whose state would always
    /// be running. *Cost*: as much as four schedules for each.
    pub(super) fn read_states(&mut self, buffer: &mut Vec<u8>, sampler: u32) {
        let are_several = self.followed.len() > 1;
        for thread in self.followed.iter_mut() {
            if are_several && thread.id != sampler && !thread.is_gone {
                let text = thread.stat.read(buffer).ok();
                thread.state = text.and_then(|text| pid_stat::parse(text).ok()).map(|stat| stat.state);
            }
        }
    }

    /// Why a schedule could not be read in this pass; `None`: all could.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Sums up the context switches of all threads there were: voluntary and involuntary. *Cost*: a long file for each
    /// that has run since.
    pub(super) fn read_switches(&mut self, buffer: &mut Vec<u8>) -> Result<[u64; 2], String> {
        let mut sum = self.ended_switches;
        let mut result = Err("cannot read any thread of the process".to_owned());
        for thread in self.followed.iter_mut() {
            if thread.has_rested() {
                result = Ok(());
            } else if !thread.is_gone {
                match thread.read_switches(buffer) {
                    Ok(switches) => {
                        (thread.latest_switches, thread.switches_at) = (switches, thread.reading);
                        result = Ok(());
                    }
                    Err(reason) => result = result.or(Err(reason)),
                }
            }
            add(&mut sum, thread.latest_switches);
        }
        result.map(|()| sum)
    }

    /// Run delay of all threads there were. Unit: nanoseconds. `None`: none could be read in this pass.
    pub(super) fn run_delay_ns(&self) -> Option<u64> {
        self.followed.iter().find(|thread| thread.reading.is_some())?;
        let latest = self.followed.iter().filter_map(|thread| thread.latest);
        let delays_ns = latest.map(|latest| latest.run_delay_ns);
        Some(delays_ns.fold(self.ended_delay_ns, u64::saturating_add))
    }

    /// Threads in this state. `None`: states were not read in this pass, or there is one thread only.
    pub(super) fn count_in_state(&self, state: u8) -> Option<u64> {
        self.followed.iter().find(|thread| thread.state.is_some())?;
        Some(self.followed.iter().filter(|thread| thread.state == Some(state)).count() as u64)
    }

    /// CPU time and run delay of each thread as read in this pass. Unit: nanoseconds.
    pub(super) fn readings(&self) -> impl Iterator<Item = Option<schedstat::Schedstat>> {
        self.followed.iter().map(|thread| thread.reading)
    }
}

/// Ids of the threads of a process, smallest first; `None`: it cannot be listed.
fn list(folder: &Path) -> Option<Vec<u32>> {
    let entries = std::fs::read_dir(folder).ok()?;
    let id = |entry: std::fs::DirEntry| u32::try_from(decimal(entry.file_name().as_bytes())?).ok();
    let mut ids: Vec<u32> = entries.flatten().filter_map(id).collect();
    ids.sort_unstable();
    Some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_read_again_only_of_threads_that_have_run() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let own = folder.path().join("7");
        std::fs::create_dir(&own).expect("makes a folder");
        let write = |name: &str, text: &str| std::fs::write(own.join(name), text).expect("writes");
        let switches =
            |count: u64| format!("voluntary_ctxt_switches:\t{count}\nnonvoluntary_ctxt_switches:\t0\n");
        write("stat", "");
        let (mut threads, mut buffer) = (Threads::new(folder.path().to_path_buf()), Vec::new());
        assert!(threads.look(None, MAX_THREADS));
        let mut check = |schedule: &str, voluntary: u64, expected: u64| {
            write("schedstat", schedule);
            write("status", &switches(voluntary));
            threads.read(&mut buffer);
            assert_eq!(threads.read_switches(&mut buffer), Ok([expected, 0]), "{schedule} {voluntary}");
        };
        check("10 20 3\n", 1, 1);
        check("10 20 3\n", 2, 1);
        check("11 20 3\n", 2, 2);
        check("11 25 4\n", 3, 3);
        check("0 0 0\n", 4, 4);
        check("0 0 0\n", 5, 5);
    }
}
