//! Who used the CPUs in the measured phases (the server, the generator, or somebody else), and whether the server had any
//! CPU to spare.

use crate::path::since_known;
use crate::readings::{Window, ratio};
use crate::threshold::Threshold;
use crate::view::TrialView;
use sysdyno_record::event::ProcessRole;

/// CPU of the generator on the server's machine; `None`: it has another one, or nothing was read. Unit: CPUs.
pub(crate) fn generator_cpus(view: &TrialView, window: &Window) -> Option<f64> {
    let read = window.process_cpus(&view.processes(ProcessRole::Generator));
    // Where the server has a host of its own, a process of that number there is another one.
    let read = read.filter(|_| view.server.is_none());
    let used = read.or_else(|| ratio(view.end.summary.generator.cpu_seconds, view.seconds()));
    used.filter(|_| view.shares_machine())
}

/// CPU of processes outside the measurement on the server's machine, in a window of its readings. Unit: CPUs; negative
/// where the kernel's accounts overlap.
///
/// Time in interrupts belongs to nobody and is left out, so that the figure errs on the low side.
/// `None`: the server's processes are not known, or nothing was read.
pub(crate) fn foreign_cpus<'a>(view: &TrialView<'a>, window: &Window<'a>) -> Option<f64> {
    let window = &since_known(view, window.clone());
    let machine = window.machine()?;
    let targets = window.cpus_with_started(&view.processes(ProcessRole::Target))?;
    let generator = generator_cpus(view, window).or((!view.shares_machine()).then_some(0.0))?;
    let burnt = window.process_cpus(&view.processes(ProcessRole::Burner)).unwrap_or(0.0);
    Some((machine.user_ratio + machine.system_ratio) * machine.cpus as f64 - targets - generator - burnt)
}

/// Busy share of the machine without the processes outside the measurement; `None` if nothing was read.
pub(crate) fn own_busy_ratio<'a>(view: &TrialView<'a>, window: &Window<'a>) -> Option<f64> {
    let machine = window.machine()?;
    let foreign = foreign_cpus(view, window).and_then(|foreign| ratio(foreign.max(0.0), machine.cpus as f64));
    Some((machine.busy_ratio - foreign.unwrap_or(0.0)).max(0.0))
}

/// A server is taken to be at its limit when the machine, or one of its threads, is busier than this.
pub(crate) const SERVER_SATURATED: Threshold = Threshold::new(
    "CPU use of the host, or of one CPU by a server thread, at which the server has no CPU left",
    0.90,
    "ratio",
    "house value, between netdata's warning at 85% and 100%",
);

/// Whether the server had no CPU left in the measured phases; `None` if nothing is known about its CPUs.
pub(crate) fn is_server_saturated(view: &TrialView) -> Option<bool> {
    let window = view.server_steady();
    let machine = window.machine()?;
    let threads = window.threads(&view.processes(ProcessRole::Target));
    let is_thread_full = threads.first().is_some_and(|thread| thread.busy_ratio >= SERVER_SATURATED.value);
    Some(machine.busy_ratio >= SERVER_SATURATED.value || is_thread_full)
}

/// With more than this in other hands, a busy machine is not the server's doing. Unit: ratio of the machine.
const FOREIGN_EXCUSED_MAX: f64 = 0.20;

/// Whether server and generator together, and nobody else, had used up the CPU.
pub(crate) fn is_saturated_by_server(view: &TrialView) -> bool {
    let window = view.server_steady();
    let foreign = foreign_cpus(view, &window).zip(window.machine());
    let share = foreign.and_then(|(foreign, machine)| ratio(foreign, machine.cpus as f64)).unwrap_or(0.0);
    is_server_saturated(view) == Some(true) && share <= FOREIGN_EXCUSED_MAX
}
