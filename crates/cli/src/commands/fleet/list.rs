//! `sysdyno fleet ls`: the agents that answer.

use super::access::{FleetAccess, VERSION};
use crate::args::FleetListArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use sysdyno_fleet::{AgentCard, Permission};
use sysdyno_report::escape;

/// Bytes in a gibibyte.
const GIB: f64 = 1_073_741_824.0;

/// Prints the agents that answer.
pub(super) fn list(folder: &Path, args: &FleetListArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let agents = FleetAccess::connect_below(folder, &args.fleet)?.roster(&[]);
    if args.json {
        let all: Vec<_> = agents.iter().map(document).collect();
        ui.print_json(&json!({ "schema": "sysdyno-fleet-1", "agents": all }))?;
        return Ok(Exit::Done);
    }
    if agents.is_empty() {
        ui.note("no agent answers");
        return Ok(Exit::Done);
    }
    let mut text = format!(
        "{:<16} {:<8} {:>4} {:>9}  {:<14} {:<20} STATE\n",
        "NAME", "VERSION", "CPUS", "MEMORY", "ALLOWS", "LABELS"
    );
    for agent in &agents {
        let cpus = agent.cpus_count.map_or("?".to_owned(), |count| count.to_string());
        let memory =
            agent.memory_bytes.map_or("?".to_owned(), |bytes| format!("{:.1} GiB", bytes as f64 / GIB));
        let _ = writeln!(
            text,
            "{:<16} {:<8} {cpus:>4} {memory:>9}  {:<14} {:<20} {}",
            agent.name,
            escape::terminal(&agent.version, 20),
            allows(agent),
            agent.labels.to_string(),
            state(agent)
        );
    }
    ui.print(&text);
    Ok(Exit::Done)
}

fn allows(agent: &AgentCard) -> String {
    let words: Vec<&str> = agent.allows.iter().map(|permission| Permission::word(*permission)).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(",") }
}

fn state(agent: &AgentCard) -> String {
    match (&agent.incompatible(VERSION), &agent.leased_to) {
        (Some(cause), _) => format!("unusable: {}", escape::terminal(cause, 200)),
        (None, Some(who)) => format!("leased to {}", escape::terminal(who, 80)),
        (None, None) => "free".to_owned(),
    }
}

fn document(agent: &AgentCard) -> serde_json::Value {
    json!({
        "name": agent.name,
        "version": agent.version,
        "labels": agent.labels,
        "allows": agent.allows,
        "cpus_count": agent.cpus_count,
        "memory_bytes": agent.memory_bytes,
        "cpu": agent.cpu,
        "kernel": agent.kernel,
        "leased_to": agent.leased_to,
        "is_usable": agent.incompatible(VERSION).is_none(),
    })
}
