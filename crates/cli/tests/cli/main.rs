//! The program as its users meet it: started as a process, driven by its flags, judged by its output and exit code.

mod back_end;
mod crash;
mod demo;
mod facts;
mod fail_if;
mod hostile;
mod latency;
mod probe;
mod quota;
mod rig;
mod servers;
mod signals;
mod tune;
mod usage;
