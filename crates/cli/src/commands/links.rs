//! `sysdyno links`: which link of an aggregate carries the traffic of whom.

use crate::args::LinksArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::bail;
use std::net::IpAddr;
use sysdyno_analyze::links::predict;
use sysdyno_record::links::{AggregateKind, FlowEnd, HashPolicy, LinkAggregate, LinkMember, LinkPeer};
use sysdyno_report::links as text;
use sysdyno_run::links::{LinksCall, predict_here};

pub fn links(args: &LinksArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let peers = args.peers.iter().map(|typed| peer(typed)).collect::<anyhow::Result<Vec<LinkPeer>>>()?;
    let found = match &args.hash {
        Some(policy) => vec![predict(described(args, policy)?, &peers, args.port)],
        None => predict_here(&LinksCall { peers, sources: args.source.clone(), port: args.port })?,
    };
    match args.json {
        true => ui.print(&format!("{:#}", text::document(&found))),
        false => ui.print(&text::screen(&found, &ui.style())),
    }
    Ok(Exit::Done)
}

/// A peer as it is typed.
fn peer(typed: &str) -> anyhow::Result<LinkPeer> {
    let (ip, mac) = match typed.split_once('@') {
        Some((ip, mac)) => (ip.parse().map(Some).ok(), mac.parse().map(Some).ok()),
        None => match typed.parse::<IpAddr>() {
            Ok(ip) => (Some(Some(ip)), Some(None)),
            Err(_) => (Some(None), typed.parse().map(Some).ok()),
        },
    };
    let (Some(ip), Some(mac)) = (ip, mac) else {
        let typed = typed.escape_debug();
        bail!(
            "cannot read host '{typed}': it is not an address\nhint: 10.0.0.9, 02:00:5e:10:00:09, or 10.0.0.9@02:00:5e:10:00:09"
        );
    };
    Ok(LinkPeer { name: typed.to_owned(), end: FlowEnd { mac, ip } })
}

/// A device that is not this host.
fn described(args: &LinksArgs, policy: &str) -> anyhow::Result<LinkAggregate> {
    let (Some(count), Some(own)) = (args.links, &args.own) else { bail!("--hash needs --links and --own") };
    if args.peers.is_empty() {
        bail!(
            "cannot divide traffic: --hash needs the peers\nhint: sysdyno links PEER… --hash POLICY --links N --own HOST"
        );
    }
    let member = |number: u8| LinkMember {
        name: format!("link {number}"),
        interface: String::new(),
        is_used: true,
        speed_mbps: None,
        sent_bytes: None,
        received_bytes: None,
    };
    Ok(LinkAggregate {
        kind: AggregateKind::Described,
        name: own.clone(),
        mode: policy.to_owned(),
        policy: HashPolicy::ALL.into_iter().find(|known| known.name() == policy),
        own: peer(own)?.end,
        members: (1..=count).map(member).collect(),
    })
}
