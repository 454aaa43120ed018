//! The owner of a sum of times, as the BPF program writes it: a tier and, for its outgoing requests, the address at the
//! other end.

use crate::diag::FileId;
use crate::discover::{Entrance, Entrances, Host, is_of_all_services};
use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use sysdyno_record::plan::Endpoint;

/// `struct party` in `bpf/requests.bpf.c`. Unit: bytes.
pub(super) const PARTY_BYTES: usize = 40;

/// `struct place`: the number of the sums, then the address of a Unix socket. Unit: bytes.
pub(super) const PLACE_BYTES: usize = 4 + NAME_BYTES;

/// `sun_path`. Unit: bytes.
const NAME_BYTES: usize = 108;

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;

/// Which end of its connections a tier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionEnd {
    /// It accepted them.
    Server,
    /// It opened them.
    Client,
}

/// Whose times a sum is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Party {
    /// The number of the tier.
    pub(super) tier: u32,
    pub(super) role: ConnectionEnd,
    /// The other end, if the tier is the client.
    peer: Option<Peer>,
    /// The number of the sums.
    pub(super) slot: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Peer {
    /// As it is called in a network namespace.
    Tcp { namespace: u64, address: SocketAddr },
    /// A file and its path, or an abstract name. Untrusted.
    Unix { file: Option<FileId>, name: Vec<u8> },
}

impl Party {
    /// Reads a key of the map `parties` and its value; `None`: of a kind that is not known.
    pub(super) fn decode(key: &[u8; PARTY_BYTES], place: &[u8; PLACE_BYTES]) -> Option<Party> {
        let word = |offset: usize| u32::from_ne_bytes(std::array::from_fn(|byte| key[offset + byte]));
        let role = match word(4) {
            0 => ConnectionEnd::Server,
            1 => ConnectionEnd::Client,
            _ => return None,
        };
        let peer = match (role, word(8)) {
            (ConnectionEnd::Server, _) => None,
            (ConnectionEnd::Client, AF_UNIX) => Some(unix_peer(key, place, word(16))),
            (ConnectionEnd::Client, family) => {
                let ip = ip(family, std::array::from_fn(|byte| key[24 + byte]))?;
                let port = u16::from_be_bytes([key[16], key[17]]);
                Some(Peer::Tcp { namespace: u64::from(word(12)), address: SocketAddr::new(ip, port) })
            }
        };
        let slot = u32::from_ne_bytes(std::array::from_fn(|byte| place[byte]));
        Some(Party { tier: word(0), role, peer, slot })
    }

    /// Where the other end of a client accepts connections, if that is certain to be on this host.
    pub(super) fn entrance(&self, entrances: &Entrances) -> Option<Entrance> {
        match self.peer.as_ref()? {
            Peer::Tcp { namespace, address } => {
                let is_own = entrances.is_own(*namespace, address.ip());
                is_own.then(|| entrances.at_address(*namespace, *address))
            }
            Peer::Unix { file, .. } => file.map(Entrance::Unix),
        }
    }

    /// The address that a client asks: that of a tier, where it is one. `None`: it is not the requests that it is asked for.
    pub(super) fn asked(&self, entrances: &Entrances) -> Option<Endpoint> {
        match self.peer.as_ref()? {
            Peer::Tcp { namespace, address } => {
                let dialed = entrances.dialed.get(&(*namespace, *address));
                let here = match self.entrance(entrances).and_then(|at| entrances.hosts.get(&at)) {
                    Some(Host::Tier(tier)) => tier.as_ref(),
                    _ => None,
                };
                Some(dialed.or(here).cloned().unwrap_or(Endpoint::Tcp(*address)))
            }
            Peer::Unix { file, name } => {
                let tier = file.and_then(|file| entrances.at_file(file)).cloned();
                let named = Endpoint::Unix(PathBuf::from(OsStr::from_bytes(name)));
                Some(tier.unwrap_or(named)).filter(|asked| !is_of_all_services(asked))
            }
        }
    }
}

fn ip(family: u32, bytes: [u8; 16]) -> Option<IpAddr> {
    match family {
        AF_INET => Some(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()),
        AF_INET6 => Some(IpAddr::from(Ipv6Addr::from(bytes)).to_canonical()),
        _ => None,
    }
}

/// An abstract name begins with a zero byte, which is written as an `@`, and is as long as the address says.
fn unix_peer(key: &[u8; PARTY_BYTES], place: &[u8; PLACE_BYTES], address_bytes: u32) -> Peer {
    let text = &place[4..];
    if text[0] == 0 {
        let length = (address_bytes as usize).saturating_sub(2).clamp(1, NAME_BYTES);
        return Peer::Unix { file: None, name: [b"@", &text[1..length]].concat() };
    }
    let length = text.iter().position(|byte| *byte == 0).unwrap_or(NAME_BYTES);
    let half = |offset: usize| u32::from_ne_bytes(std::array::from_fn(|byte| key[offset + byte]));
    Peer::Unix { file: Some(FileId { inode: half(24), device: half(28) }), name: text[..length].to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(words: [u32; 5], address: &[u8]) -> [u8; PARTY_BYTES] {
        let mut key = [0; PARTY_BYTES];
        for (index, word) in words.into_iter().enumerate() {
            key[index * 4..][..4].copy_from_slice(&word.to_ne_bytes());
        }
        key[24..][..address.len()].copy_from_slice(address);
        key
    }

    fn place(slot: u32, name: &[u8]) -> [u8; PLACE_BYTES] {
        let mut place = [0; PLACE_BYTES];
        place[..4].copy_from_slice(&slot.to_ne_bytes());
        place[4..][..name.len()].copy_from_slice(name);
        place
    }

    fn asked(party: Option<Party>, entrances: &Entrances) -> Option<Endpoint> {
        party.and_then(|party| party.asked(entrances))
    }

    #[test]
    fn the_other_end_is_a_tier_where_one_answers_there_and_else_an_address() {
        let port = u32::from(3306u16.to_be());
        let here = Entrance::Tcp { namespace: 7, port: 3306, address: None };
        let remote = Party::decode(&key([2, 1, AF_INET, 7, port], &[10, 1, 2, 3]), &place(5, b""));
        assert_eq!(remote.as_ref().map(|party| (party.tier, party.slot)), Some((2, 5)));
        let at = |ip: [u8; 4]| Endpoint::Tcp((ip, 3306).into());
        let entrance =
            |party: &Option<Party>, of: &Entrances| party.as_ref().and_then(|party| party.entrance(of));
        assert_eq!(entrance(&remote, &Entrances::default()), None, "it may be on another host");
        assert_eq!(asked(remote.clone(), &Entrances::default()), Some(at([10, 1, 2, 3])));
        let mut entrances = Entrances::default();
        entrances.dialed.insert((7, ([10, 1, 2, 3], 3306).into()), at([0, 0, 0, 0]));
        assert_eq!(asked(remote.clone(), &entrances), Some(at([0, 0, 0, 0])));
        let mut own = Entrances::default();
        own.note_own(std::iter::once((7, [10, 1, 2, 3].into())));
        own.hosts.insert(here, Host::Tier(Some(at([0, 0, 0, 0]))));
        assert_eq!(entrance(&remote, &own), Some(here));
        assert_eq!(asked(remote, &own), Some(at([0, 0, 0, 0])), "it is an address of this host");
        let mapped = Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets();
        let local = Party::decode(&key([2, 1, AF_INET6, 7, port], &mapped), &place(5, b""));
        assert_eq!(asked(local.clone(), &entrances), Some(at([127, 0, 0, 1])));
        assert_eq!(entrance(&local, &entrances), Some(here));
        entrances.hosts.insert(here, Host::Tier(Some(at([0, 0, 0, 0]))));
        assert_eq!(asked(local.clone(), &entrances), Some(at([0, 0, 0, 0])), "it listens at all addresses");
        let alone = Entrance::Tcp { namespace: 7, port: 3306, address: Some(Ipv4Addr::LOCALHOST.into()) };
        entrances.hosts.insert(alone, Host::Tier(Some(at([127, 0, 0, 1]))));
        assert_eq!(entrance(&local, &entrances), Some(alone), "another one listens at this address alone");
        assert_eq!(asked(local, &entrances), Some(at([127, 0, 0, 1])));
    }

    #[test]
    fn unix_sockets_are_known_by_their_file_or_their_name() {
        let file = [9u32.to_ne_bytes(), 3u32.to_ne_bytes()].concat();
        let of =
            |name: &[u8], length| Party::decode(&key([0, 1, AF_UNIX, 7, length], &file), &place(0, name));
        let unix = |path: &str| Some(Endpoint::Unix(path.into()));
        let mut entrances = Entrances::default();
        assert_eq!(asked(of(b"/run/php.sock", 16), &entrances), unix("/run/php.sock"));
        assert_eq!(asked(of(b"\0name", 7), &entrances), unix("@name"));
        assert_eq!(asked(of(b"/run/systemd/journal/stdout", 30), &entrances), None);
        let entrance = Entrance::Unix(FileId { inode: 9, device: 3 });
        entrances.hosts.insert(entrance, Host::Tier(unix("/run/php/php.sock")));
        assert_eq!(asked(of(b"../php.sock", 16), &entrances), unix("/run/php/php.sock"));
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        assert_eq!(Party::decode(&key([0, 2, 0, 0, 0], b""), &place(0, b"")), None);
        assert_eq!(Party::decode(&key([0, 1, 16, 0, 0], b""), &place(0, b"")), None);
        let server = Party::decode(&key([1, 0, 0, 0, 0], b""), &place(3, b""));
        assert_eq!(
            server.map(|party| (party.tier, party.role, party.slot)),
            Some((1, ConnectionEnd::Server, 3))
        );
    }
}
