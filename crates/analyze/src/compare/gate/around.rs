//! Were the circumstances of the runs the same: schedule, caches, neighbors, machines, tools?

use super::{Examine, Gate, Seen};
use crate::facts::NEARLY_SAME;
use crate::format::{list, name, percent};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::facts::{Fact, HostFacts};

const IN_STEP: Threshold =
    Threshold::new("completed ÷ scheduled requests of an open load", 0.99, "ratio", HOUSE);

/// C10.
pub(super) const BEHIND_SCHEDULE: Gate = Gate {
    id: "C10",
    name: "behind-schedule",
    meaning: "A server did not keep up with the offered rate: its latencies just grow with the length of the \
              run.",
    thresholds: &[IN_STEP],
    remedy: "compare at a rate that both can carry; `sysdyno run` finds it",
    can_be_allowed: true,
    examine: Examine::Run(|run| {
        let achieved = run.work.achieved_ratio.filter(|achieved| *achieved < IN_STEP.value)?;
        Seen::warned(format!("{} completed {} of the offered rate", run.label, percent(achieved)))
    }),
};

const DISK_NOTICED: Threshold = Threshold::new(
    "difference between bytes read from disks ÷ bytes received, to warn",
    0.02,
    "ratio",
    HOUSE,
);
const HITS_NOTICED: Threshold =
    Threshold::new("difference between hit ratios, to warn", 0.02, "ratio", HOUSE);
const HITS_REFUSED: Threshold = Threshold::new("difference between hit ratios", 0.10, "ratio", HOUSE);

/// C11.
pub(super) const CACHE_STATE: Gate = Gate {
    id: "C11",
    name: "cache-state",
    meaning: "One run was served from memory and the other from disk, or had a higher cache hit ratio. Disk \
              reads are counted for the whole host, so they only warn.",
    thresholds: &[DISK_NOTICED, HITS_NOTICED, HITS_REFUSED],
    remedy: "warm both up equally, or drop the caches before both",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| {
        if let (Some(a), Some(b)) = (reference.around.hit_ratio, run.around.hit_ratio) {
            let (first, second) = (percent(a), percent(b));
            let text = format!("the hit ratio was {first} in A, {second} in {}", run.label);
            if let Some(seen) = graded((a - b).abs(), &HITS_NOTICED, &HITS_REFUSED, text) {
                return Some(seen);
            }
        }
        let (a, b) = (reference.around.disk_read_ratio?, run.around.disk_read_ratio?);
        let text = format!(
            "disk reads made up {} of the bytes received in A, {} in {}",
            percent(a),
            percent(b),
            run.label
        );
        // Who had the disks read is not known.
        if (a - b).abs() > DISK_NOTICED.value { Seen::warned(text) } else { None }
    }),
};

const FOREIGN_NOTICED: Threshold =
    Threshold::new("CPU of other processes ÷ CPU of the host, to warn", 0.01, "ratio", HOUSE);
const FOREIGN_APART: Threshold =
    Threshold::new("difference between the CPU of other processes ÷ CPU of the host", 0.05, "ratio", HOUSE);
const FOREIGN_MUCH: Threshold =
    Threshold::new("CPU of other processes ÷ CPU of the host, in either run", 0.20, "ratio", HOUSE);

/// C12.
pub(super) const FOREIGN_LOAD: Gate = Gate {
    id: "C12",
    name: "foreign-load",
    meaning: "Other processes used the CPUs: more in one run than in the other, or a lot in both.",
    thresholds: &[FOREIGN_NOTICED, FOREIGN_APART, FOREIGN_MUCH],
    remedy: "stop them and measure again; or, if they are part of the service, add them with --watch-pid",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| {
        let (a, b) = (reference.around.foreign_ratio?, run.around.foreign_ratio?);
        let text = format!(
            "other processes used {} of the CPU during A, {} during {}",
            percent(a),
            percent(b),
            run.label
        );
        if a.max(b) > FOREIGN_MUCH.value {
            return Seen::refused(text);
        }
        apart_or_high([a, b], &FOREIGN_NOTICED, &FOREIGN_APART, text)
    }),
};

const STEAL_NOTICED: Threshold = Threshold::new("steal time, to warn", 0.005, "ratio", HOUSE);
const STEAL_APART: Threshold = Threshold::new("difference between steal times", 0.01, "ratio", HOUSE);

/// C13.
pub(super) const STEAL: Gate = Gate {
    id: "C13",
    name: "steal",
    meaning: "The hypervisor stole more CPU time in one run than in the other.",
    thresholds: &[STEAL_NOTICED, STEAL_APART],
    remedy: "use a host with dedicated CPUs, or repeat both at a quieter time",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| {
        let (a, b) = (reference.around.steal_ratio?, run.around.steal_ratio?);
        let text = format!(
            "the hypervisor stole {} of the CPU time in A, {} in {}",
            percent(a),
            percent(b),
            run.label
        );
        apart_or_high([a, b], &STEAL_NOTICED, &STEAL_APART, text)
    }),
};

/// Refused from one limit on, warned from the other.
fn graded(value: f64, noticed: &Threshold, refused: &Threshold, text: String) -> Option<Seen> {
    match value {
        value if value > refused.value => Seen::refused(text),
        value if value > noticed.value => Seen::warned(text),
        _ => None,
    }
}

/// Refused where two shares are far apart, warned where one is high.
fn apart_or_high([a, b]: [f64; 2], high: &Threshold, apart: &Threshold, text: String) -> Option<Seen> {
    if (a - b).abs() > apart.value {
        return Seen::refused(text);
    }
    if a.max(b) > high.value { Seen::warned(text) } else { None }
}

/// Facts that make another machine, or another kernel.
const MACHINE_FACTS: &[&str] = &[
    "machine.vendor",
    "machine.product",
    "machine.hypervisor",
    "cpu.model",
    "cpu.microcode",
    "cpu.is_virtual",
    "cpu.sockets_count",
    "cpu.cores_count",
    "cpu.online_count",
    "cpu.smt",
    "cpu.frequency_governor",
    "cpu.frequency_boost",
    "memory.total_bytes",
    "kernel.release",
    "kernel.version",
    "kernel.cmdline",
    "clock.source",
];

/// C14.
pub(super) const OTHER_MACHINE: Gate = Gate {
    id: "C14",
    name: "other-machine",
    meaning: "The runs are from different machines or kernels, so the comparison covers machine and server \
              together.",
    thresholds: &[NEARLY_SAME],
    remedy: "see `sysdyno facts RUN RUN` for all differences",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| {
        let differs = |fact: &&&str| is_apart(&reference.facts, &run.facts, fact);
        let differing: Vec<String> =
            MACHINE_FACTS.iter().filter(differs).map(|fact| (*fact).to_owned()).collect();
        if differing.is_empty() {
            return None;
        }
        Seen::warned(format!("{} had a different {}", run.label, list(&differing)))
    }),
};

/// Whether both hosts tell this fact, and tell it differently.
fn is_apart(a: &HostFacts, b: &HostFacts, fact: &str) -> bool {
    match (a.facts.get(fact), b.facts.get(fact)) {
        (Some(Fact::Number(a)), Some(Fact::Number(b))) => {
            (a - b).abs() > NEARLY_SAME.value * a.abs().max(b.abs())
        }
        (Some(Fact::Text(a)), Some(Fact::Text(b))) => a != b,
        _ => false,
    }
}

/// C15.
pub(super) const OTHER_TOOL: Gate = Gate {
    id: "C15",
    name: "other-tool",
    meaning: "The runs were made with different versions of sysdyno, which may measure differently.",
    thresholds: &[],
    remedy: "measure both with the same version",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| {
        if reference.version == run.version {
            return None;
        }
        Seen::warned(format!(
            "A was made with sysdyno {}, {} with {}",
            name(&reference.version),
            run.label,
            name(&run.version)
        ))
    }),
};
