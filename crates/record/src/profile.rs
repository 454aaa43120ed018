//! A profile: where CPU time went, or what threads waited for, as weighted call stacks.
//!
//! Invariants: a profile holds names, never addresses, so that it does not reveal where the kernel is in memory; every sample
//! that the kernel reported is either in a stack or counted as lost. Frames of a stack are in call order: the outermost
//! function first, the one that ran or waited last.

use crate::named::named;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};

/// The schema of a profile that is printed or saved on its own.
pub const SCHEMA: &str = "sysdyno.profile/1";

named! {
    /// What the weight of a stack means.
    ProfileKind {
        /// CPU time, sampled.
        OnCpu "on-cpu";
        /// Time that threads were not running, from each switch away to the next switch back.
        OffCpu "off-cpu";
    }
}

named! {
    /// The event at which running code is sampled, by the name that perf has for it.
    SampledEvent {
        /// Time on the CPU, by a timer of the kernel, which every machine has.
        CpuClock "cpu-clock";
        /// Cycles of the CPU while it is not idle.
        Cycles "cycles";
        /// Instructions that the CPU has completed.
        Instructions "instructions";
        /// Accesses to memory that no cache had, as a rule not even the last one.
        CacheMisses "cache-misses";
        /// Branches that went another way than the CPU had guessed.
        BranchMisses "branch-misses";
    }
}

impl SampledEvent {
    /// Whether a counter of the CPU counts it.
    pub fn is_hardware(self) -> bool {
        self != SampledEvent::CpuClock
    }

    /// Its name in sentences.
    pub fn words(self) -> &'static str {
        match self {
            SampledEvent::CacheMisses => "cache misses",
            SampledEvent::BranchMisses => "branch misses",
            other => other.name(),
        }
    }
}

named! {
    /// On whose account a frame runs.
    FrameKind {
        /// A program or a library.
        User "user";
        /// The kernel, for a process or a kernel thread.
        Kernel "kernel";
        /// The kernel in a softirq, charged to whichever task happened to run.
        SoftIrq "softirq";
        /// The kernel in a hardware interrupt.
        Irq "irq";
    }
}

/// At which load of a run a profile was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfiledLoad {
    /// At the one that was measured; of a search, at the highest that met the objective.
    Measured,
    /// At a fifth of that: what a request costs while nothing is in its way.
    Low,
}

/// Call stacks of a period, and how they came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The host, as it was typed; `None`: the one that wrote the profile down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// What the weights mean.
    pub kind: ProfileKind,
    /// At which event code was sampled; `None`: every switch was recorded (off-CPU), or it was written down before there was more
    /// than `cpu-clock`.
    #[serde(default)]
    pub event: Option<SampledEvent>,
    /// The processes whose trees were profiled; empty: the whole host.
    pub scope_pids: Vec<u32>,
    /// When sampling began.
    pub begin_mono_ns: MonoNs,
    /// When sampling ended.
    pub end_mono_ns: MonoNs,
    /// Samples of each CPU. Unit: per second. `None`: every switch was recorded (off-CPU).
    pub rate_hz: Option<u32>,
    /// CPUs that were sampled.
    pub cpus_count: u32,
    /// Why no function of the kernel is in it; `None`: the kernel was sampled, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_unseen: Option<KernelUnseen>,
    /// Descendants of the processes that the user may not sample, as those of other users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen_pids: Vec<u32>,
    /// What was counted beside the stacks.
    pub counts: ProfileCounts,
    /// Responses to the load while sampling; `None`: without a load.
    #[serde(default)]
    pub requests_count: Option<u64>,
    /// What the profile itself has cost.
    pub cost: ProfileCost,
    /// Processes that occur in stacks, one entry for each program that a process has run.
    pub processes: Vec<ProfiledProcess>,
    /// Functions that occur in stacks, each once.
    pub frames: Vec<ProfileFrame>,
    /// Stacks, each once per process.
    pub stacks: Vec<ProfileStack>,
}

/// A user who may not sample the kernel sees only programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelUnseen {
    /// The setting that says so. Source: `kernel.perf_event_paranoid`. `None`: it cannot be read.
    pub perf_event_paranoid: Option<i32>,
    /// CPU time of the processes while sampling, that in the kernel included. Unit: nanoseconds. `None`: it was not counted.
    pub processes_cpu_ns: Option<u64>,
}

/// What was counted while sampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileCounts {
    /// Samples in stacks.
    pub samples_count: u64,
    /// Records that the kernel could not hand over, because its buffers were full. Source: `PERF_RECORD_LOST`.
    pub lost_count: u64,
    /// Samples beyond the bound of distinct stacks that are kept.
    pub beyond_bound_count: u64,
    /// Frames of all samples.
    pub frames_count: u64,
    /// Those of them whose function is known.
    pub resolved_frames_count: u64,
    /// Samples with a user stack.
    pub user_stacks_count: u64,
    /// Those of them that do not reach the beginning of their program or thread.
    pub cut_stacks_count: u64,
    /// Waits of programs whose stack was not copied, since there were too many: their callers are known by frame pointers only.
    /// `None`: copies come with all samples (on-CPU), or were not possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncopied_stacks_count: Option<u64>,
}

/// What a profile has cost on the host where it was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileCost {
    /// CPU time of the thread that read the samples, while sampling. Unit: nanoseconds.
    pub sampling_cpu_ns: u64,
    /// CPU time of naming the functions, before (the kernel's symbols) and afterwards. Unit: nanoseconds.
    pub naming_cpu_ns: u64,
}

/// A process that occurs in a profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProfiledProcess {
    /// Its id.
    pub pid: u32,
    /// Its name, up to 15 bytes. Untrusted: its owner chose it.
    pub name: String,
}

/// A function that occurs in a profile.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProfileFrame {
    /// Its name, or in brackets the object in which it is not known by name. Untrusted.
    pub name: String,
    /// The file that it is in, without folders; `kernel` of the kernel. Empty: no file. Untrusted.
    pub object: String,
    /// On whose account it runs.
    pub kind: FrameKind,
    /// Whether its name was found.
    pub is_resolved: bool,
}

/// A stack of a process, and its weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileStack {
    /// Index into `processes`.
    pub process: u32,
    /// Indices into `frames`, the outermost first.
    pub frames: Vec<u32>,
    /// Samples, or waits.
    pub count: u64,
    /// What they represent.
    #[serde(flatten)]
    pub weight: StackWeight,
}

/// What samples or waits represent: of all stacks of a profile, the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StackWeight {
    /// CPU time, or the time of all waits. Unit: nanoseconds.
    #[serde(rename = "value_ns")]
    Time(u64),
    /// Events that the CPU has counted.
    #[serde(rename = "events_count")]
    Events(u64),
}

impl StackWeight {
    /// The number, whatever its unit: for shares.
    pub fn amount(self) -> u64 {
        match self {
            StackWeight::Time(amount) | StackWeight::Events(amount) => amount,
        }
    }

    /// The time. Unit: nanoseconds. `None`: events were counted.
    pub fn time_ns(self) -> Option<u64> {
        match self {
            StackWeight::Time(value_ns) => Some(value_ns),
            StackWeight::Events(_) => None,
        }
    }
}

impl Profile {
    /// The event of the CPU that was sampled; `None`: weights are time.
    pub fn counted_event(&self) -> Option<SampledEvent> {
        self.event.filter(|event| self.kind == ProfileKind::OnCpu && event.is_hardware())
    }

    /// A weight in its unit.
    pub fn weight(&self, amount: u64) -> StackWeight {
        match self.counted_event() {
            Some(_) => StackWeight::Events(amount),
            None => StackWeight::Time(amount),
        }
    }

    /// Whether every index is in bounds, and every weight in its unit: a profile that was read back may come from anybody.
    pub fn is_sound(&self) -> bool {
        self.stacks.iter().all(|stack| {
            stack.weight == self.weight(stack.weight.amount())
                && (stack.process as usize) < self.processes.len()
                && stack.frames.iter().all(|frame| (*frame as usize) < self.frames.len())
        })
    }

    /// How long it took. Unit: nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.end_mono_ns.since(self.begin_mono_ns)
    }

    /// The name of the process of a stack. Untrusted.
    ///
    /// # Panics
    /// If the profile is not [sound](Profile::is_sound).
    pub fn process_of(&self, stack: &ProfileStack) -> &ProfiledProcess {
        &self.processes[stack.process as usize]
    }

    /// The frames of a stack, the outermost first.
    ///
    /// # Panics
    /// If the profile is not [sound](Profile::is_sound).
    pub fn frames_of<'a>(&'a self, stack: &'a ProfileStack) -> impl Iterator<Item = &'a ProfileFrame> {
        stack.frames.iter().map(|frame| &self.frames[*frame as usize])
    }
}

/// What a profile says: shares, for a screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProfileSummary {
    /// That of all stacks.
    #[serde(flatten)]
    pub weight: StackWeight,
    /// Mean CPUs in use (on-CPU), or mean threads that waited (off-CPU); `None`: events of the CPU were counted, not time.
    pub mean_count: Option<f64>,
    /// Of all frames of all samples, those whose function is known; `None`: there are no frames.
    pub resolved_ratio: Option<f64>,
    /// Of all samples with a user stack, those that end early; `None`: there are none.
    pub cut_ratio: Option<f64>,
    /// Of all waits with a user stack, those whose stack was not copied; `None`: there are none, or copies come with all samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncopied_ratio: Option<f64>,
    /// Of the CPU time of the processes, the part in the kernel, where nothing was sampled; `None`: the kernel was sampled, or
    /// their CPU time is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_unseen_ratio: Option<f64>,
    /// Share of each kind of the innermost frame, in the order of [`FrameKind::ALL`].
    pub kinds: Vec<KindShare>,
    /// Programs by their share, the largest first.
    pub programs: Vec<ProgramShare>,
}

/// The share of a kind of frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindShare {
    /// The kind.
    pub kind: FrameKind,
    /// Of the whole weight.
    pub ratio: f64,
}

/// All processes of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramShare {
    /// The name. Untrusted.
    pub name: String,
    /// How many processes of this name have stacks.
    pub processes_count: u32,
    /// Of the whole weight.
    pub ratio: f64,
    /// Its functions, those in which it was itself most often first.
    pub symbols: Vec<SymbolShare>,
    /// Objects with functions that have no name, the most frequent first. Untrusted.
    pub unnamed_objects: Vec<String>,
}

/// A function and its shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SymbolShare {
    /// The function.
    pub frame: ProfileFrame,
    /// Of the whole weight: it ran or waited itself.
    pub self_ratio: f64,
    /// Of the whole weight: it, or something that it called.
    pub total_ratio: f64,
}
