//! The frames of journals against any bytes: a crash tears them, a disk changes them.
//!
//! The first byte of an input says how many true frames come first, cut or changed by the second and third; the rest stands
//! behind them. Whatever that is, nothing panics, and what is read is a beginning of what was written, in the one form that
//! a frame has.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_tune::frame::{Chain, read};

fuzz_target!(|input: &[u8]| {
    let [count, place, change, bytes @ ..] = input else { return };
    let mut chain = Chain::default();
    let texts: Vec<String> = (0..count % 4).map(|number| format!("{{\"write\":{number}}}")).collect();
    let mut journal: Vec<u8> = texts.iter().flat_map(|text| chain.frame(text).into_bytes()).collect();
    if let Some(byte) = journal.get_mut(usize::from(*place)) {
        *byte ^= change;
    }
    journal.extend(bytes);
    let frames = read(&journal);
    assert!(frames.texts.iter().zip(&texts).all(|(read, written)| read == written));
    let mut chain = Chain::default();
    let again: String = frames.texts.iter().map(|text| chain.frame(text)).collect();
    assert_eq!(again.as_bytes(), &journal[..frames.length]);
});
