//! Commands that run for a measurement, or are themselves measured.

use serde::{Deserialize, Serialize};

/// A command line, started without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandSpec {
    /// As it was typed.
    pub text: String,
    /// Program and arguments.
    pub words: Vec<String>,
}
