//! Who is waited for, where threads of the server wait for somebody who is no tier: an address that could not be looked into, or the
//! program that takes the server's log from a pipe.

use super::{Case, evidence, seen_in};
use crate::format::name;
use crate::path::{address_text, called, outside_name, scope_of};
use crate::readings::Window;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::path::{PathTier, WaitKind};
use sysdyno_record::plan::NAME_SERVICE_PORT;

pub(super) const CONNECTING: Threshold = Threshold::new(
    "connects to an address without an answer, on average, to be what is waited for there",
    0.5,
    "count",
    HOUSE,
);

/// Somebody who is no tier.
pub(super) enum Peer<'a> {
    /// An address that could not be looked into.
    Outside(&'a str),
    /// The program that takes the log of the tier, by its name.
    LogReader(String),
}

impl<'a> Peer<'a> {
    /// Who a wait of a tier is for; `outside`: the address that most of it is at.
    pub(super) fn of(
        view: &TrialView,
        kind: WaitKind,
        tier: &PathTier,
        outside: Option<&'a str>,
    ) -> Option<Peer<'a>> {
        let reader = || log_reader(view, tier).filter(|_| kind == WaitKind::Process);
        outside.map(Peer::Outside).or_else(|| reader().map(Peer::LogReader))
    }

    /// The name server that threads of a tier wait for, with how many do on average.
    pub(super) fn name_server(path: &'a [PathTier], tier: &PathTier) -> Option<(Peer<'a>, f64)> {
        tier.waits.iter().find_map(|wait| {
            let address = path.get(wait.on?).filter(|at| at.is_outside)?.address.as_deref()?;
            is_name_server(address).then_some((Peer::Outside(address), wait.threads_count))
        })
    }

    /// What it is called in a sentence.
    pub(super) fn name(&self) -> String {
        match self {
            Peer::Outside(address) => name(&outside_name(address)),
            Peer::LogReader(reader) => reader.clone(),
        }
    }

    /// What is told of a wait for it by this tier of a path.
    pub(super) fn told<'t>(
        &self,
        case: Case<'t>,
        (path, tier): (&[PathTier], &PathTier),
        text: &str,
        window: &Window,
    ) -> Case<'t> {
        let seen = match self {
            Peer::LogReader(_) => None,
            Peer::Outside(address) => match unanswered(tier, address, window) {
                None if !is_name_server(address) && !is_socket_file(address) => return case,
                seen => seen,
            },
        };
        let (why, remedy) = self.told_of(&called(path, tier));
        let title = format!("Requests wait for {}, {why}: {text}", self.name());
        let evidence = case.evidence.iter().cloned().chain(seen).collect();
        Case { title, evidence, remedy: Some(remedy), ..case }
    }

    /// Why it is waited for by `who`, and what to change; of an address that is no name server's, if nobody answers there.
    pub(super) fn told_of(&self, who: &str) -> (&'static str, String) {
        let what = self.name();
        match self {
            Peer::LogReader(_) => {
                let remedy = format!(
                    "find out what {what} waits for (a disk, another service) and let it read faster, or write the log to a file \
                     and ship it from there"
                );
                ("which takes the log from a pipe", remedy)
            }
            Peer::Outside(address) if is_name_server(address) => {
                let remedy = format!(
                    "find out why it does not answer at once (dig @SERVER NAME +stats); let {who} ask one that does \
                     (/etc/resolv.conf), keep answers on this host (systemd-resolved, nscd, dnsmasq), or use addresses in place of \
                     names"
                );
                ("which answers late or never", remedy)
            }
            Peer::Outside(address) if is_socket_file(address) => {
                let remedy = format!(
                    "find the program that reads {what}, such as a log daemon, and what it waits for (a disk, another host), so that \
                     it keeps up; or let {who} log less, or without waiting"
                );
                ("whose reader does not keep up", remedy)
            }
            Peer::Outside(_) => {
                let remedy = format!(
                    "find out why nobody answers connects to {what} (a firewall that drops them, a host that is down, a full queue \
                     there); until then, let {who} wait for a shorter time, or ask there outside of requests"
                );
                ("where nobody answers connects", remedy)
            }
        }
    }
}

/// Whether it is a Unix socket: to those that are no tier, datagrams are sent.
fn is_socket_file(address: &str) -> bool {
    address.starts_with("unix:")
}

/// Whether names are looked up there.
fn is_name_server(address: &str) -> bool {
    address.ends_with(&format!(":{NAME_SERVICE_PORT}"))
}

/// The program that takes the log of a tier from a pipe, if it is the only one that the tier has started: who waits for another
/// process may wait to write there.
fn log_reader(view: &TrialView, tier: &PathTier) -> Option<String> {
    let mut processes = view.processes(ProcessRole::Target);
    let address = |process: &WatchedProcess| process.tier.as_ref().map(|tier| address_text(&tier.address));
    processes.retain(|process| address(process) == tier.address && process.command != tier.name);
    match processes[..] {
        [reader] if reader.is_log_reader => Some(name(&reader.command)),
        _ => None,
    }
}

/// That connections to this address are being made all the time, and nobody answers.
fn unanswered(tier: &PathTier, address: &str, window: &Window) -> Option<Evidence> {
    let scope = format!("{}>{address}", scope_of(tier));
    let level = window.level(column::ASKED_CONNECTING, &scope)?;
    (level.mean >= CONNECTING.value).then(|| {
        let text = format!("{:.1} connects to {} at a time had no answer", level.mean, name(address));
        let seen = evidence(EvidenceRole::Confirmer, window, "sock_diag, SYN_SENT sockets", text);
        seen_in(column::ASKED_CONNECTING.at(&scope), seen)
    })
}
