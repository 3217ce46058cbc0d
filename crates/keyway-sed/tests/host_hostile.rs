//! The host against drives that lie, stall and mix things up: every answer of theirs ends in a clear
//! error, soon, and without taking much memory.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use keyway_sed::comid::{PROTOCOL_COMID, PROTOCOL_TCG, Request, Response};
use keyway_sed::discovery::{Discovery, Feature, LockingFeature, Ssc};
use keyway_sed::host::{Credential, Host, HostError, Misbehaved};
use keyway_sed::message::{Message, write_answer, write_call, write_call_with};
use keyway_sed::packet::{ComPacket, empty, wrap};
use keyway_sed::token::{Encoder, Token};
use keyway_sed::transport::{Identity, Interface, SecurityTransport, TransportError};
use keyway_sed::uid::{authority, method};
use keyway_sed::{Status, Uid};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

const COM_ID: u16 = 0x07FE;
const TSN: u32 = 0x1001;

/// What a scripted drive answers to a message, given the host's session number.
type Answers = Box<dyn FnMut(&Message<'_>, u32) -> Vec<u8>>;

/// A drive that keeps to the protocol but where its script does not.
struct Scripted {
    identity: Identity,
    answers: Answers,
    /// The answer to the last message, as often as it is asked for: an endless one stays endless.
    waiting: Option<Vec<u8>>,
    reset_asked: bool,
    resets: Rc<Cell<u32>>,
    largest_asked: Rc<Cell<usize>>,
}

impl SecurityTransport for Scripted {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send(&mut self, protocol: u8, com_id: u16, data: &[u8]) -> Result<(), TransportError> {
        assert!(data.len().is_multiple_of(512));
        if protocol == PROTOCOL_COMID {
            assert_eq!(Request::parse(data).unwrap(), (COM_ID, 0, Request::StackReset));
            self.resets.set(self.resets.get() + 1);
            self.waiting = None;
            self.reset_asked = true;
            return Ok(());
        }
        assert_eq!(com_id, COM_ID);
        let packet = ComPacket::parse(data).unwrap();
        let (head, payload) = packet.single().unwrap().expect("a message");
        let answer = (self.answers)(&Message::parse(payload).unwrap(), head.hsn);
        self.waiting = Some(answer);
        Ok(())
    }

    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        self.largest_asked.set(self.largest_asked.get().max(into.len()));
        into.fill(0);
        let answer = match (protocol, com_id) {
            (PROTOCOL_TCG, 1) => discovery().write(),
            (PROTOCOL_COMID, _) if self.reset_asked => {
                Response::Reset(true).write(COM_ID, 0, Request::StackReset)
            }
            _ => self.waiting.clone().unwrap_or_else(|| empty(COM_ID, 0, 0, 0).to_vec()),
        };
        into.iter_mut().zip(answer).for_each(|(to, from)| *to = from);
        Ok(())
    }
}

fn discovery() -> Discovery {
    let ssc = Ssc { base_com_id: COM_ID, com_ids: 1, admins: 4, users: 9, ..Ssc::default() };
    let locking = LockingFeature { supported: true, media_encryption: true, ..LockingFeature::default() };
    Discovery {
        revision: (0, 1),
        vendor: [0; 32],
        features: vec![Feature::Locking(locking), Feature::OpalV2(ssc)],
    }
}

/// A host of a drive that answers Properties and StartSession well and all else by the script.
struct Setup {
    host: Host,
    resets: Rc<Cell<u32>>,
    largest_asked: Rc<Cell<usize>>,
}

fn drive(mut script: impl FnMut(&Message<'_>, u32) -> Option<Vec<u8>> + 'static) -> Setup {
    let (resets, largest_asked) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let answers = Box::new(move |message: &Message<'_>, hsn: u32| match script(message, hsn) {
        Some(answer) => answer,
        None => well(message, hsn),
    });
    let identity = Identity::new(Interface::Virtual, "Hostile", "1", "1");
    let scripted = Scripted {
        identity,
        answers,
        waiting: None,
        reset_asked: false,
        resets: resets.clone(),
        largest_asked: largest_asked.clone(),
    };
    let mut host = Host::open(Box::new(scripted)).expect("discovery");
    host.set_patience(Duration::from_millis(50));
    Setup { host, resets, largest_asked }
}

fn well(message: &Message<'_>, hsn: u32) -> Vec<u8> {
    let mut to = Encoder::new();
    match message {
        Message::Call(call) if call.method == method::PROPERTIES => {
            write_call(&mut to, Uid::SESSION_MANAGER, method::PROPERTIES, |to| {
                to.list(|_| {});
            });
            wrap(COM_ID, 0, 0, 0, to.as_bytes()).to_vec()
        }
        Message::Call(call) if call.method == method::START_SESSION => {
            let hsn = call.required().next().unwrap().uint().unwrap();
            synced(hsn, u64::from(TSN), Status::Success)
        }
        Message::EndOfSession => {
            to.token(Token::EndOfSession);
            wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec()
        }
        _ => {
            write_answer(&mut to, |_| Ok(()));
            wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec()
        }
    }
}

fn synced(hsn: u64, tsn: u64, status: Status) -> Vec<u8> {
    let mut to = Encoder::new();
    write_call_with(&mut to, Uid::SESSION_MANAGER, method::SYNC_SESSION, status, |to| {
        to.uint(hsn).uint(tsn);
    });
    wrap(COM_ID, 0, 0, 0, to.as_bytes()).to_vec()
}

fn is_get(message: &Message<'_>) -> bool {
    matches!(message, Message::Call(call) if call.method == method::GET)
}

/// Reading the MSID from a drive that answers Get so; what went wrong.
fn get_answered(answer: impl Fn(u32) -> Vec<u8> + 'static) -> (HostError, Setup) {
    let mut setup = drive(move |message, hsn| is_get(message).then(|| answer(hsn)));
    let begun = Instant::now();
    let error = setup.host.msid().err().expect("it can't go well");
    assert!(begun.elapsed() < Duration::from_secs(25), "took {:?}", begun.elapsed());
    assert!(setup.largest_asked.get() <= 1 << 20, "asked for {}", setup.largest_asked.get());
    (error, setup)
}

fn misbehaved(error: &HostError) -> Misbehaved {
    let HostError::Misbehaved(what) = error else { panic!("{error}") };
    assert!(error.to_string().contains("does not keep to the protocol"));
    *what
}

#[test]
fn a_drive_that_never_is_ready_is_given_up() {
    let (error, _) = get_answered(|_| empty(COM_ID, 0, 1, 0).to_vec());
    assert!(matches!(misbehaved(&error), Misbehaved::Stalled(_)), "{error}");
    let (error, _) = get_answered(|_| empty(COM_ID, 0, 0, 0).to_vec());
    assert!(matches!(misbehaved(&error), Misbehaved::Stalled(_)), "{error}");
}

#[test]
fn announced_sizes_have_a_bound() {
    for size in [2 << 20, u32::MAX] {
        let (error, _) = get_answered(move |_| empty(COM_ID, 0, size, size).to_vec());
        assert_eq!(misbehaved(&error), Misbehaved::TooMuch(size));
    }
    // One that grows whenever it is asked for, but never comes.
    let (error, setup) = get_answered(|_| empty(COM_ID, 0, 1 << 20, 1 << 20).to_vec());
    assert!(matches!(misbehaved(&error), Misbehaved::Stalled(_)), "{error}");
    assert_eq!(setup.largest_asked.get(), 1 << 20);
}

#[test]
fn lengths_that_lie_are_no_packets() {
    for (at, byte) in [(16, 0xff), (18, 0xff), (19, 0), (40, 0xff), (43, 1), (53, 0x40), (55, 0xff)] {
        let (error, _) = get_answered(move |hsn| {
            let mut to = Encoder::new();
            write_answer(&mut to, |to| {
                to.list(|_| {});
                Ok(())
            });
            let mut packet = wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec();
            packet[at] = byte;
            packet
        });
        let what = misbehaved(&error);
        assert!(matches!(what, Misbehaved::Bytes(_) | Misbehaved::Stalled(_)), "byte {at}: {error}");
    }
}

#[test]
fn tokens_that_nest_or_never_end_are_refused() {
    let nested = |hsn| wrap(COM_ID, 0, TSN, hsn, &[0xf0; 1900]).to_vec();
    let many = |hsn| {
        let mut to = Encoder::new();
        to.start_list();
        (0..1800).for_each(|_| {
            to.uint(0);
        });
        wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec()
    };
    let names = |hsn| wrap(COM_ID, 0, TSN, hsn, &[0xf2; 1900]).to_vec();
    let reserved = |hsn| wrap(COM_ID, 0, TSN, hsn, &[0xf4, 0xf5, 0xf6]).to_vec();
    let nothing = |hsn| wrap(COM_ID, 0, TSN, hsn, &[]).to_vec();
    let answers: [fn(u32) -> Vec<u8>; 5] = [nested, many, names, reserved, nothing];
    for answer in answers {
        let (error, _) = get_answered(answer);
        assert!(matches!(misbehaved(&error), Misbehaved::Bytes(_)), "{error}");
    }
}

#[test]
fn answers_for_others_are_passed_over_only_so_often() {
    let for_session = |com_id, tsn, hsn| {
        let mut to = Encoder::new();
        write_answer(&mut to, |_| Ok(()));
        wrap(com_id, 0, tsn, hsn, to.as_bytes()).to_vec()
    };
    let (error, _) = get_answered(move |hsn| for_session(COM_ID, TSN + 1, hsn));
    assert_eq!(misbehaved(&error), Misbehaved::OtherSession);
    let (error, _) = get_answered(move |hsn| for_session(COM_ID, TSN, hsn + 1));
    assert_eq!(misbehaved(&error), Misbehaved::OtherSession);
    let (error, _) = get_answered(move |hsn| for_session(COM_ID + 1, TSN, hsn));
    assert_eq!(misbehaved(&error), Misbehaved::OtherSession);
}

#[test]
fn answers_of_another_form_are_told() {
    type Results = fn(&mut Encoder);
    let shapes: [Results; 5] = [
        |_| {},
        |to| {
            to.uint(5);
        },
        |to| {
            to.list(|to| {
                to.bytes(b"no name");
            });
        },
        |to| {
            to.list(|to| {
                to.named(4, |to| {
                    to.bytes(b"another column");
                });
            });
        },
        |to| {
            to.list(|to| {
                to.named(3, |to| {
                    to.uint(7);
                });
            });
        },
    ];
    for shape in shapes {
        let (error, _) = get_answered(move |hsn| {
            let mut to = Encoder::new();
            write_answer(&mut to, |to| {
                shape(to);
                Ok(())
            });
            wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec()
        });
        misbehaved(&error);
    }
    // A call where an answer is due, and the end of the session.
    let (error, _) = get_answered(|hsn| {
        let mut to = Encoder::new();
        write_call(&mut to, Uid::THIS_SP, method::GET, |_| {});
        wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec()
    });
    assert_eq!(misbehaved(&error), Misbehaved::Form("a method"));
    let (error, _) = get_answered(|hsn| wrap(COM_ID, 0, TSN, hsn, &[0xfa]).to_vec());
    assert_eq!(misbehaved(&error), Misbehaved::Closed);
    let (error, _) = get_answered(|hsn| {
        let mut to = Encoder::new();
        write_call(&mut to, Uid::SESSION_MANAGER, method::CLOSE_SESSION, |to| {
            to.uint(u64::from(hsn)).uint(u64::from(TSN));
        });
        wrap(COM_ID, 0, 0, 0, to.as_bytes()).to_vec()
    });
    assert_eq!(misbehaved(&error), Misbehaved::Closed);
}

/// What an authority may not see is left out of an answer to Get; an answer of another form is no refusal.
#[test]
fn a_malformed_answer_to_get_is_no_refusal_when_a_key_is_renewed() {
    let renewed = |shape: fn(&mut Encoder)| {
        let mut setup = drive(move |message, hsn| {
            is_get(message).then(|| {
                let mut to = Encoder::new();
                write_answer(&mut to, |to| {
                    shape(to);
                    Ok(())
                });
                wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec()
            })
        });
        let credential = Credential { authority: authority::SID, pin: b"pin" };
        let mut session = setup.host.locking(Some(credential)).expect("a session");
        session.new_key(1).expect_err("no key was told")
    };
    let left_out: [fn(&mut Encoder); 2] = [
        |_| {},
        |to| {
            to.list(|_| {});
        },
    ];
    for left_out in left_out {
        let error = renewed(left_out);
        assert!(matches!(&error, HostError::Refused(r) if r.status == Status::NotAuthorized), "{error:?}");
    }
    let malformed: [fn(&mut Encoder); 4] = [
        |to| {
            to.uint(5);
        },
        |to| {
            to.list(|to| {
                to.bytes(b"no name");
            });
        },
        |to| {
            to.list(|to| {
                to.named(4, |to| {
                    to.bytes(b"another column");
                });
            });
        },
        |to| {
            to.list(|to| {
                to.named(10, |to| {
                    to.uint(7);
                });
            });
        },
    ];
    for shape in malformed {
        misbehaved(&renewed(shape));
    }
}

#[test]
fn a_session_of_another_number_is_none() {
    let starts = |answer: fn(u64) -> Vec<u8>| {
        let mut setup = drive(move |message, _| match message {
            Message::Call(call) if call.method == method::START_SESSION => {
                Some(answer(call.required().next().unwrap().uint().unwrap()))
            }
            _ => None,
        });
        let credential = Credential { authority: authority::SID, pin: b"x" };
        setup.host.admin(Some(credential)).err().expect("no session")
    };
    let error = starts(|hsn| synced(hsn + 1, u64::from(TSN), Status::Success));
    assert_eq!(misbehaved(&error), Misbehaved::OtherSession);
    let error = starts(|hsn| synced(hsn, 1 << 40, Status::Success));
    assert_eq!(misbehaved(&error), Misbehaved::Form("StartSession"));
    let error = starts(|hsn| synced(hsn, u64::from(TSN), Status::NotAuthorized));
    assert_eq!(error.status(), Some(Status::NotAuthorized));
    let error = starts(|_| {
        let mut to = Encoder::new();
        write_answer(&mut to, |_| Err(Status::SpBusy));
        wrap(COM_ID, 0, 0, 0, to.as_bytes()).to_vec()
    });
    assert_eq!(error.status(), Some(Status::SpBusy));
}

#[test]
fn what_an_earlier_host_left_behind_is_reset_away() {
    let mut first = true;
    let mut setup = drive(move |message, _| match message {
        Message::Call(call) if call.method == method::PROPERTIES && std::mem::take(&mut first) => {
            let mut to = Encoder::new();
            write_answer(&mut to, |_| Ok(()));
            Some(wrap(COM_ID, 0, 77, 5, to.as_bytes()).to_vec())
        }
        _ => None,
    });
    setup.host.limits().expect("after a reset");
    assert_eq!(setup.resets.get(), 1);
}

#[test]
fn properties_that_cannot_be_are_not_believed() {
    for (size, token) in [(0, 0), (1, u64::MAX), (u64::MAX, 3), (u64::MAX, u64::MAX)] {
        let mut setup = drive(move |message, _| match message {
            Message::Call(call) if call.method == method::PROPERTIES => {
                let mut to = Encoder::new();
                write_call(&mut to, Uid::SESSION_MANAGER, method::PROPERTIES, |to| {
                    to.list(|to| {
                        for (name, value) in [(&b"MaxComPacketSize"[..], size), (b"MaxIndTokenSize", token)] {
                            to.token(Token::StartName).bytes(name).uint(value).token(Token::EndName);
                        }
                    });
                });
                Some(wrap(COM_ID, 0, 0, 0, to.as_bytes()).to_vec())
            }
            _ => None,
        });
        let limits = setup.host.limits().expect("properties");
        assert!((2048..=65536).contains(&limits.com_packet), "{limits:?}");
        assert!((1..limits.com_packet).contains(&limits.token), "{limits:?}");
    }
}

#[test]
fn random_bytes_of_another_number_are_refused() {
    let mut setup = drive(|message, hsn| match message {
        Message::Call(call) if call.method == method::RANDOM => {
            let mut to = Encoder::new();
            write_answer(&mut to, |to| {
                to.bytes(&[7; 5]);
                Ok(())
            });
            Some(wrap(COM_ID, 0, TSN, hsn, to.as_bytes()).to_vec())
        }
        _ => None,
    });
    let mut session = setup.host.admin(None).expect("a session");
    misbehaved(&session.random(32).err().expect("too few"));
}

#[test]
fn discovery_of_anything_ends() {
    struct Bytes(Vec<u8>, Identity);
    impl SecurityTransport for Bytes {
        fn identity(&self) -> &Identity {
            &self.1
        }
        fn send(&mut self, _: u8, _: u16, _: &[u8]) -> Result<(), TransportError> {
            Ok(())
        }
        fn receive(&mut self, _: u8, _: u16, into: &mut [u8]) -> Result<(), TransportError> {
            into.fill(0);
            into.iter_mut().zip(&self.0).for_each(|(to, from)| *to = *from);
            Ok(())
        }
    }
    let open =
        |bytes: Vec<u8>| Host::open(Box::new(Bytes(bytes, Identity::new(Interface::Virtual, "m", "s", "f"))));
    assert!(matches!(open(Vec::new()).err(), Some(HostError::Unsupported(_))));
    assert!(open(vec![0xff; 4096]).is_err());
    let mut no_ssc = discovery();
    no_ssc.features.truncate(1);
    let mut host = open(no_ssc.write()).expect("a drive without a channel");
    assert!(matches!(host.msid().err(), Some(HostError::Misbehaved(Misbehaved::NoComId))));
}
