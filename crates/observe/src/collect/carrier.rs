//! How often links lost their carrier: the other end went down, or a cable was pulled. Source: rtnetlink, `RTM_GETLINK`,
//! `IFLA_CARRIER_DOWN_COUNT`.
//!
//! `/sys/class/net/NAME/carrier_down_count` says the same, but only of this process's network namespace.

use super::rtnetlink::{RTM_GETLINK, TargetSocket, carrier_downs, link_name, link_question};
use super::{Collector, Pass, Table};
use std::io;
use sysdyno_record::column;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(CarrierCollector::default())
}

/// At most this many links have columns, the first ones.
const MAX_LINKS: usize = 64;

#[derive(Default)]
struct CarrierCollector {
    table: Table,
    socket: TargetSocket,
    /// Links that have columns, in their order.
    names: Vec<String>,
}

impl CarrierCollector {
    fn try_read(&mut self, pass: &Pass<'_>) -> io::Result<()> {
        self.socket.follow(pass)?;
        let Some(socket) = self.socket.socket() else { return Ok(()) };
        let mut links: Vec<(String, u64)> = Vec::new();
        socket.list(RTM_GETLINK, &link_question(0), |body| {
            let link = link_name(body).zip(carrier_downs(body));
            links.extend(link.filter(|_| links.len() < MAX_LINKS));
        })?;
        if !links.iter().map(|(name, _)| name).eq(&self.names) {
            self.names = links.iter().map(|(name, _)| name.clone()).collect();
            let columns = self.names.iter().map(|name| column::NETDEV_DOWNS.of(format!("netdev:{name}")));
            self.table.replace(columns.collect());
        }
        for (position, (_, count)) in links.into_iter().enumerate() {
            self.table.set_count(position, Some(count));
        }
        Ok(())
    }
}

impl Collector for CarrierCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        if !pass.scene.roots.is_host() {
            return;
        }
        self.table.clear();
        if let Err(error) = self.try_read(pass) {
            self.socket.close();
            self.names.clear();
            self.table.replace(vec![column::NETDEV_DOWNS.of("netdev:*")]);
            self.table.explain_all(Some(&format!("cannot list links: {error}")));
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::Beat;
    use crate::roots::Roots;
    use crate::watch::Watchlist;

    #[test]
    fn each_link_of_this_namespace_has_a_count() {
        let mut collector = CarrierCollector::default();
        let mut scene = Watchlist::new(Roots::host(), None, vec![]);
        let mut buffer = Vec::new();
        let mut pass = Pass { scene: &mut scene, buffer: &mut buffer, beat: Beat::Second };
        collector.read(&mut pass);
        let loopback = collector.names.iter().position(|name| name == "lo").expect("there is one");
        assert!(collector.table.values()[loopback].is_some());
        collector.read(&mut pass);
        assert_eq!(collector.table.values().len(), collector.names.len(), "the same links");
    }
}
