//! Subjects of a fleet, and who may use which: the broker enforces it.
//!
//! ```text
//!   sysdyno.1.who                  controller ─► all agents: say who you are
//!   sysdyno.1.here.NAME            agent ─► controllers: who it is
//!   sysdyno.1.to.NAME.SESSION      controller ─► agent
//!   sysdyno.1.from.NAME.SESSION    agent ─► controller
//! ```
//! An agent can neither hear what another one is told nor speak in its name: its own name is in every subject that its
//! credentials open.

/// What controllers ask all agents on.
pub(crate) const WHO: &str = "sysdyno.1.who";

/// What agents answer on, in the order of their names.
pub(crate) const HERE_OF_ALL: &str = "sysdyno.1.here.*";

/// What an agent says of itself.
pub(crate) fn here(name: &str) -> String {
    format!("sysdyno.1.here.{name}")
}

/// What an agent is told in a session; `*` for all of its sessions.
pub(crate) fn to(name: &str, session: &str) -> String {
    format!("sysdyno.1.to.{name}.{session}")
}

/// What an agent says in a session.
pub(crate) fn from(name: &str, session: &str) -> String {
    format!("sysdyno.1.from.{name}.{session}")
}

/// The last word of a subject.
pub(crate) fn last_word(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or_default()
}

/// What somebody may publish, and what subscribe to.
pub(crate) struct Permissions {
    pub(crate) publish: Vec<String>,
    pub(crate) subscribe: Vec<String>,
}

/// Of an agent.
pub(crate) fn of_agent(name: &str) -> Permissions {
    Permissions { publish: vec![here(name), from(name, "*")], subscribe: vec![WHO.to_owned(), to(name, "*")] }
}

/// Of a controller.
pub(crate) fn of_controller() -> Permissions {
    Permissions {
        publish: vec![WHO.to_owned(), to("*", "*")],
        subscribe: vec![HERE_OF_ALL.to_owned(), from("*", "*")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: &str = include_str!("../../../docs/kubernetes/nats-values.yaml");

    #[test]
    fn the_values_for_a_broker_in_a_cluster_give_the_same_rights() {
        for Permissions { publish, subscribe } in [of_controller(), of_agent("agents-0")] {
            let list = |word: &str, subjects: &[String]| format!("{word}: {{allow: {subjects:?}}}");
            for line in [list("publish", &publish), list("subscribe", &subscribe)] {
                assert!(VALUES.contains(&line), "{line}");
            }
        }
    }
}
