//! Screens, documents and pages: one program, since all of them show the same made-up records.

mod compare;
mod fixture;
mod folder;
mod golden;
mod html;
mod json;
mod numbers;
mod output;
mod progress;
mod squeeze;
mod terminal;
mod tryout;
mod watch;
