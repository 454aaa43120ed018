//! Loads that several hosts send together: what can be split over hosts, and what cannot.

use crate::options::Typed;
use anyhow::ensure;
use sysdyno_load::target::is_home;
use sysdyno_record::place::{HostPlace, HostWay};
use sysdyno_record::plan::{LoadPlan, SearchMethod};
use sysdyno_record::spread::{MAX_GENERATORS, MAX_SPREAD_BODY_BYTES};

/// Adds the hosts that send a load; threads are those of each host.
pub fn add(plan: &mut LoadPlan, places: &[Typed<HostPlace>]) -> anyhow::Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    let hosts = check_places(plan, places)?;
    check_workload(plan)?;
    check_connections(plan.connections, hosts)?;
    plan.threads = plan.threads.min(plan.connections / hosts).max(1) * hosts;
    plan.origin.hosts = places.iter().map(|place| place.0.name.clone()).collect();
    Ok(())
}

/// Checks that every point of a search can be spread over the hosts.
pub fn check_points(method: &SearchMethod, places: &[Typed<HostPlace>]) -> anyhow::Result<()> {
    let hosts = places.len() as u32;
    match method {
        SearchMethod::OfferedRate => Ok(()),
        SearchMethod::Connections(points) => {
            points.iter().try_for_each(|connections| check_connections(*connections, hosts))
        }
    }
}

fn check_connections(connections: u32, hosts: u32) -> anyhow::Result<()> {
    ensure!(
        connections >= hosts,
        "cannot spread {connections} connections over {hosts} hosts\nhint: -c {hosts} gives each of them one"
    );
    Ok(())
}

fn check_places(plan: &LoadPlan, places: &[Typed<HostPlace>]) -> anyhow::Result<u32> {
    ensure!(
        places.len() <= MAX_GENERATORS,
        "cannot spread a load over {} hosts: the maximum is {MAX_GENERATORS}",
        places.len()
    );
    for (position, place) in places.iter().enumerate() {
        ensure!(
            !places[..position].contains(place),
            "cannot spread a load over '{}' twice\nhint: -t sets the threads of each host",
            place.0.name
        );
    }
    let is_elsewhere = places.iter().any(|place| place.0.way != HostWay::Here);
    ensure!(
        places.len() == 1 || !is_elsewhere || !is_home(&plan.target.endpoint),
        "cannot reach '{}' from several hosts: on each of them, this address means the host itself\nhint: \
         use an address that all of them can reach",
        plan.target.url
    );
    Ok(places.len() as u32)
}

/// Refuses what is not split over hosts.
fn check_workload(plan: &LoadPlan) -> anyhow::Result<()> {
    let workload = &plan.workload;
    let operations = workload.operations.iter().map(|operation| operation.request.body.len());
    let body_bytes = plan.request.body.len() + operations.sum::<usize>();
    let refused = [
        (workload.log.is_some(), "a log (--replay, --mix)"),
        (workload.session.is_some(), "a session"),
        (!workload.files.is_empty(), "values from a file"),
        (plan.probe.is_some() || !plan.probes.is_empty(), "a load with a probe"),
        (!plan.origin.sources.is_empty(), "a load with source addresses"),
        (body_bytes > MAX_SPREAD_BODY_BYTES, "requests with bodies of more than 2 MiB"),
    ];
    let cause = refused.iter().find(|(is_so, _)| *is_so).map(|(_, what)| *what);
    ensure!(
        cause.is_none(),
        "cannot spread {} over several hosts\nhint: send it from this machine (leave out --load-from, or the \
         generator behind ssh), or send a single request or a list of URLs (with a rate, a ramp, or clients)",
        cause.unwrap_or_default()
    );
    Ok(())
}
