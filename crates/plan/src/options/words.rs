//! Words for values of the record: one table for the command line, its help, and files.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use serde::Deserialize;
use serde::de::Error;
use sysdyno_record::allowance::Allowance;
use sysdyno_record::effect::Comparison;
use sysdyno_record::facts::HostUse;
use sysdyno_record::manifest::RunKind;
use sysdyno_record::origin::ProxyProtocol;
use sysdyno_record::plan::{Arrival, IoChoice, SpinChoice, StampChoice};
use sysdyno_record::probe::ProbeKind;
use sysdyno_record::squeeze::ResourceKind;
use sysdyno_record::tryout::Metric;
use sysdyno_record::wire::{MemcachedDialect, TlsVersion};
use sysdyno_record::work::CacheChoice;

/// A value typed as one of a few words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<T>(pub T);

/// A type whose values are typed as words. The three lists are in the same order.
pub trait Worded: Copy + PartialEq + Send + Sync + 'static {
    /// Values that can be typed.
    const VALUES: &'static [Word<Self>];
    /// The word for each.
    const WORDS: &'static [&'static str];
    /// The help text of each.
    const MEANINGS: &'static [&'static str];
}

impl<T: Worded> ValueEnum for Word<T> {
    fn value_variants<'a>() -> &'a [Self] {
        T::VALUES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let at = T::VALUES.iter().position(|known| known == self)?;
        Some(PossibleValue::new(T::WORDS[at]).help(T::MEANINGS[at]))
    }
}

impl<'de, T: Worded> Deserialize<'de> for Word<T> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let at = T::WORDS.iter().position(|word| *word == text);
        at.map(|at| T::VALUES[at]).ok_or_else(|| D::Error::unknown_variant(&text, T::WORDS))
    }
}

macro_rules! words {
    ($($type:ident { $($value:ident $word:literal $meaning:literal;)+ })+) => {
        $(impl Worded for $type {
            const VALUES: &'static [Word<$type>] = &[$(Word($type::$value)),+];
            const WORDS: &'static [&'static str] = &[$($word),+];
            const MEANINGS: &'static [&'static str] = &[$($meaning),+];
        })+
    };
}

words! {
    Arrival {
        Poisson "poisson" "Exponential gaps, as from many independent users";
        Constant "constant" "Equal gaps";
    }
    CacheChoice {
        AsIs "as-is" "Leave it alone";
        Cold "cold" "Drop it before each run, for the whole host; needs root and --accept-drop-caches";
        Warm "warm" "Run the command once before, unmeasured";
    }
    Comparison {
        Better "better" "B is better";
        Worse "worse" "B is worse";
        Same "same" "B is the same";
        CannotTell "cannot-tell" "Can't tell";
    }
    IoChoice {
        Auto "auto" "io_uring if available, else epoll";
        Uring "uring" "io_uring; fail if it is not available";
        Epoll "epoll" "epoll";
    }
    MemcachedDialect {
        Text "text" "get and set";
        Meta "meta" "mg and ms, since memcached 1.6";
    }
    Metric {
        Cpu "cpu" "CPU time of the server's processes per request";
        Goodput "goodput" "Completed and valid requests per second";
        P99 "p99" "99th percentile of latency";
        Capacity "capacity" "Highest rate with p99<50ms";
        Time "time" "Run time of a command";
        CpuTime "cpu-time" "CPU time of a command";
    }
    ProbeKind {
        Http "http" "A request on a persistent connection";
        Tcp "tcp" "A TCP connect, closed at once";
        Icmp "icmp" "An ICMP echo, as in ping";
    }
    ProxyProtocol {
        V1 "v1" "Version 1: one line of text";
        V2 "v2" "Version 2: binary";
    }
    Allowance {
        Kernel "kernel" "Settings of the kernel";
        ServiceConfig "service-config" "Configuration files of services";
        ServiceReload "service-reload" "Services read their files again while they run";
        Restart "restart" "Services of a lab are stopped and started";
        Durability "durability" "What was confirmed may be lost in a power cut";
        SharedCache "shared-cache" "One response may be served to several users";
    }
    ResourceKind {
        Cpu "cpu" "CPU of each tier of the server";
        HostCpu "host-cpu" "All CPUs that the server may use, at once";
        Link "link" "Rates of interfaces that a token bucket limits";
        Disk "disk" "Rates of disks that control groups limit";
        Connections "connections" "Connections of the load: what clients wait for, or the server's pools";
    }
    RunKind {
        Run "run" "Capacity searches";
        Load "load" "Loads";
        Demo "demo" "Demos";
        Try "try" "Experiments";
        Squeeze "squeeze" "Squeezes";
        Probe "probe" "Probes";
    }
    SpinChoice {
        Auto "auto" "If the server runs on other CPUs";
        On "on" "Until something else is found running on the generator's CPUs";
        Off "off" "Never";
    }
    StampChoice {
        Kernel "kernel" "When the kernel received the packet (TCP only)";
        User "user" "When the generator read the response";
    }
    TlsVersion {
        Tls12 "1.2" "TLS 1.2";
        Tls13 "1.3" "TLS 1.3";
    }
    HostUse {
        Web "web" "Many connections, short requests";
        Files "files" "Many files created, changed, and removed";
        Memory "memory" "Data kept in memory";
        Any "any" "Any workload";
    }
}
