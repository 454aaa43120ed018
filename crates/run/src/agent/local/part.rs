//! This host's part of a load that several hosts send together; orders arrive while it runs.

use super::super::{AgentLink, Notice, PartCall, Proceed, spin};
use super::{LocalAgent, Message, TICK};
use crate::descriptors::raise_descriptor_limit;
use crate::error::RunError;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use sysdyno_load::{Control, PartOrder, run_part};
use sysdyno_record::plan::LoadPlan;

impl LocalAgent {
    /// Sends a part of a load.
    pub(super) fn send_part(&mut self, call: &PartCall, link: &mut dyn AgentLink) -> Result<(), RunError> {
        raise_descriptor_limit();
        let mut plan = call.plan();
        self.authorize(&plan, call.is_target_mine)?;
        let threads = call.part().machine_threads;
        plan.spin = spin::resolve(&LoadPlan { threads, ..plan.clone() }, &self.watched);
        let Some(orders) = self.orders.as_mut() else { return Err(RunError::Answer { request: "part" }) };
        // Orders for an earlier part that came too late for it.
        while orders.try_recv().is_ok() {}
        let (control, sender, messages) = (Control::new(), self.sender.clone(), &self.messages);
        std::thread::scope(|scope| {
            let (control, plan) = (&control, &plan);
            scope.spawn(move || {
                // The receiver lives as long as the agent, here and below.
                let mut report = |report| drop(sender.send(Message::Notice(Notice::Part(report))));
                let mut order = || next_order(orders, control);
                let run = (call.trial, call.part());
                let ended = run_part(plan, run, control, &mut order, &mut report);
                let _ = sender.send(Message::Parted(ended));
            });
            loop {
                match messages.recv_timeout(TICK) {
                    Ok(Message::Parted(ended)) => return Ok(ended?),
                    // Its errors are those of the link, which notes them itself.
                    Ok(Message::Notice(notice)) => drop(link.notice(notice)),
                    Ok(Message::Loaded(_) | Message::Probed(_)) | Err(_) => {}
                }
                if link.tick() == Proceed::Stop {
                    match link.stop_cause() {
                        Some(cause) => control.hard_stop(cause),
                        None => control.stop(),
                    }
                }
            }
        })
    }
}

/// Waits for an order; `None`: the part was stopped before one came.
fn next_order(orders: &Receiver<PartOrder>, control: &Control) -> Option<PartOrder> {
    loop {
        match orders.recv_timeout(TICK) {
            Ok(order) => return Some(order),
            Err(RecvTimeoutError::Timeout) if !control.is_stopped() => {}
            Err(_) => return None,
        }
    }
}
