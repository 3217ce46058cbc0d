//! Durable means durable, and an error on the medium reaches the client.

use crate::client::{EIO, ENOSPC, FLUSH, FUA, READ, TRIM, WRITE, WRITE_ZEROES};
use crate::rig::{Rig, device_on};
use keyway_engine::Access;
use keyway_store::{FaultPlan, FaultStore, MemStore};
use std::sync::Arc;

/// A medium behind a volatile cache: what is in `medium` would survive a power cut now.
fn cached(plan: FaultPlan) -> (Rig, Arc<MemStore>) {
    let medium = Arc::new(MemStore::new(1 << 20));
    let rig = Rig::new(device_on(FaultStore::new(medium.clone(), plan), Access::ReadWrite));
    (rig, medium)
}

#[test]
fn what_was_flushed_is_on_the_medium_when_the_reply_comes() {
    let (rig, medium) = cached(FaultPlan::default());
    let mut client = rig.client();
    client.write(0, &[1; 4096]);
    assert!(medium.snapshot()[..4096].iter().all(|b| *b == 0), "the cache is real");
    assert_eq!(client.error_of(0, FLUSH, 0, 0), 0);
    assert!(medium.snapshot()[..4096].iter().all(|b| *b == 1));
}

#[test]
fn a_write_with_fua_is_on_the_medium_when_the_reply_comes() {
    let (rig, medium) = cached(FaultPlan::default());
    let mut client = rig.client();
    for (i, offset) in [0u64, 4096, 700_001].into_iter().enumerate() {
        let data = vec![i as u8 + 1; 5000];
        assert_eq!(client.ask(FUA, WRITE, offset, 5000, &data).error, 0);
        assert_eq!(medium.snapshot()[offset as usize..][..5000], data);
    }
    assert_eq!(client.error_of(FUA, WRITE_ZEROES, 0, 8192), 0);
    assert!(medium.snapshot()[..8192].iter().all(|b| *b == 0));
}

#[test]
fn a_flush_on_one_connection_covers_the_others() {
    let (rig, medium) = cached(FaultPlan::default());
    let mut clients: Vec<_> = (0..8).map(|_| rig.client()).collect();
    assert_ne!(clients[0].flags & 1 << 8, 0, "CAN_MULTI_CONN is promised");
    for (i, client) in clients.iter_mut().enumerate() {
        client.write(i as u64 * 10_000, &[i as u8 + 1; 10_000]);
    }
    assert_eq!(clients[7].error_of(0, FLUSH, 0, 0), 0);
    let on_medium = medium.snapshot();
    for i in 0..8 {
        assert!(on_medium[i * 10_000..(i + 1) * 10_000].iter().all(|b| *b == i as u8 + 1));
    }
    // And what one has written the others read.
    assert_eq!(clients[3].read(70_000, 10_000), vec![8; 10_000]);
}

#[test]
fn a_failing_medium_is_an_error_at_the_client_and_the_connection_lives() {
    let (rig, _) = cached(FaultPlan { reads_fail_from: Some(2), ..FaultPlan::default() });
    let mut client = rig.client();
    assert_eq!(client.error_of(0, READ, 0, 4096), 0);
    assert_eq!(client.error_of(0, READ, 4096, 4096), 0);
    for _ in 0..3 {
        assert_eq!(client.error_of(0, READ, 0, 4096), EIO);
    }
    assert_eq!(client.error_of(0, FLUSH, 0, 0), 0);
    assert_eq!(client.error_of(0, TRIM, 0, 4096), 0);
}

#[test]
fn a_failed_flush_is_told_for_flush_and_fua() {
    let (rig, _) = cached(FaultPlan { flushes_fail_from: Some(0), ..FaultPlan::default() });
    let mut client = rig.client();
    assert_eq!(client.error_of(0, WRITE, 0, 4096), 0);
    assert_eq!(client.error_of(0, FLUSH, 0, 0), EIO);
    assert_eq!(client.error_of(FUA, WRITE, 0, 4096), EIO);
}

#[test]
fn a_full_medium_says_so_and_keeps_what_it_has() {
    let (rig, medium) = cached(FaultPlan { writes_fail_from: Some((1, 28)), ..FaultPlan::default() });
    let mut client = rig.client();
    assert_eq!(client.error_of(FUA, WRITE, 0, 4096), 0);
    assert_eq!(client.error_of(FUA, WRITE, 4096, 4096), ENOSPC);
    assert_eq!(client.read(0, 4096), vec![0x5a; 4096]);
    assert!(medium.snapshot()[..4096].iter().all(|b| *b == 0x5a));
}
