//! The processes behind one address.

use crate::readings::Window;
use sysdyno_record::column::{self, listener_scope};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::plan::Endpoint;

/// The processes behind one address; those that the load reaches are one group.
pub(super) struct Group<'a> {
    pub(super) address: Option<&'a Endpoint>,
    pub(super) processes: Vec<&'a WatchedProcess>,
}

impl<'a> Group<'a> {
    pub(super) fn all(processes: &[&'a WatchedProcess]) -> Vec<Group<'a>> {
        let mut groups: Vec<Group> = Vec::new();
        for process in processes {
            let address = process.tier.as_ref().map(|tier| &tier.address);
            match groups.iter_mut().find(|group| group.address == address) {
                Some(group) => group.processes.push(process),
                None => groups.push(Group { address, processes: vec![process] }),
            }
        }
        groups
    }

    pub(super) fn depth(&self) -> u32 {
        self.processes[0].tier.as_ref().map_or(0, |tier| tier.depth)
    }

    /// The scopes of its listening sockets; of those that the load reaches, all that are no other tier's.
    pub(super) fn scopes(&self, groups: &[Group], window: &Window) -> Vec<String> {
        if let Some(address) = self.address {
            return vec![listener_scope(address)];
        }
        let others: Vec<String> =
            groups.iter().filter_map(|group| group.address).map(listener_scope).collect();
        let all = window.scopes(column::LISTENER_QUEUE).into_iter().map(str::to_owned);
        all.filter(|scope| !others.contains(scope)).collect()
    }
}
