//! Queues of the listening sockets of services behind the target, such as an application server or a database: `sock_diag`.
//!
//! The columns have the same names as the target's; the scope distinguishes them. Connections are not counted: an accepted
//! one may be idle there.

use super::listener::{Queue, are_alone, ask_again, from_inet, keep_fullest, search};
use super::{Collector, Pass, Table};
use crate::diag::InetSocket;
use std::io;
use sysdyno_netlink::NetlinkSocket;
use sysdyno_record::column::{self, listener_scope};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(BehindCollector::default())
}

/// Columns of an address: queue, limit.
const WIDTH: usize = 2;

/// At most this many addresses are looked at.
const MAX_ADDRESSES: usize = 16;

#[derive(Default)]
struct BehindCollector {
    table: Table,
    diag: Option<NetlinkSocket>,
    /// Sockets by address, as they were found last.
    sockets: Vec<Vec<InetSocket>>,
    /// Addresses that have columns, in their order.
    shown: Vec<Endpoint>,
}

impl BehindCollector {
    fn try_read(&mut self, pass: &Pass<'_>) -> io::Result<()> {
        let diag = match &mut self.diag {
            Some(diag) => diag,
            None => self.diag.insert(NetlinkSocket::sock_diag()?),
        };
        let addresses = pass.scene.behind.iter().take(MAX_ADDRESSES);
        self.sockets.resize_with(addresses.len(), Vec::new);
        let mut queues: Vec<Queue> = Vec::new();
        for (address, sockets) in addresses.zip(&mut self.sockets) {
            if pass.is_look() || !are_alone(sockets) || !ask_again(diag, sockets) {
                search(diag, *address, pass.is_look(), sockets)?;
            }
            queues.extend(sockets.iter().map(from_inet));
        }
        keep_fullest(&mut queues);
        if !queues.iter().map(|queue| &queue.address).eq(&self.shown) {
            self.shown = queues.iter().map(|queue| queue.address.clone()).collect();
            self.table
                .replace(self.shown.iter().flat_map(|address| columns(&listener_scope(address))).collect());
        }
        for (index, queue) in queues.iter().enumerate() {
            self.table.set_count(index * WIDTH, queue.waiting_count);
            self.table.set_count(index * WIDTH + 1, queue.limit_count);
        }
        Ok(())
    }
}

impl Collector for BehindCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        if pass.scene.behind.is_empty() || !pass.scene.roots.is_host() {
            return;
        }
        self.table.clear();
        if self.try_read(pass).is_err() {
            self.diag = None;
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

fn columns(scope: &str) -> [Column; WIDTH] {
    [column::LISTENER_QUEUE.of(scope), column::LISTENER_LIMIT.of(scope)]
}
