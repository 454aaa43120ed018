//! Hands the target triple to the program, which writes it into every record.

fn main() {
    let target = std::env::var("TARGET").unwrap_or_else(|_| "unknown".into());
    println!("cargo::rustc-env=SYSDYNO_TARGET={target}");
    println!("cargo::rerun-if-changed=build.rs");
}
