//! Each way has its words, and each reason.

use super::*;
use keyway::session::{CANDIDATES, Need};

#[test]
fn each_way_has_its_words() {
    for candidate in &CANDIDATES {
        let merit = reasons(&[Reason::Best { way: candidate.name.to_owned() }]);
        assert!(matches!(merit.as_slice(), [merit] if !merit.is_empty()), "{}", candidate.name);
        assert!(
            [false, true].iter().all(|root| !because(candidate.name, *root).is_empty()),
            "{}",
            candidate.name
        );
    }
    // Nobody who is root is told that root is needed.
    for way in ["fuse", "files", "fuse+loop", "nbd"] {
        assert!(!because(way, true).contains("root"), "{way}");
        assert!(!said_in(MERITS, way, &json!({"root": true})).contains("root"), "{way}");
    }
}

#[test]
fn only_what_the_kernels_ways_lack_is_told() {
    let lacks = |way: &str, need| Reason::Lacks { way: way.to_owned(), need, why: "no module".to_owned() };
    let best = |way: &str| Reason::Best { way: way.to_owned() };
    let told = |best_one, lacking| reasons(&[best(best_one), lacking]).split_off(1);
    assert_eq!(told("fuse", lacks("ublk", Need::OutlivesServer)).len(), 1);
    assert_eq!(told("fuse", lacks("dm-crypt", Need::Fuse)), ["dm-crypt can't be had: no module"]);
    assert!(told("fuse", lacks("fuse+loop", Need::LoopDevice)).is_empty());
    assert!(told("nbd", lacks("ublk", Need::OutlivesServer)).is_empty());
    assert_eq!(reasons(&[Reason::Refused { why: "{odd}".to_owned() }]), ["{odd}"]);
}

#[test]
fn a_socket_that_nobody_asked_for_is_told() {
    let why = "only root and the group fuse may open /dev/fuse".to_owned();
    let lacks = [Reason::Lacks { way: "fuse".to_owned(), need: Need::Fuse, why }];
    let told = only_a_socket("nbd", &lacks).expect("a warning");
    assert_eq!(
        told,
        "FUSE can't be used here: only root and the group fuse may open /dev/fuse; serving NBD on a socket instead"
    );
    assert_eq!(only_a_socket("fuse", &lacks), None);
    assert_eq!(only_a_socket("nbd", &[]), None);
}
