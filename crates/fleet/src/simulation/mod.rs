//! A fleet of thousands of agents in one thread: the messages, streams, signatures and signs of life are those of the program,
//! clock and broker are not.
//!
//! ```text
//!   VirtualController ─► Network: delay, loss, cuts, bytes per second ─► VirtualAgent
//!          ▲                     World: what happens next                     │
//!          └──────────────────────────────────────────────────────────────────┘
//! ```
//! Agents answer as `sysdyno agent` does, in as many steps and with pieces of about the same length, but send no requests: each
//! counts what it would have sent. So what the controller has counted can be compared with what each agent knows.

mod agent;
mod controller;
mod dice;
mod network;
mod talk;
mod tests;
mod world;
