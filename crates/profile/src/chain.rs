//! The call chain of a sample as the kernel gives it: by frame pointers, with marks between kernel and program.

use crate::sys::bindings as abi;

/// Addresses of a stack, the innermost first, each that of an instruction of the call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallChain {
    /// Those in the kernel.
    pub(crate) kernel: Vec<u64>,
    /// Those in the program.
    pub(crate) user: Vec<u64>,
    /// Whether the last one is known to be where the program or thread begins.
    pub(crate) is_whole: bool,
}

impl CallChain {
    /// Reads the words of a chain. Marks are from `PERF_CONTEXT_MAX` on.
    ///
    /// All but the first of a mode are where a call returns to, which may already be the next function: one less is the call.
    pub(crate) fn of_words(words: &[u64]) -> CallChain {
        let mut chain = CallChain::default();
        let (mut mark, mut is_first) = (0, true);
        for word in words {
            if *word >= abi::PERF_CONTEXT_MAX {
                (mark, is_first) = (*word, true);
                continue;
            }
            let address = if is_first { *word } else { word.saturating_sub(1) };
            is_first = false;
            match mark {
                abi::PERF_CONTEXT_KERNEL => chain.kernel.push(address),
                abi::PERF_CONTEXT_USER => chain.user.push(address),
                _ => {}
            }
        }
        chain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn return_addresses_are_taken_for_their_calls_in_each_mode() {
        let words = [
            abi::PERF_CONTEXT_KERNEL,
            0xffff_ffff_8100_0010,
            0xffff_ffff_8100_0100,
            abi::PERF_CONTEXT_USER,
            0x5000,
            0x6000,
        ];
        let chain = CallChain::of_words(&words);
        assert_eq!(chain.kernel, [0xffff_ffff_8100_0010, 0xffff_ffff_8100_00ff]);
        assert_eq!(chain.user, [0x5000, 0x5fff]);
    }

    #[test]
    fn an_address_without_a_known_mode_is_left_out() {
        let chain = CallChain::of_words(&[0x5000, abi::PERF_CONTEXT_GUEST, 0x6000]);
        assert_eq!(chain, CallChain::default());
    }
}
