//! What a variant takes away, and which variants are compared.

use crate::change::SettingChange;
use serde::{Deserialize, Serialize};

/// A comparison of two variants.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Contrast {
    /// Variant without the squeeze, by its position.
    pub a: u32,
    /// Variant with it.
    pub b: u32,
    /// How much is taken away; 0 of the placebo. Unit: ratio.
    pub depth_ratio: f64,
    /// It is measured until its interval is narrower than this effect. Unit: ratio of A.
    pub effect_ratio: f64,
    /// The comparison, by its position, that has to show an effect for this one to be made; `None`: it is always made.
    pub after: Option<u32>,
}

/// What a variant takes away.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SqueezeAction {
    /// Settings that are changed for its trials and undone after them.
    pub settings: Vec<SettingChange>,
    /// CPU time that is burnt; `None`: nothing is.
    pub burn: Option<BurnSpec>,
    /// Connections of the load; `None`: as many as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
}

/// CPU time that a process of sysdyno burns while a trial lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurnSpec {
    /// What is burnt.
    pub kind: BurnKind,
    /// How much: CPU time ÷ what its kind refers to. 0: it only looks, as a baseline. Unit: ratio.
    pub ratio: f64,
    /// CPUs that it is burnt on.
    pub cpus: Vec<u32>,
}

/// What burnt CPU time refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BurnKind {
    /// The CPU time that these processes and their descendants use: each second costs more, as on slower CPUs.
    Follow(Vec<u32>),
    /// Time: a part of every 5 ms, on all of the CPUs at once.
    Duty,
}
