//! The memcached decoder against any bytes, in any pieces.
//!
//! The first byte of an input chooses what was asked, the second how it is cut; the rest is what a server sends. Whatever
//! that is, nothing panics, no more keys are hits than were asked for, and how the bytes are cut does not change the
//! outcome, except that bytes after an answer are noticed only if they come with it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_load::protocol::Progress;
use sysdyno_load::protocol::memcached::{Decoder, Keys};
use sysdyno_record::load::FailureClass;
use sysdyno_record::wire::{MemcachedDialect, MemcachedPlan, Popularity, SizeModel, SizeRange};

fuzz_target!(|input: &[u8]| {
    let [options, cut, bytes @ ..] = input else { return };
    let plan = plan(*options);
    let keys = Keys::new(&plan, 1);
    let asked: Vec<u64> = (0..u64::from(options >> 4)).collect();
    let whole = feed(&plan, &keys, &asked, bytes, bytes.len());
    for step in [1, 1 + usize::from(*cut)] {
        let pieces = feed(&plan, &keys, &asked, bytes, step);
        let is_late_desync =
            whole == Progress::Failed(FailureClass::Desync) && matches!(pieces, Progress::Done(_));
        assert!(whole == pieces || is_late_desync, "whole {whole:?}, in pieces {pieces:?}");
    }
});

fn feed(plan: &MemcachedPlan, keys: &Keys, asked: &[u64], bytes: &[u8], step: usize) -> Progress {
    let mut decoder = Decoder::new(plan);
    decoder.expect(asked);
    for piece in bytes.chunks(step.max(1)) {
        let progress = decoder.feed(piece, keys);
        if progress != Progress::More {
            let counts = decoder.counts();
            assert_eq!(counts.hits + counts.misses, asked.len() as u64);
            return progress;
        }
    }
    assert_ne!(decoder.end(), Progress::More);
    Progress::More
}

fn plan(options: u8) -> MemcachedPlan {
    MemcachedPlan {
        dialect: if options & 1 == 0 { MemcachedDialect::Text } else { MemcachedDialect::Meta },
        get_ratio: 0.5,
        keys_per_get: 1,
        keys_count: 100,
        popularity: Popularity::Uniform,
        key_size: SizeModel::Fixed(2),
        value_size: SizeModel::Range(SizeRange { min_bytes: 0, max_bytes: 9 }),
        expiry_seconds: 0,
        is_verified: options & 2 != 0,
        is_preloaded: false,
    }
}
