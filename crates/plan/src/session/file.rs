//! The contents of a session file as typed. [`super::compile`] decides what they mean.

use crate::options::{Field, Typed};
use serde::Deserialize;
use std::collections::BTreeMap;
use sysdyno_record::units::SpanNs;
use toml::Spanned;

/// Options besides the file.
#[derive(Clone, Copy)]
pub(super) struct SessionWish<'a> {
    pub name: &'a str,
    pub text: &'a str,
    pub users: Option<u32>,
    pub sessions_hz: Option<f64>,
    pub pages_only: bool,
}

/// A file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SessionFile {
    pub name: Option<String>,
    pub first: Option<Spanned<String>>,
    pub users: Option<Spanned<u32>>,
    pub stagger: Option<Typed<SpanNs>>,
    pub ramp_up: Option<Typed<SpanNs>>,
    pub steady: Option<Typed<SpanNs>>,
    pub ramp_down: Option<Typed<SpanNs>>,
    pub cold_share: Option<Spanned<f64>>,
    pub cookies: Option<bool>,
    #[serde(default)]
    pub rules: RulesFile,
    #[serde(default)]
    pub operation: Vec<OperationFile>,
}

/// What is checked in the end.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RulesFile {
    pub mix: Option<Spanned<f64>>,
    pub cycle: Option<Spanned<f64>>,
    pub errors: Option<Spanned<f64>>,
    pub users_per_rate: Option<Spanned<f64>>,
}

/// An operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OperationFile {
    pub name: Spanned<String>,
    pub path: Spanned<String>,
    pub method: Option<String>,
    #[serde(default)]
    pub header: Vec<Spanned<Field>>,
    pub body: Option<Spanned<String>>,
    /// Values that are taken from the response.
    pub take: Option<Spanned<BTreeMap<String, TakeFile>>>,
    #[serde(default)]
    pub uploads: Vec<UploadFile>,
    /// Texts that the form with the uploads has besides.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
    pub limit: Option<Spanned<String>>,
    pub cycle: Option<Spanned<TimeFile>>,
    pub think: Option<Spanned<TimeFile>>,
    pub next: Spanned<BTreeMap<String, f64>>,
    pub exit: Option<Spanned<f64>>,
    #[serde(default)]
    pub objects: Vec<Spanned<String>>,
    #[serde(default)]
    pub images: Vec<Spanned<String>>,
    #[serde(default)]
    pub begins_session: bool,
    /// Accepted status codes.
    #[serde(default)]
    pub expect_status: Vec<u16>,
    pub expect_body: Option<String>,
}

/// Where a value stands in a response: one of these.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TakeFile {
    pub header: Option<String>,
    pub json: Option<String>,
    pub between: Option<[String; 2]>,
}

/// A file that is sent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UploadFile {
    pub name: String,
    /// What the form calls it.
    pub field: Option<String>,
    pub bytes: u64,
}

/// A time: always the same, or drawn.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum TimeFile {
    Fixed(Typed<SpanNs>),
    Drawn(DrawnFile),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct DrawnFile {
    pub distribution: DistributionFile,
    pub mean: Option<Typed<SpanNs>>,
    pub min: Option<Typed<SpanNs>>,
    pub max: Option<Typed<SpanNs>>,
    #[serde(default)]
    pub shifted: bool,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DistributionFile {
    Uniform,
    Exponential,
}
