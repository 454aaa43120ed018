//! What the report of an autotune is made from, and the script that makes what it kept last.
//!
//! Screen: [`crate::terminal::render_autotune`]; page: [`crate::html::render_autotune`].

use std::path::Path;
use sysdyno_record::autotune::{
    AutotuneConclusion, AutotuneEnding, AutotuneLine, AutotunePlan, StepBegan, StepEnded,
};
use sysdyno_record::plan::Plan;

/// One autotune, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct AutotuneInput<'a> {
    /// Its folder.
    pub path: &'a Path,
    /// What was planned.
    pub plan: &'a AutotunePlan,
    /// What happened, in the order of the file.
    pub lines: &'a [AutotuneLine],
    /// What came of it.
    pub conclusion: &'a AutotuneConclusion,
}

impl<'a> AutotuneInput<'a> {
    /// The server that was tuned, as the user wrote it.
    pub fn url(&self) -> &'a str {
        match self.plan.base.variants.first().map(|variant| &variant.plan) {
            Some(Plan::Run(run)) => &run.load.target.url,
            Some(Plan::Load(load)) => &load.target.url,
            _ => "",
        }
    }

    /// Steps that are over, in order.
    pub fn steps(&self) -> impl Iterator<Item = (&'a StepBegan, &'a StepEnded)> + use<'a> {
        let lines = self.lines;
        lines.iter().filter_map(move |line| {
            let AutotuneLine::Ended(ended) = line else { return None };
            let began = lines.iter().find_map(|line| match line {
                AutotuneLine::Began(began) if began.step == ended.step => Some(began),
                _ => None,
            });
            Some((began?, ended.as_ref()))
        })
    }
}

/// Why it ended, in a sentence.
pub fn ending_text(ending: AutotuneEnding) -> &'static str {
    match ending {
        AutotuneEnding::Exhausted => "It ended because nothing is left that is known to help",
        AutotuneEnding::NotAllowed => "It ended because only changes are left that were not allowed",
        AutotuneEnding::Budget => "It ended because its time was up",
        AutotuneEnding::Rounds => "It ended after the most rounds that were asked for",
        AutotuneEnding::Interrupted => "It was interrupted",
    }
}

/// A shell script that makes what was kept last: settings of the kernel from the next boot on, files of services at once.
pub fn keep_script(conclusion: &AutotuneConclusion) -> String {
    let mut lines = vec![
        "#!/bin/sh".to_owned(),
        "# Makes what `sysdyno autotune` kept last. Read it first, then run it as root.".to_owned(),
        "set -eu".to_owned(),
    ];
    let mut all: Vec<(String, bool)> = Vec::new();
    for candidate in &conclusion.kept {
        lines.push(format!("# {}", one_line(&candidate.title)));
        for change in &candidate.settings {
            let text = quoted(&change.text());
            all.push((text.clone(), change.key.contains(":/")));
            lines.push(format!("#   {text}"));
        }
        for change in &candidate.services {
            lines.push(format!("#   in the lab's file: {}", one_line(&change.text())));
        }
    }
    if !all.is_empty() {
        let every: Vec<&str> = all.iter().map(|(text, _)| text.as_str()).collect();
        lines.push(format!("sysdyno tune apply {}", every.join(" ")));
        lines.push("sysdyno tune commit".to_owned());
    }
    let kernel: Vec<&str> =
        all.iter().filter(|(_, is_file)| !is_file).map(|(text, _)| text.as_str()).collect();
    if !kernel.is_empty() {
        lines.push(format!("sysdyno tune persist {}", kernel.join(" ")));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// A word that a shell takes as it is.
fn quoted(text: &str) -> String {
    format!("'{}'", one_line(text).replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_script_is_one_word_whatever_is_in_it() {
        assert_eq!(quoted("a=b c"), "'a=b c'");
        assert_eq!(quoted("a='; rm -rf /; '\n"), r"'a='\''; rm -rf /; '\'' '");
    }
}
