//! Services that the lab starts, each in a process of its own.

mod built_in;
mod guardian;

pub use built_in::BuiltInTarget;
pub use guardian::Guardians;
