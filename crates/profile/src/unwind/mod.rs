//! Unwinds a program's stack from its registers and a copy of the top of the stack, for stacks whose frame pointers do not
//! lead to the beginning.
//!
//! Compilers for Linux record how to return from every function ([`table`]), because exceptions or debuggers need it, but hardly
//! any distribution keeps frame pointers. Rules are kept by file and not by process: a library is looked up once, however many
//! processes have mapped it.
//!
//! **The copy is secret**: it contains whatever the program had on its stack, keys and passwords included. It is unwound
//! when its sample arrives, never kept, and never written. Addresses taken from it end with the recording, like all others.
//!
//! Both the copy and the files are hostile: every loop, table, and cache is bounded.

mod elf;
mod rule;
mod table;

use crate::chain::CallChain;
use crate::frames::MappedObjects;
use crate::object_file::{open_regular, path_of};
use crate::processes::Processes;
use crate::registers::UserState;
use crate::space::MappedPlace;
use crate::vdso;
use gimli::UnwindContext;
use rule::{Caller, UnwindFrame, UnwindRule};
use std::collections::HashMap;
use table::UnwindTable;

/// Most functions of a program on a stack. Source: `kernel.perf_event_max_stack`, the same for kernel and program together.
const FRAMES_MAX: usize = 127;

/// Memory of all tables. Unit: bytes.
const TABLES_MAX: usize = 256 << 20;

/// Maximum number of cached rules; 112 bytes each.
const RULES_MAX: usize = 1 << 16;

/// Follows stacks by the tables of the files that are mapped there.
#[derive(Default)]
pub(crate) struct Unwinder {
    /// By the number of the object; `None`: it has none.
    tables: HashMap<u32, Option<UnwindTable>>,
    tables_bytes: usize,
    rules: HashMap<(u32, u64), Option<UnwindRule>>,
    context: UnwindContext<usize>,
}

impl Unwinder {
    /// Takes what the tables say, where that leads further than the chain that the kernel has followed.
    pub(crate) fn complete(
        &mut self,
        chain: &mut CallChain,
        pid: u32,
        state: &UserState,
        processes: &mut Processes,
    ) {
        let walked = self.walk(pid, state, processes);
        *chain = joined(std::mem::take(chain), walked);
    }

    /// The addresses of the program's functions, and whether the last one is where it begins.
    pub(crate) fn walk(&mut self, pid: u32, state: &UserState, processes: &mut Processes) -> Walked {
        let mut walked = Walked { user: vec![state.registers.code], is_whole: false };
        let (mut registers, mut is_innermost) = (state.registers, true);
        while walked.user.len() < FRAMES_MAX {
            let address = if is_innermost { registers.code } else { registers.code - 1 };
            let Some(place) = processes.place(pid, address) else { break };
            let rule = self.rule(place, is_innermost, &processes.objects);
            let table = self.tables.get(&place.object).and_then(Option::as_ref);
            let frame = UnwindFrame {
                registers,
                file_address: table.and_then(|table| table.address_of(place.file_offset)).unwrap_or(0),
                is_innermost,
                stack: &state.stack,
                stack_begin: state.registers.stack,
            };
            match rule.caller(&frame, table) {
                Caller::Known(caller) => registers = caller,
                Caller::Beginning => {
                    walked.is_whole = true;
                    break;
                }
                Caller::Unknown => break,
            }
            is_innermost = rule.is_signal;
            let address = if is_innermost { registers.code } else { registers.code - 1 };
            // No code lies there: what led to it was no return address.
            if processes.place(pid, address).is_none() {
                break;
            }
            walked.user.push(address);
        }
        walked
    }

    fn rule(&mut self, place: MappedPlace, is_innermost: bool, objects: &MappedObjects) -> UnwindRule {
        let MappedPlace { object, file_offset } = place;
        self.load(object, objects);
        let Some(Some(table)) = self.tables.get(&object) else { return UnwindRule::of_frame_pointer() };
        if self.rules.len() >= RULES_MAX {
            self.rules.clear();
        }
        let rule = self.rules.entry((object, file_offset)).or_insert_with(|| {
            let address = table.address_of(file_offset)?;
            table.row(&mut self.context, address, UnwindRule::of_row)
        });
        rule.clone().unwrap_or_else(|| match is_innermost {
            // Hand-written code, which mostly is short and calls nobody.
            true => UnwindRule::of_untouched_stack(),
            false => UnwindRule::of_frame_pointer(),
        })
    }

    /// Reads the table of an object when it occurs for the first time.
    fn load(&mut self, object: u32, objects: &MappedObjects) {
        if self.tables.contains_key(&object) {
            return;
        }
        let table = match &objects.get(object).path[..] {
            vdso::NAME => vdso::image().and_then(|image| UnwindTable::read(&image)),
            _ if self.tables_bytes >= TABLES_MAX => None,
            _ => path_of(objects.get(object), objects.seen(object))
                .and_then(|path| open_regular(&path))
                .and_then(|file| UnwindTable::read(&file)),
        };
        self.tables_bytes += table.as_ref().map_or(0, UnwindTable::size_bytes);
        self.tables.insert(object, table);
    }
}

/// What the tables say.
#[derive(Debug)]
pub(crate) struct Walked {
    pub(crate) user: Vec<u64>,
    pub(crate) is_whole: bool,
}

/// The chain with the better part of the two.
///
/// A stack that is longer than its copy goes on by the frame pointers of the chain, where both meet.
pub(crate) fn joined(chain: CallChain, mut walked: Walked) -> CallChain {
    let CallChain { kernel, user, .. } = chain;
    if walked.is_whole {
        return CallChain { kernel, user: walked.user, is_whole: true };
    }
    let last = walked.user.last();
    if let Some(met) = user.iter().position(|address| Some(address) == last) {
        walked.user.extend(&user[met + 1..]);
    }
    let user = if walked.user.len() >= user.len() { walked.user } else { user };
    CallChain { kernel, user, is_whole: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(user: &[u64]) -> CallChain {
        CallChain { kernel: vec![1], user: user.to_vec(), is_whole: false }
    }

    #[test]
    fn the_longer_way_counts_unless_the_other_one_reaches_the_beginning() {
        let cut = |user: &[u64]| Walked { user: user.to_vec(), is_whole: false };
        assert_eq!(joined(chain(&[10, 20, 30]), cut(&[10, 15])).user, [10, 20, 30]);
        assert_eq!(joined(chain(&[10, 77]), cut(&[10, 15, 20])).user, [10, 15, 20]);
        // The copy ends at 20, where both have been.
        assert_eq!(joined(chain(&[10, 20, 30]), cut(&[10, 15, 20])).user, [10, 15, 20, 30]);
        let whole = joined(chain(&[10, 20, 30]), Walked { user: vec![10, 15], is_whole: true });
        assert_eq!((whole.user, whole.kernel, whole.is_whole), (vec![10, 15], vec![1], true));
    }
}
