//! What a server's owner allows to be touched.

use crate::named::named;

named! {
    /// Something that may be touched.
    Allowance {
        /// Settings of the kernel, which are undone at once.
        Kernel "kernel";
        /// Configuration files of services.
        ServiceConfig "service-config";
        /// Services read their files again while they run.
        ServiceReload "service-reload";
        /// Services are stopped and started.
        Restart "restart";
        /// What was confirmed may be lost in a power cut.
        Durability "durability";
        /// One response may be served to several users.
        SharedCache "shared-cache";
    }
}

impl Allowance {
    /// What is allowed unless something else is said: nothing that stops a service or gives anything up.
    pub const DEFAULT: [Allowance; 3] =
        [Allowance::Kernel, Allowance::ServiceConfig, Allowance::ServiceReload];

    /// What is given up where this is made use of; `None`: nothing.
    pub fn given_up(self) -> Option<&'static str> {
        match self {
            Allowance::Durability => Some("a power cut can lose what was confirmed in the last second"),
            Allowance::SharedCache => Some("one response is served to several users for a while"),
            Allowance::Kernel | Allowance::ServiceConfig | Allowance::ServiceReload | Allowance::Restart => {
                None
            }
        }
    }
}
