//! `links`: what it predicts is what happens, here with two links between two namespaces; bonds are computed from what is typed.

use crate::rig::pair::Pair;
use crate::rig::program::{Outcome, Program, Running};
use crate::rig::skip;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.expect_code(0).stdout).expect("is JSON")
}

#[test]
fn a_switch_is_computed_from_what_is_typed() {
    let program = Program::new();
    let two = ["02:00:00:00:00:0a", "02:00:00:00:00:0c"];
    let device = ["--hash", "src-dst-mac", "--links", "2", "--own", "02:00:00:00:00:01"];
    let outcome = program.run([&["links"], &two[..], &device].concat());
    let text = &outcome.expect_code(0).stdout;
    for part in [
        "→ link 2",
        "predicted 100%",
        "Uneven",
        "whose last byte is 11",
        "the same one of 2 links 50.0% of the time",
    ] {
        assert!(text.contains(part), "'{part}' is missing: {outcome}");
    }
    let found = json(&program.run([&["links", "--json"], &two[..], &device].concat()));
    assert_eq!(found["aggregates"][0]["ratios"], serde_json::json!([0.0, 1.0]), "{found:#}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let program = Program::new();
    let refused = |arguments: &[&str], part: &str| {
        let outcome = program.run(arguments);
        assert!(outcome.expect_code(2).stderr.contains(part), "'{part}': {outcome}");
    };
    refused(&["links", "nowhere"], "cannot read host 'nowhere'");
    refused(&["links", "\u{1b}[2J"], "cannot read host '\\u{1b}[2J'");
    refused(&["links", "--hash", "layer2"], "--links");
    refused(&["links", "--hash", "layer2", "--links", "2", "--own", "10.0.0.1"], "--hash needs the peers");
    refused(&["links", "10.0.0.9", "--hash", "layer9", "--links", "2", "--own", "10.0.0.1"], "layer9");
}

/// What was sent over a link of the generator. Unit: packets.
fn sent(pair: &Pair, link: &str) -> u64 {
    let output = pair.generator_command("ip").args(["-s", "-j", "link", "show", "dev", link]).output();
    let found: Value = serde_json::from_slice(&output.expect("ip runs").stdout).expect("is JSON");
    found[0]["stats64"]["tx"]["packets"].as_u64().expect("is counted")
}

fn done(command: &mut Command, arguments: &[&str]) -> bool {
    command.args(arguments).status().is_ok_and(|status| status.success())
}

/// A second link, a server behind both, and addresses of the generator.
fn linked(pair: &Pair) -> bool {
    let generator = |arguments: &[&str]| done(&mut pair.generator_command("ip"), arguments);
    let server = |arguments: &[&str]| done(&mut pair.server_command("ip"), arguments);
    let name = pair.server().trim_start_matches("netns:").to_owned();
    let loose = |setting: &str| {
        done(
            &mut pair.server_command("sh"),
            &["-c", &format!("echo 0 > /proc/sys/net/ipv4/conf/{setting}/rp_filter")],
        )
    };
    generator(&["link", "add", "v1", "type", "veth", "peer", "name", "v1", "netns", &name])
        && generator(&["addr", "add", "10.78.0.1/24", "dev", "v1"])
        && server(&["addr", "add", "10.78.0.2/24", "dev", "v1"])
        && generator(&["link", "set", "v1", "up"])
        && server(&["link", "set", "v1", "up"])
        && server(&["addr", "add", "10.77.9.9/32", "dev", "lo"])
        && ["all", "v0", "v1"].into_iter().all(loose)
        && server(&["route", "add", "10.78.9.0/24", "via", "10.77.0.1"])
        && (1..=6).all(|last| generator(&["addr", "add", &format!("10.78.9.{last}/32"), "dev", "lo"]))
        && generator(&[
            "route",
            "add",
            "10.77.9.9/32",
            "nexthop",
            "via",
            "10.77.0.2",
            "nexthop",
            "via",
            "10.78.0.2",
        ])
}

#[test]
fn loads_from_several_addresses_take_the_links_that_were_predicted() {
    let Some(pair) = Pair::make().filter(linked) else {
        let needs = &["root", "iproute2", "namespaces", "CONFIG_IP_ROUTE_MULTIPATH"];
        return skip("loads_from_several_addresses_take_the_links_that_were_predicted", needs);
    };
    let (target, program) = (pair.target_at("10.77.9.9", &[]), Program::new());
    let sources: Vec<String> = (1..=6).map(|last| format!("10.78.9.{last}")).collect();
    let all = sources.join(",");
    let asked = ["links", "10.77.9.9", "--source", &all, "--json"];
    let found = json(&Running::start(pair.command(&program, asked)).finish(LIMIT));
    let aggregate = &found["aggregates"][0];
    assert_eq!(aggregate["name"], "10.77.9.9/32", "{found:#}");
    let peers = aggregate["peers"].as_array().expect("a list");
    assert_eq!(peers.len(), sources.len(), "{found:#}");
    for (source, peer) in sources.iter().zip(peers) {
        let predicted = peer["ratios"].as_array().expect("a list").iter().position(|ratio| ratio == 1.0);
        let links = ["v0", "v1"];
        let before = links.map(|link| sent(&pair, link));
        let load = ["load", target.url(), "-n", "300", "-c", "3", "--source", source, "--target-is-mine"];
        let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
        assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
        let more: Vec<u64> =
            links.iter().zip(before).map(|(link, before)| sent(&pair, link) - before).collect();
        let busiest = usize::from(more[1] > more[0]);
        assert_eq!(predicted, Some(busiest), "from {source}: {more:?} packets, {peer}");
        assert!(more[busiest] >= 300 && more[1 - busiest] < 30, "from {source}: {more:?} packets");
    }
}
