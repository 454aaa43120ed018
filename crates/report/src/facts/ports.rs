//! The network ports of a host as a table that can be printed and taped to its rack.

use super::cut;
use crate::escape;
use crate::terminal::{Style, Tone};
use std::collections::BTreeMap;
use sysdyno_record::facts::{Fact, HostFacts};

const HEADS: [&str; 8] = ["port", "driver", "link", "speed", "slot", "node", "queues", "interrupts"];

/// Between two columns.
const GAP: &str = "  ";

/// The ports that have a driver, each with what one has to know of it; `-` stands for what the kernel does not say. Ends with
/// a newline.
pub fn ports(facts: &HostFacts, style: &Style) -> String {
    let mut found: BTreeMap<&str, BTreeMap<&str, &Fact>> = BTreeMap::new();
    for (name, fact) in &facts.facts {
        // A name such as eth0.100 has a dot of its own.
        if let Some((port, what)) = name.strip_prefix("nic.").and_then(|rest| rest.rsplit_once('.')) {
            found.entry(port).or_default().insert(what, fact);
        }
    }
    let rows: Vec<[String; 8]> = found
        .iter()
        .filter(|(_, known)| text(known, "driver").is_some())
        .map(|(port, known)| row(port, known))
        .collect();
    if rows.is_empty() {
        return "no ports: all network interfaces of this host are virtual\n".into();
    }
    let heads = HEADS.map(str::to_owned);
    let width = |column: usize| {
        [&heads].into_iter().chain(&rows).map(|row| escape::width(&row[column])).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    let line = |row: &[String; 8]| {
        let padded = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell}{}", " ".repeat(width.saturating_sub(escape::width(cell)))));
        cut(padded.collect::<Vec<_>>().join(GAP).trim_end(), style.width(), style)
    };
    let mut all = format!("{}\n", style.dress(Tone::Quiet, &line(&heads)));
    rows.iter().for_each(|row| all.push_str(&format!("{}\n", line(row))));
    all
}

fn row(port: &str, known: &BTreeMap<&str, &Fact>) -> [String; 8] {
    let said = |what: &str| text(known, what).unwrap_or_else(|| "-".into());
    let count = |what: &str| number(known, what).map_or_else(|| "-".into(), |count| format!("{count}"));
    let node = match said("numa_node") {
        // The kernel's word for a device that is near to no node more than to others.
        node if node == "-1" => "-".into(),
        node => node,
    };
    [
        escape::terminal(port, 40),
        said("driver"),
        said("state"),
        number(known, "speed_mbps").map_or_else(|| "-".into(), speed),
        said("pci_slot"),
        node,
        format!("{} rx, {} tx", count("rx_queues_count"), count("tx_queues_count")),
        said("irqs"),
    ]
}

fn speed(mbps: f64) -> String {
    if mbps >= 1_000.0 { format!("{} Gbit/s", mbps / 1_000.0) } else { format!("{mbps} Mbit/s") }
}

fn text(known: &BTreeMap<&str, &Fact>, what: &str) -> Option<String> {
    match known.get(what)? {
        Fact::Text(text) if !text.is_empty() => Some(escape::terminal(text, 60)),
        _ => None,
    }
}

fn number(known: &BTreeMap<&str, &Fact>, what: &str) -> Option<f64> {
    match known.get(what)? {
        Fact::Number(number) => Some(*number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_has_a_line_and_what_is_virtual_has_none() {
        let word = |text: &str| Fact::Text(text.into());
        let facts = [
            ("nic.eth3.100.driver", word("ixgbe")),
            ("nic.eth3.100.state", word("up")),
            ("nic.eth3.100.speed_mbps", Fact::Number(2_500.0)),
            ("nic.eth3.100.pci_slot", word("0000:03:00.1")),
            ("nic.eth3.100.numa_node", word("1")),
            ("nic.eth3.100.rx_queues_count", Fact::Number(8.0)),
            ("nic.eth3.100.tx_queues_count", Fact::Number(8.0)),
            ("nic.eth3.100.irqs", word("40-48")),
            ("nic.eth4.driver", word("virtio_net\x1b[2J")),
            ("nic.eth4.numa_node", word("-1")),
            ("nic.veth0.driver", Fact::Unavailable("it has no device".into())),
            ("kernel.release", word("6.18")),
        ];
        let facts =
            HostFacts { facts: facts.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect() };
        let shown = ports(&facts, &Style::default());
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 3, "{shown}");
        let words = lines[1].split("  ").map(str::trim).filter(|word| !word.is_empty()).collect::<Vec<_>>();
        assert_eq!(
            words,
            ["eth3.100", "ixgbe", "up", "2.5 Gbit/s", "0000:03:00.1", "1", "8 rx, 8 tx", "40-48"]
        );
        assert!(lines[2].contains("- rx, - tx") && !shown.contains('\x1b'), "{shown}");
        assert!(ports(&HostFacts::default(), &Style::default()).starts_with("no ports"));
    }
}
