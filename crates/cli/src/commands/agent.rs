//! Requests to the agent of this host that are answered without a notice in between.

use sysdyno_lab::LabError;
use sysdyno_lab::agent::{Agent, Answer, Link, LocalAgent, Notice, Proceed, Request};

/// Has the agent of this host do one thing.
pub fn ask(request: Request) -> Result<Answer, LabError> {
    LocalAgent::default().call(request, &mut Silent)
}

/// The other side of an agent that has nothing to tell before it is done.
struct Silent;

impl Link for Silent {
    fn notice(&mut self, _: Notice) -> Result<(), LabError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        Proceed::Continue
    }
}
