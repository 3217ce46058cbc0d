//! What a controller owes its queues, and a host its controller: the end of the one is the end of the others.

use crate::client::{Client, NQN, connect};
use crate::protocol::{guarded, served, served_as};
use keyway_testkit::PATIENCE;
use std::time::{Duration, Instant};

const KEEP_ALIVE: u8 = 0x18;
const SET_FEATURES: u8 = 0x09;
const GET_FEATURES: u8 = 0x0a;
/// The feature's number.
const TIMER: (usize, &[u8]) = (40, &[0x0f]);

/// Asks for so long, every now and then.
fn for_a_while(mut ask: impl FnMut()) {
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(4) {
        ask();
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_host_that_is_not_heard_of_for_as_long_as_it_promised_is_gone() {
    served(|address, _| {
        let (mut admin, controller) = Client::admin_for(address, 1000);
        let mut io = Client::io(address, controller);
        let (mut other, _) = Client::admin(address);
        assert!(admin.ended_within(PATIENCE), "the admin queue");
        assert!(io.ended_within(PATIENCE), "and the other one");
        // Nothing is left of it.
        assert_eq!(Client::new(address).send(connect(2, controller, NQN), &[]).status, 0x182);
        // Who promised nothing may be silent.
        assert_eq!(other.simple(KEEP_ALIVE, 0, 0, &[]).status, 0);
    });
}

#[test]
fn who_keeps_the_promise_stays() {
    served(|address, _| {
        let (mut speaks, controller) = Client::admin_for(address, 2000);
        let mut io = Client::io(address, controller);
        // This one is busy elsewhere.
        let (mut works, controller) = Client::admin_for(address, 2000);
        let mut at_work = Client::io(address, controller);
        for_a_while(|| {
            assert_eq!(speaks.simple(KEEP_ALIVE, 0, 0, &[]).status, 0);
            assert_eq!(at_work.read(0, 1).status, 0);
        });
        assert_eq!(io.read(0, 1).status, 0);
        assert_eq!(works.simple(KEEP_ALIVE, 0, 0, &[]).status, 0);
    });
}

#[test]
fn a_promise_can_be_made_and_taken_back_later() {
    served(|address, _| {
        let (mut admin, _) = Client::admin(address);
        assert_eq!(admin.simple(GET_FEATURES, 0, 0, &[TIMER]).result, 0);
        let set = |milliseconds: &'static [u8; 4]| [TIMER, (44, &milliseconds[..])];
        assert_eq!(admin.simple(SET_FEATURES, 0, 0, &set(&[0xdc, 0x05, 0, 0])).status, 0);
        // 1.5 s, in whole seconds as Identify says.
        assert_eq!(admin.simple(GET_FEATURES, 0, 0, &[TIMER]).result, 2000);
        assert!(admin.ended_within(PATIENCE));
        let (mut admin, _) = Client::admin_for(address, 1000);
        assert_eq!(admin.simple(SET_FEATURES, 0, 0, &set(&[0; 4])).status, 0);
        assert!(!admin.ended_within(Duration::from_secs(4)), "it promises nothing any more");
        // More than there can be is for ever, not at once.
        let (mut admin, _) = Client::admin_for(address, u32::MAX);
        assert_eq!(admin.simple(SET_FEATURES, 0, 0, &set(&[0xff; 4])).status, 0);
        assert_eq!(admin.simple(KEEP_ALIVE, 0, 0, &[]).status, 0);
    });
}

#[test]
fn without_the_admin_queue_there_are_no_others() {
    served(|address, _| {
        let (admin, controller) = Client::admin(address);
        let mut io = Client::io(address, controller);
        assert_eq!(io.read(0, 1).status, 0);
        drop(admin);
        assert!(io.ended_within(PATIENCE));
    });
}

#[test]
fn a_queue_is_one_connection() {
    served(|address, _| {
        let (_admin, controller) = Client::admin(address);
        let mut io = Client::io(address, controller);
        let mut second = Client::new(address);
        assert_eq!(second.send(connect(1, controller, NQN), &[]).status, 0x0c);
        // It is still not connected.
        assert_eq!(second.read(0, 1).status, 0x0c);
        assert_eq!(io.read(0, 1).status, 0);
        drop(io);
        keyway_testkit::wait_until("the queue is free", || {
            Client::new(address).send(connect(1, controller, NQN), &[]).status == 0
        });
    });
}

#[test]
fn who_proves_nothing_takes_no_controller() {
    served_as(&guarded(), |address, _| {
        let connected = || {
            let mut client = Client::new(address);
            let done = client.send(connect(0, 0xffff, NQN), &[]);
            assert_eq!((done.status, done.result >> 16), (0, 2), "it may prove itself");
            client
        };
        let unproved: Vec<_> = (0..200).map(|_| connected()).collect();
        connected();
        drop(unproved);
    });
}
