//! Checks whether the connections of a load can come from the addresses in its plan, on this host as it is now.

use crate::error::RunError;
use sysdyno_load::transport::origin::{PortLimits, check, check_ports};
use sysdyno_observe::{Roots, sysctl};
use sysdyno_record::plan::LoadPlan;

/// Checks source addresses and ports before anything is sent or written; a sentence where ports may not suffice.
///
/// If the host's port range is unknown, it is not checked.
///
/// # Errors
/// An address that cannot be bound, or certainly too few ports.
pub fn check_origin(plan: &LoadPlan) -> Result<Option<String>, RunError> {
    check(&plan.origin, &plan.target.endpoint)?;
    let read = |name| sysctl(&Roots::host(), name);
    let range = read("net.ipv4.ip_local_port_range").unwrap_or_default();
    let reuse = read("net.ipv4.tcp_tw_reuse").unwrap_or_default();
    let Some(limits) = PortLimits::parse(&range, &reuse) else { return Ok(None) };
    Ok(check_ports(plan, limits)?)
}
