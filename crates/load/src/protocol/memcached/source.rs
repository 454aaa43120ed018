//! The source of one generator thread's requests.

use super::{Decoder, Keys};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::io::Write;
use sysdyno_record::wire::{MemcachedDialect, MemcachedPlan, Popularity};

/// Draws requests and writes their bytes.
#[derive(Debug)]
pub(crate) struct MemcachedSource {
    rng: Xoshiro256PlusPlus,
    zipf: Option<Zipf<f64>>,
    dialect: MemcachedDialect,
    get_ratio: f64,
    keys_per_get: u32,
    expiry_seconds: u32,
    /// Keys of the request that is being made.
    asked: Vec<u64>,
}

impl MemcachedSource {
    /// The source of a thread; the same requests for the same seed and thread.
    pub(crate) fn new(plan: &MemcachedPlan, seed: u64, thread: u32) -> MemcachedSource {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        // Threads draw from parts of the sequence that are 2^128 numbers apart.
        (0..=thread).for_each(|_| rng.jump());
        let zipf = match plan.popularity {
            Popularity::Uniform => None,
            Popularity::Zipf(exponent) => Zipf::new(plan.keys_count as f64, exponent).ok(),
        };
        MemcachedSource {
            rng,
            zipf,
            dialect: plan.dialect,
            get_ratio: plan.get_ratio,
            keys_per_get: plan.keys_per_get,
            expiry_seconds: plan.expiry_seconds,
            asked: Vec::new(),
        }
    }

    /// Writes the next request, and tells the decoder what is asked.
    pub(crate) fn ask(&mut self, keys: &Keys, decoder: &mut Decoder, out: &mut Vec<u8>) {
        self.asked.clear();
        if self.rng.random::<f64>() < self.get_ratio {
            for _ in 0..self.keys_per_get {
                let number = self.draw(keys);
                self.asked.push(number);
            }
            write_get(self.dialect, &self.asked, keys, out);
        } else {
            let number = self.draw(keys);
            write_set(self.dialect, number, self.expiry_seconds, keys, out);
        }
        decoder.expect(&self.asked);
    }

    fn draw(&mut self, keys: &Keys) -> u64 {
        match &self.zipf {
            None => self.rng.random_range(0..keys.count()),
            Some(zipf) => (zipf.sample(&mut self.rng) as u64).clamp(1, keys.count()) - 1,
        }
    }
}

fn write_get(dialect: MemcachedDialect, asked: &[u64], keys: &Keys, out: &mut Vec<u8>) {
    match (dialect, asked) {
        (MemcachedDialect::Text, _) => {
            out.extend_from_slice(b"get");
            for number in asked {
                out.push(b' ');
                keys.write(*number, out);
            }
            out.extend_from_slice(b"\r\n");
        }
        (MemcachedDialect::Meta, [number]) => {
            out.extend_from_slice(b"mg ");
            keys.write(*number, out);
            out.extend_from_slice(b" v\r\n");
        }
        (MemcachedDialect::Meta, _) => {
            for number in asked {
                out.extend_from_slice(b"mg ");
                keys.write(*number, out);
                out.extend_from_slice(b" v k q\r\n");
            }
            out.extend_from_slice(b"mn\r\n");
        }
    }
}

/// Writes the request that stores the value of a key.
pub(crate) fn write_set(
    dialect: MemcachedDialect,
    number: u64,
    expiry_seconds: u32,
    keys: &Keys,
    out: &mut Vec<u8>,
) {
    let value = keys.value(number);
    let is_text = dialect == MemcachedDialect::Text;
    out.extend_from_slice(if is_text { b"set " } else { b"ms " });
    keys.write(number, out);
    // Writing into memory does not fail.
    let _ = match dialect {
        MemcachedDialect::Text => write!(out, " 0 {expiry_seconds} {}\r\n", value.len()),
        MemcachedDialect::Meta if expiry_seconds > 0 => {
            write!(out, " {} T{expiry_seconds}\r\n", value.len())
        }
        MemcachedDialect::Meta => write!(out, " {}\r\n", value.len()),
    };
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::super::decoder::tests::plan;
    use super::super::max_request_bytes;
    use super::*;
    use sysdyno_record::wire::SizeModel;

    #[test]
    fn the_mix_and_the_popularity_are_those_of_the_plan() {
        let plan = MemcachedPlan { keys_count: 1000, popularity: Popularity::Zipf(1.0), ..plan() };
        let keys = Keys::new(&plan, 3);
        let mut source = MemcachedSource::new(&plan, 3, 0);
        let mut decoder = Decoder::new(&plan);
        let (mut gets, mut firsts) = (0, 0);
        for _ in 0..20_000 {
            let mut out = Vec::new();
            source.ask(&keys, &mut decoder, &mut out);
            let is_get = out.starts_with(b"get ");
            gets += u32::from(is_get);
            firsts += u32::from(out == b"get 0000\r\n");
        }
        // 90% of them, and of these 1 ÷ H(1000) = 13.36% for the most popular key; five standard deviations.
        assert!(gets.abs_diff(18_000) < 220, "{gets}");
        assert!(firsts.abs_diff(2405) < 240, "{firsts}");
    }

    #[test]
    fn no_request_is_longer_than_is_said() {
        for (dialect, get_ratio, keys_per_get) in [
            (MemcachedDialect::Text, 0.5, 1),
            (MemcachedDialect::Meta, 0.5, 100),
            (MemcachedDialect::Text, 1.0, 100),
            (MemcachedDialect::Meta, 0.0, 1),
        ] {
            let value_size = SizeModel::Fixed(1000);
            let key_size = SizeModel::Fixed(u32::MAX);
            let expiry_seconds = u32::MAX;
            let sizes = MemcachedPlan { key_size, value_size, expiry_seconds, ..plan() };
            let plan = MemcachedPlan { dialect, get_ratio, keys_per_get, ..sizes };
            let keys = Keys::new(&plan, 3);
            let mut source = MemcachedSource::new(&plan, 3, 0);
            let mut decoder = Decoder::new(&plan);
            let longest = (0..100).map(|_| {
                let mut out = Vec::new();
                source.ask(&keys, &mut decoder, &mut out);
                out.len()
            });
            let (longest, most) = (longest.max().expect("some"), max_request_bytes(&plan));
            assert!(longest <= most && most <= longest + 5000, "{longest} {most}");
        }
    }

    #[test]
    fn requests_are_written_as_the_protocol_wants_them() {
        let plan = plan();
        let keys = Keys::new(&plan, 1);
        let written = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            String::from_utf8(out).expect("text")
        };
        let value = String::from_utf8(keys.value(2).to_vec()).expect("text");
        let (text, meta) = (MemcachedDialect::Text, MemcachedDialect::Meta);
        assert_eq!(written(&|out| write_get(text, &[1, 2], &keys, out)), "get 0001 0002\r\n");
        assert_eq!(written(&|out| write_get(meta, &[1], &keys, out)), "mg 0001 v\r\n");
        let several = "mg 0001 v k q\r\nmg 0002 v k q\r\nmn\r\n";
        assert_eq!(written(&|out| write_get(meta, &[1, 2], &keys, out)), several);
        assert_eq!(
            written(&|out| write_set(text, 2, 9, &keys, out)),
            format!("set 0002 0 9 5\r\n{value}\r\n")
        );
        assert_eq!(written(&|out| write_set(meta, 2, 9, &keys, out)), format!("ms 0002 5 T9\r\n{value}\r\n"));
    }
}
