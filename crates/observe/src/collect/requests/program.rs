//! The BPF program in the kernel: loads it, tells it which processes and places belong to whom, and reads it.

use super::party::{PARTY_BYTES, PLACE_BYTES, Party};
use crate::discover::{Entrance, Entrances, Host};
use crate::roots::Roots;
use crate::threads::RequestHandling;
use aya::maps::{Array, HashMap as BpfMap, Map, MapData, MapError, PerCpuArray};
use aya::programs::links::FdLink;
use aya::programs::{BtfTracePoint, ProgramError};
use aya::{Btf, BtfError, Ebpf, EbpfLoader, Pod};
use std::collections::HashSet;
use std::error::Error;
use std::hash::Hash;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use sysdyno_record::plan::Endpoint;

/// Built by `scripts/build-bpf` out of `bpf/requests.bpf.c`.
static OBJECT: &[u8] = include_bytes!("../../../assets/requests.bpf.o");

/// The functions of the program, and the tracepoints that they are called at.
const FUNCTIONS: [(&str, &str); 3] =
    [("data_ready", "sk_data_ready"), ("received", "sock_recv_length"), ("sent", "sock_send_length")];

/// Numbers of `struct sums` in `bpf/requests.bpf.c`.
pub(super) const WIDTH: usize = 8;

/// Begun, answered, merged; times until a server's first read, inside, until more of an answer, until an answer's read, until
/// more of a request.
pub(super) type Sums = [u64; WIDTH];

/// `struct sampling` in `bpf/requests.bpf.c`: mask, turn shift, generation.
pub(super) type Words = [u32; 3];

/// Bits of a word of the map `tcp_ports`.
const PORTS_EACH: usize = 64;

/// Whoever listens there is no tier.
const NO_TIER: u32 = u32::MAX;

/// The inode of the first pid namespace, `PROC_PID_INIT_INO`.
const FIRST_PIDS: u64 = 0xefff_fffc;

/// The program in the kernel; it is unloaded when this is dropped.
pub(super) struct SocketProgram {
    loaded: Ebpf,
    /// Keep the functions attached; none: they are not called.
    links: Vec<FdLink>,
    processes: Set<u32>,
    tcp_listeners: Set<[u32; 6]>,
    tcp_ports: Array<MapData, u64>,
    /// What that holds.
    port_bits: Vec<u64>,
    unix_listeners: Set<[u32; 2]>,
    parties: BpfMap<MapData, [u8; PARTY_BYTES], [u8; PLACE_BYTES]>,
    sums: PerCpuArray<MapData, Sums>,
    sampling: Array<MapData, Words>,
    /// What the map `sampling` says.
    words: Words,
    handling: Arc<RequestHandling>,
    /// Tiers in the order of their numbers; `None`: the one that the load reaches.
    tiers: Vec<Option<Endpoint>>,
}

impl SocketProgram {
    /// Loads the program, which is not called before it is attached.
    ///
    /// # Errors
    /// Why it cannot be, as a reason to be shown.
    pub(super) fn load(roots: &Roots) -> Result<SocketProgram, String> {
        if !is_in_first_pids(roots) {
            return Err("process IDs are those of a container here, and not the kernel's".to_owned());
        }
        let btf = Btf::from_sys_fs().map_err(|_| "the kernel has no BTF".to_owned())?;
        let mut loaded = EbpfLoader::new().btf(Some(&btf)).load(OBJECT).map_err(|error| reason(&error))?;
        for (name, tracepoint) in FUNCTIONS {
            load(function(&mut loaded, name)?, tracepoint, &btf)?;
        }
        SocketProgram::of(loaded).map_err(|error| reason(&error))
    }

    /// Has the functions called from now on.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(super) fn attach(&mut self) -> Result<(), String> {
        self.detach();
        for (name, _) in FUNCTIONS {
            let function = function(&mut self.loaded, name)?;
            let link = function.attach().and_then(|id| function.take_link(id));
            self.links.push(link.map_err(|error| reason(&error))?.into());
        }
        self.handling.set_share(share(self.words));
        Ok(())
    }

    /// Has them called no longer; the kernel's tracepoints then cost nothing.
    pub(super) fn detach(&mut self) {
        self.links.clear();
        self.handling.set_share(0);
    }

    /// Which threads have requests.
    pub(super) fn handling(&self) -> Arc<RequestHandling> {
        Arc::clone(&self.handling)
    }

    fn of(mut loaded: Ebpf) -> Result<SocketProgram, MapError> {
        let tcp_ports: Array<MapData, u64> = take(&mut loaded, "tcp_ports")?.try_into()?;
        Ok(SocketProgram {
            processes: Set::new(take(&mut loaded, "processes")?)?,
            tcp_listeners: Set::new(take(&mut loaded, "tcp_listeners")?)?,
            port_bits: vec![0; tcp_ports.len() as usize],
            tcp_ports,
            unix_listeners: Set::new(take(&mut loaded, "unix_listeners")?)?,
            parties: take(&mut loaded, "parties")?.try_into()?,
            sums: take(&mut loaded, "sums")?.try_into()?,
            sampling: take(&mut loaded, "sampling")?.try_into()?,
            words: [0; 3],
            handling: Arc::new(RequestHandling::of([
                take(&mut loaded, "open_requests")?,
                take(&mut loaded, "last_turn")?,
                take(&mut loaded, "handling")?,
            ])?),
            tiers: vec![None],
            links: Vec::new(),
            loaded,
        })
    }

    /// Tells which processes are of which tier, in place of those before.
    ///
    /// # Errors
    /// The kernel refuses them.
    pub(super) fn set_processes(
        &mut self,
        processes: impl Iterator<Item = (u32, Option<Endpoint>)>,
    ) -> Result<(), String> {
        let all = processes.map(|(pid, tier)| (pid, number(&mut self.tiers, tier))).collect();
        self.processes.set(all).map_err(|error| reason(&error))
    }

    /// Tells where the tiers accept connections, and where others do, in place of those before.
    ///
    /// # Errors
    /// The kernel refuses them.
    pub(super) fn set_entrances(&mut self, entrances: &Entrances) -> Result<(), String> {
        let (mut tcp, mut unix) = (Vec::new(), Vec::new());
        for (entrance, host) in &entrances.hosts {
            let number = match host {
                Host::Tier(tier) => number(&mut self.tiers, tier.clone()),
                Host::Foreign => NO_TIER,
            };
            match entrance {
                // The kernel numbers namespaces with 32 bits.
                Entrance::Tcp { namespace, port, address } => {
                    let [a, b, c, d] = address_words(*address);
                    tcp.push(([*namespace as u32, u32::from(*port), a, b, c, d], number));
                }
                Entrance::Unix(file) => unix.push(([file.inode, file.device], number)),
            }
        }
        self.set_ports(tcp.iter().map(|([_, port, ..], _)| *port)).map_err(|error| reason(&error))?;
        self.tcp_listeners.set(tcp).map_err(|error| reason(&error))?;
        self.unix_listeners.set(unix).map_err(|error| reason(&error))
    }

    /// Tells which connections are to be watched from now on.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub(super) fn set_sampling(&mut self, words: Words) -> Result<(), String> {
        self.words = words;
        self.handling.set_share(if self.links.is_empty() { 0 } else { share(words) });
        self.sampling.set(0, words, 0).map_err(|error| reason(&error))
    }

    /// Sets the bits of these ports, and no others.
    fn set_ports(&mut self, ports: impl Iterator<Item = u32>) -> Result<(), MapError> {
        let mut bits = vec![0; self.port_bits.len()];
        for port in ports {
            bits[port as usize / PORTS_EACH] |= 1 << (port as usize % PORTS_EACH);
        }
        for (word, bits) in bits.into_iter().enumerate() {
            if self.port_bits[word] != bits {
                self.tcp_ports.set(word as u32, bits, 0)?;
                self.port_bits[word] = bits;
            }
        }
        Ok(())
    }

    /// The tier of that number; `Some(None)`: the one that the load reaches.
    pub(super) fn tier(&self, number: u32) -> Option<Option<Endpoint>> {
        self.tiers.get(number as usize).cloned()
    }

    /// All sums, those of all CPUs together.
    ///
    /// # Errors
    /// The kernel does not tell them.
    pub(super) fn sums(&self) -> Result<Vec<(Party, Sums)>, String> {
        let read = || {
            let mut all = Vec::new();
            for entry in self.parties.iter() {
                let (key, place) = entry?;
                let Some(party) = Party::decode(&key, &place) else { continue };
                let mut sums = [0; WIDTH];
                for of_cpu in self.sums.get(&party.slot, 0)?.iter() {
                    sums.iter_mut().zip(of_cpu).for_each(|(sum, value)| *sum += value);
                }
                all.push((party, sums));
            }
            Ok::<_, MapError>(all)
        };
        read().map_err(|error| reason(&error))
    }
}

/// Of the connections, one of so many is watched.
fn share([mask, ..]: Words) -> u32 {
    mask.saturating_add(1)
}

/// An address as a key of the map `tcp_listeners` has it.
fn address_words(address: Option<IpAddr>) -> [u32; 4] {
    match address.map(|address| address.to_canonical()) {
        None => [0; 4],
        Some(IpAddr::V4(address)) => [u32::from_ne_bytes(address.octets()), 0, 0, 0],
        Some(IpAddr::V6(address)) => {
            let bytes = address.octets();
            std::array::from_fn(|word| u32::from_ne_bytes(std::array::from_fn(|at| bytes[4 * word + at])))
        }
    }
}

/// The number of a tier, which gets the next one if it has none.
fn number(tiers: &mut Vec<Option<Endpoint>>, tier: Option<Endpoint>) -> u32 {
    let known = tiers.iter().position(|known| *known == tier);
    let number = known.unwrap_or_else(|| {
        tiers.push(tier);
        tiers.len() - 1
    });
    number as u32
}

/// A map of the program whose keys have tiers.
struct Set<K: Pod> {
    map: BpfMap<MapData, K, u32>,
    keys: HashSet<K>,
}

impl<K: Pod + Eq + Hash> Set<K> {
    fn new(map: Map) -> Result<Set<K>, MapError> {
        Ok(Set { map: map.try_into()?, keys: HashSet::new() })
    }

    /// Puts these in place of those before. What the map has no room for is left out.
    fn set(&mut self, all: Vec<(K, u32)>) -> Result<(), MapError> {
        let keys: HashSet<K> = all.iter().map(|(key, _)| *key).collect();
        for gone in self.keys.difference(&keys) {
            self.map.remove(gone)?;
        }
        self.keys.retain(|key| keys.contains(key));
        for (key, tier) in all {
            match self.map.insert(key, tier, 0) {
                Err(MapError::SyscallError(error)) if is_full(&error.io_error) => break,
                other => other?,
            }
            self.keys.insert(key);
        }
        Ok(())
    }
}

fn is_full(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::TOOBIG.raw_os_error())
}

fn take(loaded: &mut Ebpf, name: &str) -> Result<Map, MapError> {
    loaded.take_map(name).ok_or_else(|| MapError::InvalidName { name: name.to_owned() })
}

fn function<'a>(loaded: &'a mut Ebpf, name: &str) -> Result<&'a mut BtfTracePoint, String> {
    let function = loaded.program_mut(name).ok_or_else(|| format!("the BPF program has no '{name}'"))?;
    function.try_into().map_err(|error: ProgramError| reason(&error))
}

fn load(function: &mut BtfTracePoint, tracepoint: &str, btf: &Btf) -> Result<(), String> {
    function.load(tracepoint, btf).map_err(|error| match error {
        ProgramError::Btf(BtfError::UnknownBtfTypeName { .. }) => {
            format!("the kernel has no tracepoint {tracepoint} (Linux 6.4 has)")
        }
        other => reason(&other),
    })
}

/// Why something failed: the error of the system call where there is one, since the rest is the verifier's log.
fn reason(error: &(dyn Error + 'static)) -> String {
    let mut cause = Some(error);
    let mut last = error;
    while let Some(next) = cause {
        if let Some(io) = next.downcast_ref::<io::Error>() {
            return match io.kind() {
                io::ErrorKind::PermissionDenied => {
                    "not permitted (needs root, or CAP_BPF and CAP_PERFMON)".to_owned()
                }
                _ => format!("cannot load the BPF program: {io}"),
            };
        }
        last = next;
        cause = next.source();
    }
    format!("cannot load the BPF program: {last}")
}

fn is_in_first_pids(roots: &Roots) -> bool {
    let own = std::fs::metadata(roots.in_proc("self/ns/pid"));
    own.is_ok_and(|found| found.ino() == FIRST_PIDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aya::sys::SyscallError;
    use std::path::PathBuf;

    #[test]
    fn a_reason_is_the_error_of_the_system_and_not_the_log_of_the_verifier() {
        let check = |io_error: io::Error, expected: &str| {
            let error = MapError::SyscallError(SyscallError { call: "bpf", io_error });
            assert_eq!(reason(&error), expected);
        };
        let denied = "not permitted (needs root, or CAP_BPF and CAP_PERFMON)";
        check(io::ErrorKind::PermissionDenied.into(), denied);
        let full = io::Error::from_raw_os_error(rustix::io::Errno::NOSPC.raw_os_error());
        check(full, "cannot load the BPF program: No space left on device (os error 28)");
    }

    #[test]
    fn a_tree_that_was_recorded_has_no_process_ids_of_this_kernel() {
        assert!(!is_in_first_pids(&Roots::at(PathBuf::from("/nowhere"))));
    }
}
