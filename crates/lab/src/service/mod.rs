//! Services that the lab starts, each in a process of its own.

mod built_in;

pub use built_in::BuiltInTarget;
