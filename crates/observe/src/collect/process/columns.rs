//! The columns of a process and of a thread.

use sysdyno_record::column;
use sysdyno_record::series::Column;

/// What is read of a process; fields in the order of its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProcessValues {
    pub(super) cpu_us: Option<u64>,
    pub(super) user_us: Option<u64>,
    pub(super) system_us: Option<u64>,
    pub(super) reaped_us: Option<u64>,
    pub(super) run_delay_us: Option<u64>,
    pub(super) rss_bytes: Option<u64>,
    pub(super) major_faults_count: Option<u64>,
    pub(super) threads_count: Option<u64>,
    pub(super) running_threads_count: Option<u64>,
    pub(super) uninterruptible_threads_count: Option<u64>,
    pub(super) fds_count: Option<u64>,
    pub(super) fds_limit_count: Option<u64>,
    pub(super) voluntary_switches_count: Option<u64>,
    pub(super) involuntary_switches_count: Option<u64>,
    pub(super) read_bytes: Option<u64>,
    pub(super) written_bytes: Option<u64>,
}

/// Columns of a process.
pub(super) const PROCESS_WIDTH: usize = 16;
/// Columns of a thread.
pub(super) const THREAD_WIDTH: usize = 2;

impl ProcessValues {
    /// The values in the order of [`process_columns`].
    pub(super) fn in_order(&self) -> [Option<u64>; PROCESS_WIDTH] {
        [
            self.cpu_us,
            self.user_us,
            self.system_us,
            self.reaped_us,
            self.run_delay_us,
            self.rss_bytes,
            self.major_faults_count,
            self.threads_count,
            self.running_threads_count,
            self.uninterruptible_threads_count,
            self.fds_count,
            self.fds_limit_count,
            self.voluntary_switches_count,
            self.involuntary_switches_count,
            self.read_bytes,
            self.written_bytes,
        ]
    }
}

/// Where a value comes from; what fails, fails for all values of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnSource {
    Stat,
    Schedule,
    Descriptors,
    Limits,
    Switches,
    Storage,
}

/// Number of sources.
pub(super) const SOURCES_COUNT: usize = 6;

/// The source of each value of [`ProcessValues`].
pub(super) const SOURCES: [ColumnSource; PROCESS_WIDTH] = [
    ColumnSource::Stat,
    ColumnSource::Stat,
    ColumnSource::Stat,
    ColumnSource::Stat,
    ColumnSource::Schedule,
    ColumnSource::Stat,
    ColumnSource::Stat,
    ColumnSource::Stat,
    ColumnSource::Stat,
    ColumnSource::Stat,
    ColumnSource::Descriptors,
    ColumnSource::Limits,
    ColumnSource::Switches,
    ColumnSource::Switches,
    ColumnSource::Storage,
    ColumnSource::Storage,
];

/// Columns of a process, in the order of [`ProcessValues`].
pub(super) fn process_columns(scope: &str) -> [Column; PROCESS_WIDTH] {
    [
        column::PROCESS_CPU.of(scope),
        column::PROCESS_USER.of(scope),
        column::PROCESS_SYSTEM.of(scope),
        column::PROCESS_REAPED.of(scope),
        column::PROCESS_RUN_DELAY.of(scope),
        column::PROCESS_RSS.of(scope),
        column::PROCESS_MAJOR_FAULTS.of(scope),
        column::PROCESS_THREADS.of(scope),
        column::PROCESS_RUNNING_THREADS.of(scope),
        column::PROCESS_UNINTERRUPTIBLE_THREADS.of(scope),
        column::PROCESS_FDS.of(scope),
        column::PROCESS_FDS_LIMIT.of(scope),
        column::PROCESS_VOLUNTARY_SWITCHES.of(scope),
        column::PROCESS_INVOLUNTARY_SWITCHES.of(scope),
        column::PROCESS_READ_BYTES.of(scope),
        column::PROCESS_WRITTEN_BYTES.of(scope),
    ]
}

/// Columns of a thread: CPU time, run-queue delay.
pub(super) fn thread_columns(scope: &str) -> [Column; THREAD_WIDTH] {
    [column::THREAD_CPU.of(scope), column::THREAD_RUN_DELAY.of(scope)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_under_their_columns() {
        let values = ProcessValues { fds_limit_count: Some(7), ..ProcessValues::default() };
        let position = values.in_order().iter().position(Option::is_some).expect("one is set");
        assert_eq!(process_columns("process:1")[position].name, "process.fds_limit_count");
    }
}
