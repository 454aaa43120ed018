//! Did one side run on a machine that there is not?

use super::{Examine, Gate, Seen};
use crate::compare::size::emulator;
use crate::format::name;
use sysdyno_record::facts::HostFacts;

/// C17.
pub(in crate::compare) const EMULATED: Gate = Gate {
    id: "C17",
    name: "emulated",
    meaning: "One side ran under an emulator such as qemu-user, which translates every instruction: its \
              numbers are those of the emulator, and say nothing of the machine that it stands for.",
    thresholds: &[],
    remedy: "measure on a real machine of that kind",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| {
        Seen::refused(difference(reference.machine_facts(), run.machine_facts(), &run.label)?)
    }),
};

/// What is said of a host beside the first; `None`: both are emulated alike, or not at all.
pub(in crate::compare) fn difference(a: &HostFacts, b: &HostFacts, label: &str) -> Option<String> {
    let told = |facts| {
        emulator(facts)
            .map_or_else(|| "not emulated".to_owned(), |emulator| format!("emulated ({})", name(emulator)))
    };
    let (a, b) = (told(a), told(b));
    (a != b).then(|| format!("A was {a}, {label} was {b}"))
}
