//! The options of a token bucket (`tbf`): what they say, and the same ones with another rate.
//!
//! The kernel shows how long a full bucket lasts at the rate, in ticks, and not how many bytes that is, which decides
//! whether a packet passes at all. So the bytes are computed from the ticks as the kernel computes ticks from bytes: what
//! is sent back then holds at least what it held, and reads as it did.
//!
//! Sources: `net/sched/sch_tbf.c`, `psched_ratecfg_precompute` in `net/sched/sch_generic.c`,
//! `include/uapi/linux/pkt_sched.h`.

use std::fmt;
use sysdyno_netlink::{find, put, word};

const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_BURST: u16 = 6;
/// Rates that do not fit into 32 bits.
const LONG_RATES: [u16; 2] = [4, 5];

/// Length of `struct tc_tbf_qopt`. Unit: bytes.
const PARAMETERS: usize = 36;
/// Positions in it: of the link layer, overhead, and least size of the rate, and of the rate itself.
const LINK_LAYER_AT: usize = 1;
const OVERHEAD_AT: usize = 2;
const LEAST_AT: usize = 6;
const RATE_AT: usize = 8;
/// Position of the peak rate.
const PEAK_AT: usize = 12 + RATE_AT;
const LIMIT_AT: usize = 24;
const BUFFER_AT: usize = 28;

/// Nanoseconds of a tick, as a power of two.
const TICK_SHIFT: u32 = 6;

const NS_PER_S: u64 = 1_000_000_000;

/// Bytes per second of a kilobit per second.
const BYTES_PER_KBIT: u64 = 125;

/// A token bucket whose options can be sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TokenBucket {
    parameters: [u8; PARAMETERS],
}

impl TokenBucket {
    /// Understands options.
    ///
    /// # Errors
    /// They are none of a token bucket, or say more than is computed here.
    pub(super) fn parse(options: &[u8]) -> Result<TokenBucket, String> {
        let parameters = find(options, TCA_TBF_PARMS).and_then(|bytes| bytes.try_into().ok());
        let bucket = TokenBucket { parameters: parameters.ok_or("its token bucket cannot be read")? };
        let head = &bucket.parameters;
        let is_long = LONG_RATES.iter().any(|kind| find(options, *kind).is_some());
        if is_long || bucket.word(RATE_AT) == 0 {
            return Err("its token bucket has a rate of 34 Gbit/s or more".into());
        }
        if bucket.word(PEAK_AT) != 0 {
            return Err("its token bucket has a peak rate besides".into());
        }
        // 1 is Ethernet, where a packet costs its length.
        if head[LINK_LAYER_AT] > 1
            || head[OVERHEAD_AT..OVERHEAD_AT + 2] != [0; 2]
            || head[LEAST_AT..RATE_AT] != [0; 2]
        {
            return Err("its token bucket adds to the length of packets".into());
        }
        Ok(bucket)
    }

    /// The same bytes at another rate. Unit: kilobits per second.
    ///
    /// # Errors
    /// The kernel could not hold it.
    pub(super) fn at_rate(&self, rate_kbps: u64) -> Result<TokenBucket, String> {
        let too_long = || format!("its burst would last too long at {rate_kbps} kbps");
        let rate = u32::try_from(rate_kbps * BYTES_PER_KBIT).map_err(|_| "it takes less than 34 Gbit/s")?;
        let ticks = ns(self.burst_bytes(), u64::from(rate)) >> TICK_SHIFT;
        let ticks = u32::try_from(ticks).map_err(|_| too_long())?;
        let mut parameters = self.parameters;
        parameters[RATE_AT..RATE_AT + 4].copy_from_slice(&rate.to_ne_bytes());
        parameters[BUFFER_AT..BUFFER_AT + 4].copy_from_slice(&ticks.to_ne_bytes());
        Ok(TokenBucket { parameters })
    }

    /// What the kernel shows of it.
    pub(super) fn options(&self) -> Vec<u8> {
        let mut options = Vec::new();
        put(&mut options, TCA_TBF_PARMS, &self.parameters);
        options
    }

    /// What is sent to make it.
    pub(super) fn request(&self) -> Vec<u8> {
        let mut options = self.options();
        let burst = self.burst_bytes();
        // A length whose ticks are others would read differently.
        let is_exact = ns(burst, self.rate()) >> TICK_SHIFT == u64::from(self.word(BUFFER_AT));
        if let Ok(burst) =
            u32::try_from(burst).map_err(drop).and_then(|burst| is_exact.then_some(burst).ok_or(()))
        {
            put(&mut options, TCA_TBF_BURST, &burst.to_ne_bytes());
        }
        options
    }

    /// Most bytes that a full bucket of so many ticks can mean.
    fn burst_bytes(&self) -> u64 {
        let (mult, shift) = scale(self.rate());
        let end_ns = (u128::from(self.word(BUFFER_AT)) + 1) << TICK_SHIFT;
        u64::try_from(((end_ns << shift) - 1) / u128::from(mult)).unwrap_or(u64::MAX)
    }

    /// Unit: bytes per second.
    fn rate(&self) -> u64 {
        u64::from(self.word(RATE_AT))
    }

    fn word(&self, at: usize) -> u32 {
        word(&self.parameters, at).unwrap_or_default()
    }
}

/// As `tc` takes it.
impl fmt::Display for TokenBucket {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rate, burst, limit) = (self.rate() * 8, self.burst_bytes(), self.word(LIMIT_AT));
        write!(out, "rate {rate}bit burst {burst}b limit {limit}b")
    }
}

/// The factors by which the kernel turns bytes at this rate into nanoseconds: multiply, then shift right.
fn scale(rate: u64) -> (u32, u32) {
    let (mut factor, mut shift) = (NS_PER_S, 0);
    loop {
        // The kernel keeps 32 bits of it; a rate below 1 byte per 4 s would need more.
        let mult = (factor / rate.max(1)) as u32;
        if mult & (1 << 31) != 0 || factor & (1 << 63) != 0 {
            return (mult.max(1), shift);
        }
        (factor, shift) = (factor << 1, shift + 1);
    }
}

/// How long so many bytes take at this rate. Unit: nanoseconds.
fn ns(bytes: u64, rate: u64) -> u64 {
    let (mult, shift) = scale(rate);
    u64::try_from((u128::from(bytes) * u128::from(mult)) >> shift).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The options that the kernel shows of a bucket that was made with so many bytes.
    fn made(rate: u32, burst_bytes: u64) -> Vec<u8> {
        let mut parameters = [0; PARAMETERS];
        parameters[LINK_LAYER_AT] = 1;
        let ticks = (ns(burst_bytes, u64::from(rate)) >> TICK_SHIFT) as u32;
        for (at, value) in [(RATE_AT, rate), (LIMIT_AT, 1 << 20), (BUFFER_AT, ticks)] {
            parameters[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        }
        TokenBucket { parameters }.options()
    }

    fn sent_burst(bucket: &TokenBucket) -> Option<u32> {
        find(&bucket.request(), TCA_TBF_BURST).and_then(|bytes| word(bytes, 0))
    }

    proptest! {
        #[test]
        fn no_packet_that_passed_is_too_long_after_it_was_put_back(
            rate in 10_000_u32..,
            burst in 1_514_u64..1_000_000,
        ) {
            let shown = made(rate, burst);
            let bucket = TokenBucket::parse(&shown).expect("is a bucket");
            let sent = u64::from(sent_burst(&bucket).expect("is sent"));
            prop_assert!(sent >= burst, "{} of {}", sent, burst);
            prop_assert_eq!(made(rate, sent), shown, "it reads as it did");
            let half = bucket.at_rate(u64::from(rate) / 250 + 1).expect("is a rate");
            prop_assert!(u64::from(sent_burst(&half).expect("is sent")) >= burst);
        }
    }

    #[test]
    fn a_bucket_is_told_as_tc_takes_it() {
        let bucket = TokenBucket::parse(&made(12_500_000, 131_072)).expect("is a bucket");
        assert_eq!(bucket.to_string(), "rate 100000000bit burst 131072b limit 1048576b");
        let slower = bucket.at_rate(80_000).expect("is a rate");
        assert!(slower.to_string().starts_with("rate 80000000bit burst 13107"), "{slower}");
    }

    #[test]
    fn what_cannot_be_sent_back_is_refused() {
        let refused = |change: fn(&mut Vec<u8>)| {
            let mut options = made(12_500_000, 131_072);
            change(&mut options);
            TokenBucket::parse(&options).expect_err("is refused")
        };
        assert!(refused(|options| options.truncate(20)).contains("cannot be read"));
        assert!(refused(|options| options[4 + PEAK_AT] = 1).contains("peak rate"));
        assert!(refused(|options| options[4 + OVERHEAD_AT] = 4).contains("adds to the length"));
        assert!(refused(|options| put(options, LONG_RATES[0], &[0; 8])).contains("34 Gbit/s"));
        let bucket = TokenBucket::parse(&made(12_500_000, 131_072)).expect("is a bucket");
        assert!(bucket.at_rate(40_000_000).is_err());
    }
}
