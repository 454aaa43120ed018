//! How busy all CPUs of this host are, from one look to the next.

use crate::roots::Roots;
use crate::source::stat::{CPU_STATES_COUNT, Stat, parse};

/// States of a CPU in which it does nothing: idle, iowait.
const IDLE: [usize; 2] = [3, 4];

/// Looks at the CPUs of this host now and then.
#[derive(Clone, Debug, Default)]
pub struct HostBusy {
    /// Time that was spent, and of that, idle. Unit: ticks.
    last: Option<[u64; 2]>,
}

impl HostBusy {
    /// Share of the time since the last look in which CPUs were not idle. Unit: ratio. `None`: it is the first look, no time has
    /// passed, or `/proc/stat` cannot be read.
    pub fn ratio(&mut self) -> Option<f64> {
        let text = std::fs::read(Roots::host().in_proc("stat")).ok()?;
        let mut stat = Stat::default();
        parse(&text, &mut stat).ok()?;
        self.next(spent(&stat))
    }

    fn next(&mut self, now: [u64; 2]) -> Option<f64> {
        let before = self.last.replace(now)?;
        let [all, idle] = [0, 1].map(|at| now[at].saturating_sub(before[at]));
        (all > 0).then(|| (all - idle.min(all)) as f64 / all as f64)
    }
}

fn spent(stat: &Stat) -> [u64; 2] {
    let sum = |is_meant: fn(usize) -> bool| {
        let states = (0..CPU_STATES_COUNT).filter(|state| is_meant(*state));
        states.flat_map(|state| stat.cpus.iter().map(move |cpu| cpu.ticks[state])).sum()
    };
    [sum(|_| true), sum(|state| IDLE.contains(&state))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_looks_make_a_share() {
        let stat = |text: &[u8]| {
            let mut stat = Stat::default();
            parse(text, &mut stat).expect("parses");
            spent(&stat)
        };
        let mut busy = HostBusy::default();
        assert_eq!(busy.next(stat(b"cpu0 1 0 0 9 0 0 0 0\ncpu1 0 0 0 10 0 0 0 0\n")), None);
        assert_eq!(busy.next(stat(b"cpu0 4 0 1 15 0 0 0 0\ncpu1 1 0 0 18 1 0 0 0\n")), Some(0.25));
        assert_eq!(busy.next(stat(b"cpu0 4 0 1 15 0 0 0 0\ncpu1 1 0 0 18 1 0 0 0\n")), None);
    }
}
