//! The program as its users meet it: started as a process, driven by its flags, judged by its output and exit code.

mod back_end;
mod compare;
mod crash;
mod demo;
mod experiment;
mod facts;
mod fail_if;
mod habits;
mod hostile;
mod http2;
mod latency;
mod matrix;
mod memcached;
mod origin;
mod probe;
mod quota;
mod rig;
mod servers;
mod signals;
mod tls;
mod tune;
mod usage;
mod values;
mod work;
mod workload;
