//! A file that comes, goes, and turns into garbage while it is sampled.

use super::*;
use crate::collect::Beat;
use crate::collect::netdev;
use sysdyno_record::series::Column;

const HEADER: &str = "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n";

struct Host {
    folder: tempfile::TempDir,
    scene: Watchlist,
    collector: Box<dyn Collector>,
}

impl Host {
    fn new() -> Host {
        let folder = tempfile::tempdir().expect("makes a folder");
        std::fs::create_dir_all(folder.path().join("proc/net")).expect("makes folders");
        let scene = Watchlist::new(Roots::at(folder.path()), None, vec![]);
        Host { folder, scene, collector: netdev::collector() }
    }

    fn write(&self, text: &str) {
        std::fs::write(self.folder.path().join("proc/net/dev"), text).expect("writes");
    }

    /// Scopes of the columns with their first value or reason, and whether the columns changed.
    fn read(&mut self) -> (Vec<String>, bool) {
        let mut buffer = Vec::new();
        let (scene, beat) = (&mut self.scene, Beat::Second);
        self.collector.read(&mut Pass { scene, buffer: &mut buffer, beat });
        let table = self.collector.table();
        let show = |(column, value): (&Column, &Option<f64>)| match (value, &column.unavailable) {
            (Some(value), None) => format!("{}={value}", column.scope),
            (None, Some(_)) => format!("{}:reason", column.scope),
            other => panic!("{other:?}"),
        };
        let shown = table.columns().iter().zip(table.values()).map(show).step_by(9).collect();
        (shown, table.take_change())
    }
}

#[test]
fn a_file_that_comes_and_goes_leaves_no_stale_value() {
    let mut host = Host::new();
    assert_eq!(host.read(), (vec!["netdev:*:reason".to_owned()], true));
    assert_eq!(host.read(), (vec!["netdev:*:reason".to_owned()], false));
    host.write("garbage\n");
    assert_eq!(host.read(), (vec!["netdev:*:reason".to_owned()], true), "the reason is another one");
    host.write(HEADER);
    assert_eq!(host.read(), (vec![], true), "it can be read, and there is no interface");
    let line = " eth0: 7 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    host.write(&format!("{HEADER}{line}"));
    assert_eq!(host.read(), (vec!["netdev:eth0=7".to_owned()], true));
    host.write(&format!("{HEADER} eth0: cut off"));
    assert_eq!(host.read(), (vec!["netdev:eth0:reason".to_owned()], true), "its columns stay");
    host.write(&format!("{HEADER}{line}"));
    assert_eq!(host.read(), (vec!["netdev:eth0=7".to_owned()], true));
    assert_eq!(host.read(), (vec!["netdev:eth0=7".to_owned()], false));
}
