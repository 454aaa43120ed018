//! `/proc/stat`: time per CPU and a few totals.
//!
//! Source: `fs/proc/stat.c`, `show_stat`; proc(5).

use super::{Fields, decimal, lines};
use crate::error::ParseError;

/// The states that a CPU's time is divided into: user, nice, system, idle, iowait, irq, softirq, steal.
pub const CPU_STATES_COUNT: usize = 8;

/// Time of one CPU since boot, by state. Unit: ticks of `USER_HZ`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTimes {
    /// The CPU's number.
    pub cpu: u32,
    /// Ticks in the order of the kernel.
    pub ticks: [u64; CPU_STATES_COUNT],
}

/// The fields taken from `/proc/stat`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// One entry per online CPU.
    pub cpus: Vec<CpuTimes>,
    /// Context switches since boot; `None` if the line is missing.
    pub context_switches_count: Option<u64>,
    /// Processes and threads created since boot; `None` if the line is missing.
    pub forks_count: Option<u64>,
    /// Tasks that are running or ready; `None` if the line is missing.
    pub running_count: Option<u64>,
    /// Boot time; `None` if the line is missing. Unit: seconds since 1970.
    pub boot_unix_s: Option<u64>,
}

/// Reads the text into `out`, whose memory is reused.
pub fn parse(text: &[u8], out: &mut Stat) -> Result<(), ParseError> {
    out.cpus.clear();
    (out.context_switches_count, out.forks_count, out.running_count, out.boot_unix_s) =
        (None, None, None, None);
    for (index, line) in lines(text).enumerate() {
        let mut fields = Fields::of(line);
        let Some(name) = fields.next() else { continue };
        let total = match name {
            b"ctxt" => &mut out.context_switches_count,
            b"processes" => &mut out.forks_count,
            b"procs_running" => &mut out.running_count,
            b"btime" => &mut out.boot_unix_s,
            _ => {
                if let Some(cpu) = name.strip_prefix(b"cpu").filter(|number| !number.is_empty()) {
                    out.cpus.push(parse_cpu(cpu, fields).ok_or(ParseError::at(index, "times of a cpu"))?);
                }
                continue;
            }
        };
        *total = Some(fields.decimal().ok_or(ParseError::at(index, "a count"))?);
    }
    if out.cpus.is_empty() { Err(ParseError::at(0, "a line per cpu")) } else { Ok(()) }
}

fn parse_cpu(number: &[u8], mut fields: Fields<'_>) -> Option<CpuTimes> {
    let cpu = u32::try_from(decimal(number)?).ok()?;
    let mut ticks = [0; CPU_STATES_COUNT];
    for tick in &mut ticks {
        *tick = fields.decimal()?;
    }
    Some(CpuTimes { cpu, ticks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_and_totals_are_read() {
        let text = b"cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu3 8 7 6 5 4 3 2 1\nintr 5 1 2\n\
                     ctxt 77\nbtime 1700000000\nprocesses 5\nprocs_running 2\nfuture x\n";
        let mut stat = Stat::default();
        parse(text, &mut stat).expect("parses");
        assert_eq!(stat.cpus[0], CpuTimes { cpu: 0, ticks: [1, 2, 3, 4, 5, 6, 7, 8] });
        assert_eq!(stat.cpus[1].cpu, 3);
        assert_eq!(
            (stat.context_switches_count, stat.forks_count, stat.running_count, stat.boot_unix_s),
            (Some(77), Some(5), Some(2), Some(1_700_000_000))
        );
        parse(b"cpu0 1 2 3 4 5 6 7 8\n", &mut stat).expect("parses");
        assert_eq!((stat.cpus.len(), stat.context_switches_count), (1, None));
    }

    #[test]
    fn garbage_is_refused() {
        let check = |text: &str, line: usize| {
            let error = parse(text.as_bytes(), &mut Stat::default()).expect_err(text);
            assert_eq!(error.line, line, "{text}");
        };
        check("", 1);
        check("cpu 1 2 3 4 5 6 7 8\n", 1);
        check("cpu0 1 2 3 4 5 6 7\n", 1);
        check("cpu0 1 2 3 4 5 6 7 8\ncpu1 1 2 3 4 5 6 7 -8\n", 2);
        check("cpu0 1 2 3 4 5 6 7 8\nctxt\n", 2);
        check("cpuX 1 2 3 4 5 6 7 8\n", 1);
    }
}
