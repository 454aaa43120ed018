//! The threads of processes, for users who may open events of their own threads, but not of whole CPUs.

/// A thread and its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProcessThread {
    pub(super) pid: u32,
    pub(super) tid: u32,
}

/// The threads of these processes as they are now; none of one that is gone.
pub(super) fn threads_of(pids: &[u32]) -> Vec<ProcessThread> {
    pids.iter().flat_map(|pid| tids(*pid).map(|tid| ProcessThread { pid: *pid, tid })).collect()
}

/// Source: the names in `/proc/PID/task`.
fn tids(pid: u32) -> impl Iterator<Item = u32> {
    let listed = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten();
    listed.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_of_a_process_are_listed_and_none_of_one_that_is_gone() {
        let pid = std::process::id();
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get()).expect("somebody listens");
            let _ = ended.recv();
        });
        let tid = told.recv().expect("it runs").unsigned_abs();
        let threads = threads_of(&[pid, u32::MAX]);
        drop(end);
        thread.join().expect("it ends");
        assert!(threads.contains(&ProcessThread { pid, tid }), "{tid} is not in {threads:?}");
        assert!(threads.iter().all(|thread| thread.pid == pid), "{threads:?}");
    }
}
