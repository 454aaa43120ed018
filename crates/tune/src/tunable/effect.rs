//! What a change means: its scope, when it takes effect, and what a wrong value can do.

/// How far a setting reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The whole host.
    Host,
    /// The network namespace that it is set in.
    Network,
    /// The whole host, and it can be set from the initial network namespace only.
    InitialNetwork,
    /// A device of the network.
    NetworkDevice,
    /// A device that is not of the network.
    Device,
    /// A service that reads the file.
    Service,
    /// What is mounted at a path; of options of the file system, every mount of it.
    Mount,
    /// A file system that is not mounted.
    FileSystem,
    /// A process.
    Process,
    /// A listening socket.
    Listener,
}

impl Scope {
    /// Whether it is still there after the host was booted.
    pub fn survives_boot(self) -> bool {
        matches!(self, Scope::Service | Scope::FileSystem)
    }

    /// Whether it is no more when its network namespace is.
    pub(crate) fn is_of_network(self) -> bool {
        matches!(self, Scope::Network | Scope::InitialNetwork | Scope::NetworkDevice)
    }

    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            Scope::Host => "whole host",
            Scope::Network => "this network namespace",
            Scope::InitialNetwork => "whole host, set in the initial network namespace",
            Scope::NetworkDevice | Scope::Device => "this device",
            Scope::Service => "the service that reads the file",
            Scope::Mount => "this mount; file system options apply to all of its mounts",
            Scope::FileSystem => "this file system",
            Scope::Process => "this process",
            Scope::Listener => "this listener",
        }
    }
}

/// When a change is felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectTime {
    /// From now on, on everything.
    AtOnce,
    /// By connections and sockets that are made from now on.
    NewSockets,
    /// By a listener when it calls `listen` again, as most do only when they are restarted.
    NewListeners,
    /// When the service has reloaded its files, which it is told to do.
    Reloaded,
    /// When the service is restarted, which is not done here.
    Restarted,
    /// When the file system is mounted the next time, which is not done here.
    Mounted,
    /// By processes that are started, or set their limits, from now on.
    NewProcesses,
}

impl EffectTime {
    /// The words for it.
    pub fn words(self) -> &'static str {
        match self {
            EffectTime::AtOnce => "immediately",
            EffectTime::NewSockets => "on new sockets",
            EffectTime::NewListeners => "when a listener calls listen() again",
            EffectTime::Reloaded => "when the service reloads its files, which sysdyno triggers",
            EffectTime::Restarted => "when you restart the service",
            EffectTime::Mounted => "when you next mount it",
            EffectTime::NewProcesses => "on new processes",
        }
    }
}

/// What a wrong value can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Speed or memory of what uses it.
    Low,
    /// Failed connections or calls, or a good deal of memory.
    Medium,
    /// The use of the host.
    High,
}

impl Risk {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Risk::Low => "low",
            Risk::Medium => "medium",
            Risk::High => "high",
        }
    }
}
