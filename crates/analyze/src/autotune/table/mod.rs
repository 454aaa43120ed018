//! The remedies, as data: what to change, when, and where it is known from.
//!
//! A remedy without diagnoses is worth a try wherever its setting is found: it helps often, and what shows that it would is no
//! counter. The others are suggested only by what was seen: a diagnosis, or one whose title begins with what follows its name. Order is the order of suggestions that are equally pressing.

mod devices;
mod kernel;
mod php;
mod stores;
mod web;

use super::remedy::{Remedy, RemedyChange, ValueStep};

/// All of them.
pub fn remedies() -> impl Iterator<Item = &'static Remedy> {
    [php::REMEDIES, web::REMEDIES, kernel::REMEDIES, devices::REMEDIES, stores::REMEDIES]
        .into_iter()
        .flatten()
}

/// What shows that processes or threads that serve are all taken.
const POOL: &[&str] = &["F04", "F07", "F13", "F16", "A05", "A14", "T01", "F11", "L01: All workers of"];

/// What shows that connections, or descriptors for them, are used up.
const CONNECTIONS: &[&str] = &["F11", "F01", "A14", "T01", "L01: A worker of nginx has no connections"];

/// What shows that one thread does the work of many.
const ONE_CPU: &[&str] = &["F05", "C13", "C02", "T01", "F04"];

const NONE: Remedy =
    Remedy { id: "", title: "", changes: &[], when: &[], only_if: None, gives_up: None, why: "", source: "" };

const fn change(setting: &'static str, step: ValueStep, default: &'static str) -> RemedyChange {
    RemedyChange { setting, step, default }
}
