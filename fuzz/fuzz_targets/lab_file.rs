//! The reader of lab.toml against any text.
//!
//! Whatever stands in it, nothing panics, what is wrong is told, and a lab that is understood survives being kept.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use sysdyno_lab::LabPlan;

fuzz_target!(|text: &str| {
    match LabPlan::parse(text, Path::new("lab.toml")) {
        Err(error) => assert!(error.to_string().contains("lab.toml")),
        Ok(plan) => {
            let kept = serde_json::to_string(&plan).expect("can be written");
            assert_eq!(serde_json::from_str::<LabPlan>(&kept).expect("can be read"), plan);
        }
    }
});
