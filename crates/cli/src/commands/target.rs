//! The built-in target, in its own process.

use crate::args::TargetArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sysdyno_target::{Bottleneck, LatencyTable, ListenOn, TargetPlan};

/// What the process is called, so that a report does not take the server for the program that measures it.
const NAME: &std::ffi::CStr = c"demo-server";

pub fn serve(args: &TargetArgs, ui: &Ui) -> anyhow::Result<Exit> {
    // Only a name is lost if this fails.
    let _ = rustix::thread::set_name(NAME);
    // A guardian of its parent may have to get at its listener where only ancestors may.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    // The parent holds the other end of the standard input for as long as it lives.
    std::thread::spawn(move || {
        let mut byte = [0];
        while std::io::stdin().read(&mut byte).is_ok_and(|length| length > 0) {}
        asked.store(true, Ordering::Relaxed);
    });
    let plan = TargetPlan {
        listen: ListenOn::Tcp(args.listen),
        threads: args.threads,
        bottleneck: bottleneck(args),
        body_bytes: args.body_bytes,
    };
    sysdyno_run::raise_descriptor_limit();
    let counts = sysdyno_target::serve(&plan, &stop, |address| ui.print(&url(address)))?;
    ui.print(&counts.json());
    Ok(Exit::Done)
}

fn url(address: &ListenOn) -> String {
    match address {
        ListenOn::Tcp(address) => format!("http://{address}/"),
        ListenOn::Unix(path) => format!("unix:{}", path.display()),
    }
}

/// The one bottleneck that was asked for; the parser lets no two through.
fn bottleneck(args: &TargetArgs) -> Option<Bottleneck> {
    let hold_ms = args.hold_ms;
    let pool = args.workers.map(|workers| Bottleneck::WorkerPool { workers, hold_ms });
    let single = args.work_us.map(|work_us| Bottleneck::SingleThread { work_us });
    let accept_delay_ms = args.accept_delay_ms;
    let accept = args.backlog.map(|backlog| Bottleneck::AcceptQueue { backlog, accept_delay_ms });
    let for_ms = args.stall_for_ms;
    let stall = args.stall_every_ms.map(|every_ms| Bottleneck::Stall { every_ms, for_ms });
    let delays_us = args.delays_us.clone();
    let latency = (!delays_us.is_empty()).then_some(Bottleneck::Latency(LatencyTable { delays_us }));
    pool.or(single).or(accept).or(stall).or(latency)
}
