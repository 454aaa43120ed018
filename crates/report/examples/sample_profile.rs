//! Writes the pages of sample profiles: `cargo run -p sysdyno-report --example sample_profile -- FOLDER`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;
#[path = "../tests/fixture/profile.rs"]
mod profile;

use std::path::PathBuf;
use sysdyno_record::manifest::Tool;
use sysdyno_record::units::WallNs;
use sysdyno_report::ReportInput;
use sysdyno_report::html::{ProfileMade, render, render_profile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("name the folder to write to")?.into();
    let tool = Tool { version: "0.1.0".into(), target: "x86_64-unknown-linux-gnu".into() };
    let made = ProfileMade {
        subject: "all processes",
        tool: &tool,
        started_unix_ns: WallNs(1_795_179_721_000_000_000),
    };
    let samples = [
        ("ordinary", profile::ordinary()),
        ("waits", profile::waits()),
        ("counted", profile::counted()),
        ("hostile", profile::hostile()),
    ];
    for (name, (profile, summary)) in samples {
        std::fs::write(folder.join(format!("{name}.html")), render_profile(&profile, &summary, &made))?;
    }
    let (mut record, [measured, low]) = (fixture::SampleRecord::run(), profile::under_load());
    record.events.extend(profile::tiers());
    let input = ReportInput { profile: Some(&measured), profile_low: Some(&low), ..record.input() };
    std::fs::write(folder.join("searched.html"), render(&input))?;
    Ok(())
}
