//! The beds that are built in.

use super::*;
use std::collections::BTreeSet;

#[test]
fn every_bed_is_in_order_and_every_name_is_there_once() {
    let mut names = BTreeSet::new();
    for bed in beds().expect("are in order") {
        assert!(names.insert(bed.name.clone()), "{}", bed.name);
        for fault in &bed.faults {
            assert!(names.insert(fault.name.clone()), "{}", fault.name);
            assert_eq!(fault.levels.len(), 3, "{}: a fault has three intensities", fault.name);
            assert!(!fault.diagnoses.is_empty() && fault.does.ends_with('.'), "{}", fault.name);
            assert!(
                bed.recipe_of(&fault.service).is_some(),
                "{}: no service '{}'",
                fault.name,
                fault.service
            );
        }
    }
    assert!(names.len() >= 25, "{}", names.len());
}

#[test]
fn faults_and_beds_are_selected_by_name_and_intensity() {
    let beds = beds().expect("are in order");
    let php = beds.iter().find(|bed| bed.name == "php").expect("is there");
    let chosen = |names: &[&str], level| {
        let selection =
            FaultSelection { names: names.iter().map(|name| (*name).to_owned()).collect(), level };
        selection.check().expect("are known");
        let cases = php.cases().into_iter().filter(|case| selection.has(php, case));
        cases.map(|case| case.name).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&["row-lock"], None), ["row-lock 1", "row-lock 2", "row-lock 3"]);
    assert_eq!(chosen(&["row-lock"], Some(2)), ["row-lock 2"]);
    assert_eq!(chosen(&["static"], None), Vec::<String>::new());
    assert!(chosen(&["php"], Some(1)).contains(&"php at a third".to_owned()), "healthy loads have no level");
    let unknown = FaultSelection { names: vec!["bad-luck".into()], level: None };
    let told = unknown.check().expect_err("there is none").to_string();
    assert!(told.starts_with("cannot find fault 'bad-luck'\nhint: use one of"), "{told}");
}

#[test]
fn a_fault_is_planted_in_services_of_other_names() {
    let (bed, fault) = find_fault("stopped").expect("is there");
    let lab = |services: &[(&str, &str)]| {
        services.iter().map(|(name, recipe)| ((*name).to_owned(), (*recipe).to_owned())).collect()
    };
    let planted = fault.planted(&bed, 2, &lab(&[("front", "nginx"), ("cache", "memcached")])).expect("fits");
    assert_eq!(planted.service, "front");
    assert!(
        planted.during[0].text.contains("{{front.pid}}") && !planted.during[0].text.contains("{{web.pid}}")
    );
    let (bed, connections) = find_fault("nginx-connections").expect("is there");
    let planted = connections.planted(&bed, 3, &lab(&[("front", "nginx")])).expect("fits");
    assert_eq!(planted.services[0].text(), "front.worker_connections=16");
    let refused = |services: &[(&str, &str)], level: usize| {
        format!("{:#}", connections.planted(&bed, level, &lab(services)).expect_err("is refused"))
    };
    assert!(refused(&[("cache", "memcached")], 1).contains("no service of recipe 'nginx'"));
    assert!(
        refused(&[("a", "nginx"), ("b", "nginx")], 1).contains("several services of recipe 'nginx' (a, b)")
    );
    assert!(refused(&[("web", "nginx")], 4).contains("it has intensities 1 to 3"));
    let (bed, sleep) = find_fault("php-sleep").expect("is there");
    let told = sleep.planted(&bed, 1, &lab(&[("php", "php-fpm")])).expect_err("is refused").to_string();
    assert!(told.contains("it is in what is requested"), "{told}");
}
