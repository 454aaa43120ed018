//! `sysdyno fleet ls`: the agents that answer.

use super::access::{FleetAccess, VERSION};
use crate::args::FleetListArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use serde_json::json;
use std::path::Path;
use sysdyno_fleet::{AgentCard, Permission};
use sysdyno_report::escape;

/// Bytes in a gibibyte.
const GIB: f64 = 1_073_741_824.0;

/// Prints the agents that answer.
pub(super) fn list(folder: &Path, args: &FleetListArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let agents = FleetAccess::connect_below(folder, &args.broker, None)?.roster(&[]);
    if args.json {
        let all: Vec<_> = agents.iter().map(document).collect();
        ui.print_json(&json!({ "schema": "sysdyno-fleet-1", "agents": all }))?;
        return Ok(Exit::Done);
    }
    if agents.is_empty() {
        ui.note("no agent answers");
        return Ok(Exit::Done);
    }
    ui.print(&listed(&agents));
    Ok(Exit::Done)
}

/// A row for each agent.
fn listed(agents: &[AgentCard]) -> String {
    let head = ["NAME", "ALLOWS", "CPUS", "MEMORY", "LABELS", "STATE"].map(str::to_owned);
    table(std::iter::once(head).chain(agents.iter().map(row)).collect(), &[2, 3])
}

/// Rows in columns as wide as their longest cell; those of numbers are aligned on the right.
pub(super) fn table<const N: usize>(rows: Vec<[String; N]>, numbers: &[usize]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let cell = |(column, cell): (usize, &String)| match (column, width(column)) {
        (column, _) if column + 1 == N => cell.clone(),
        (column, width) if numbers.contains(&column) => format!("{cell:>width$}  "),
        (_, width) => format!("{cell:<width$}  "),
    };
    rows.iter().map(|row| row.iter().enumerate().map(cell).collect::<String>() + "\n").collect()
}

fn row(agent: &AgentCard) -> [String; 6] {
    let labels = agent.labels.to_string();
    [
        agent.name.clone(),
        allows(agent),
        agent.cpus_count.map_or("?".to_owned(), |count| count.to_string()),
        agent.memory_bytes.map_or("?".to_owned(), |bytes| format!("{:.1} GiB", bytes as f64 / GIB)),
        if labels.is_empty() { "-".to_owned() } else { labels },
        state(agent),
    ]
}

pub(super) fn allows(agent: &AgentCard) -> String {
    let words: Vec<&str> = agent.allows.iter().map(|permission| Permission::word(*permission)).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(",") }
}

pub(super) fn state(agent: &AgentCard) -> String {
    match (&agent.incompatible(VERSION), &agent.leased_to) {
        (Some(cause), _) => format!("unusable: {}", escape::terminal(cause, 200)),
        (None, Some(who)) => format!("used by {}", escape::terminal(who, 80)),
        (None, None) => "free".to_owned(),
    }
}

pub(super) fn document(agent: &AgentCard) -> serde_json::Value {
    json!({
        "name": agent.name,
        "version": agent.version,
        "labels": agent.labels,
        "allows": agent.allows,
        "cpus_count": agent.cpus_count,
        "memory_bytes": agent.memory_bytes,
        "cpu": agent.cpu,
        "kernel": agent.kernel,
        "busy_ratio": agent.busy_ratio,
        "leased_to": agent.leased_to,
        "is_usable": agent.incompatible(VERSION).is_none(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use sysdyno_record::fleet::FleetLabels;

    pub(in crate::commands::fleet) fn agent(name: &str, labels: &str, leased_to: Option<&str>) -> AgentCard {
        serde_json::from_value(json!({
            "name": name, "version": VERSION, "fleet_protocol": sysdyno_fleet::FLEET_PROTOCOL,
            "agent_protocol": sysdyno_run::agent::wire::PROTOCOL,
            "labels": labels.parse::<FleetLabels>().expect("labels"), "allows": ["load"],
            "cpus_count": 8, "memory_bytes": 25_276_063_744_u64, "cpu": null, "kernel": null,
            "leased_to": leased_to,
        }))
        .expect("a card")
    }

    #[test]
    fn a_list_of_agents_fits_a_terminal() {
        let agents = [agent("web1", "site=east,rack=r1", Some("ops1, process 15757")), agent("w2", "", None)];
        let expected = "\
NAME  ALLOWS  CPUS    MEMORY  LABELS             STATE
web1  load       8  23.5 GiB  rack=r1,site=east  used by ops1, process 15757
w2    load       8  23.5 GiB  -                  free
";
        assert_eq!(listed(&agents), expected);
    }
}
