//! The registers of a program that lead from a function to its caller, on the machines that sysdyno runs on.

use crate::sys::bindings as abi;

/// A program's registers in some function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UserRegisters {
    /// Where it runs.
    pub(crate) code: u64,
    /// Its stack pointer.
    pub(crate) stack: u64,
    /// Its frame pointer, or whatever the code keeps in that register.
    pub(crate) frame: u64,
    /// Where it returns to, on machines that keep this in a register; elsewhere 0.
    pub(crate) link: u64,
}

/// A program at the time of a sample.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct UserState {
    pub(crate) registers: UserRegisters,
    /// The top of its stack, from the stack pointer on. Secret.
    pub(crate) stack: Vec<u8>,
}

impl std::fmt::Debug for UserState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "UserState({} bytes of stack)", self.stack.len())
    }
}

#[cfg(target_arch = "x86_64")]
mod machine {
    use gimli::{Register, X86_64};

    pub(crate) const FRAME: Register = X86_64::RBP;
    pub(crate) const STACK: Register = X86_64::RSP;
    pub(crate) const RETURN: Register = X86_64::RA;

    /// Bits of `sample_regs_user`, in the order of the words: rbp, rsp, rip. Source: `arch/x86/include/uapi/asm/perf_regs.h`.
    pub(super) const BITS: [u32; 3] = [6, 7, 8];

    pub(super) fn of_words(words: [u64; 3]) -> super::UserRegisters {
        let [frame, stack, code] = words;
        super::UserRegisters { code, stack, frame, link: 0 }
    }

    /// An address of code without what the machine keeps in its upper bits: nothing here.
    pub(crate) fn plain_code(address: u64) -> u64 {
        address
    }
}

#[cfg(target_arch = "aarch64")]
mod machine {
    use gimli::{AArch64, Register};

    pub(crate) const FRAME: Register = AArch64::X29;
    pub(crate) const STACK: Register = AArch64::SP;
    pub(crate) const RETURN: Register = AArch64::X30;

    /// Bits of `sample_regs_user`, in the order of the words: x29, lr, sp, pc. Source: `arch/arm64/include/uapi/asm/perf_regs.h`.
    pub(super) const BITS: [u32; 4] = [29, 30, 31, 32];

    pub(super) fn of_words(words: [u64; 4]) -> super::UserRegisters {
        let [frame, link, stack, code] = words;
        super::UserRegisters { code, stack, frame, link }
    }

    /// An address of code without its signature. Addresses of programs have 48 bits unless they ask for more.
    pub(crate) fn plain_code(address: u64) -> u64 {
        address & ((1 << 48) - 1)
    }
}

pub(crate) use machine::{FRAME, RETURN, STACK, plain_code};

/// How many words a sample has.
pub(crate) const WORDS: usize = machine::BITS.len();

/// What to ask of the kernel as `sample_regs_user`.
pub(crate) fn mask() -> u64 {
    machine::BITS.iter().fold(0, |mask, bit| mask | 1 << bit)
}

/// The registers of a sample; `None`: the thread has no user mode, or is of a 32-bit program.
pub(crate) fn of_sample(sample_abi: u64, words: [u64; WORDS]) -> Option<UserRegisters> {
    (sample_abi == u64::from(abi::PERF_SAMPLE_REGS_ABI_64)).then(|| machine::of_words(words))
}
