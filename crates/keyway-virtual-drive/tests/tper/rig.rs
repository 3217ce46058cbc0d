//! A host of the simplest kind: it says what a test tells it to, one message at a time.

use keyway_sed::message::{Answer, Message, write_call};
use keyway_sed::packet::{ComPacket, wrap};
use keyway_sed::token::{Encoder, Value};
use keyway_sed::uid::{method, parameter};
use keyway_sed::{Status, Uid};
use keyway_store::{MemStore, Store};
use keyway_virtual_drive::{Drive, DriveConfig, Label};
use std::sync::Arc;

pub(crate) const COM_ID: u16 = 0x1000;
pub(crate) const MSID: &str = "factory-pin-of-this-drive";
pub(crate) const PSID: &str = "PSIDOFTHISDRIVE0123456789ABCDEFG";

/// A small drive, of 2048 blocks.
pub(crate) fn config() -> DriveConfig {
    let label = Label { serial: "KW0000000001".into(), msid: MSID.into(), psid: PSID.into() };
    let opal = DriveConfig::opal(2048, 512, label);
    DriveConfig { mbr_bytes: 64 * 1024, data_store_bytes: 16 * 1024, pin_iterations: 1, ..opal }
}

pub(crate) fn store() -> Arc<MemStore> {
    Arc::new(MemStore::new(config().medium_bytes() as usize))
}

pub(crate) fn drive() -> Drive {
    Drive::create(store(), &config()).expect("a drive")
}

pub(crate) struct Host<'d> {
    pub(crate) drive: &'d Drive,
    pub(crate) tsn: u32,
    pub(crate) hsn: u32,
}

impl<'d> Host<'d> {
    pub(crate) fn new(drive: &'d Drive) -> Self {
        Self { drive, tsn: 0, hsn: 0 }
    }

    /// Sends a payload and fetches the answer's payload, empty if there is none.
    pub(crate) fn exchange(&self, tsn: u32, hsn: u32, payload: &[u8]) -> Vec<u8> {
        self.drive.security_send(1, COM_ID, &wrap(COM_ID, 0, tsn, hsn, payload)).expect("it is taken");
        let answer = self.drive.security_receive(1, COM_ID, 65536).expect("it answers");
        let answer = ComPacket::parse(&answer).expect("a ComPacket");
        assert_eq!(answer.com_id, COM_ID);
        answer.single().expect("one packet").map(|(_, payload)| payload.to_vec()).unwrap_or_default()
    }

    pub(crate) fn start_with(
        &mut self,
        sp: Uid,
        write: bool,
        who: Option<(Uid, &[u8])>,
    ) -> Result<(), Status> {
        let mut call = Encoder::new();
        write_call(&mut call, Uid::SESSION_MANAGER, method::START_SESSION, |to| {
            to.uint(0x41).uid(sp).boolean(write);
            if let Some((who, pin)) = who {
                to.named(parameter::HOST_CHALLENGE, |to| {
                    to.bytes(pin);
                });
                to.named(parameter::HOST_SIGNING_AUTHORITY, |to| {
                    to.uid(who);
                });
            }
        });
        let answer = self.exchange(0, 0, call.as_bytes());
        let Ok(Message::Call(sync)) = Message::parse(&answer) else {
            panic!("no SyncSession: {answer:02x?}")
        };
        assert_eq!((sync.invoking, sync.method), (Uid::SESSION_MANAGER, method::SYNC_SESSION));
        if sync.status != Status::Success {
            return Err(sync.status);
        }
        let numbers: Vec<_> = sync.required().map(|v| v.uint().expect("a number") as u32).collect();
        (self.hsn, self.tsn) = (numbers[0], numbers[1]);
        Ok(())
    }

    /// A session as an authority.
    pub(crate) fn login(drive: &'d Drive, sp: Uid, who: Uid, pin: &[u8]) -> Result<Self, Status> {
        let mut host = Self::new(drive);
        host.start_with(sp, true, Some((who, pin)))?;
        Ok(host)
    }

    /// A session as nobody in particular.
    pub(crate) fn anybody(drive: &'d Drive, sp: Uid) -> Result<Self, Status> {
        let mut host = Self::new(drive);
        host.start_with(sp, true, None)?;
        Ok(host)
    }

    pub(crate) fn raw(&self, payload: &[u8]) -> Vec<u8> {
        self.exchange(self.tsn, self.hsn, payload)
    }

    /// Calls a method; hands its results to `read`.
    pub(crate) fn call_with<T>(
        &self,
        object: Uid,
        method: Uid,
        arguments: impl FnOnce(&mut Encoder),
        read: impl FnOnce(&[Value<'_>]) -> T,
    ) -> Result<T, Status> {
        let mut call = Encoder::new();
        write_call(&mut call, object, method, arguments);
        let answer = self.raw(call.as_bytes());
        match Message::parse(&answer) {
            Ok(Message::Answer(Answer { results, status: Status::Success })) => Ok(read(&results)),
            Ok(Message::Answer(Answer { results, status })) => {
                assert!(results.is_empty(), "a failing method says nothing");
                Err(status)
            }
            other => panic!("not an answer: {other:?} {answer:02x?}"),
        }
    }

    pub(crate) fn call(
        &self,
        object: Uid,
        method: Uid,
        arguments: impl FnOnce(&mut Encoder),
    ) -> Result<(), Status> {
        self.call_with(object, method, arguments, |_| ())
    }

    /// All columns that are told, as (column, tokens).
    pub(crate) fn get_row(&self, row: Uid) -> Result<Vec<(u64, Vec<u8>)>, Status> {
        self.call_with(
            row,
            method::GET,
            |to| {
                to.start_list().end_list();
            },
            |results| {
                let cells = results[0].list().expect("a list of cells");
                cells
                    .iter()
                    .map(|cell| {
                        let (column, value) = cell.named().expect("a named cell");
                        let mut to = Encoder::new();
                        to.value(value);
                        (column.uint().expect("a column"), to.as_bytes().to_vec())
                    })
                    .collect()
            },
        )
    }

    /// One column's tokens, none where it is not told.
    pub(crate) fn get(&self, row: Uid, column: u64) -> Result<Option<Vec<u8>>, Status> {
        self.call_with(
            row,
            method::GET,
            |to| {
                to.list(|to| {
                    to.named(3, |to| {
                        to.uint(column);
                    });
                    to.named(4, |to| {
                        to.uint(column);
                    });
                });
            },
            |results| {
                let cells = results[0].list().expect("a list of cells");
                assert!(cells.len() <= 1);
                cells.first().map(|cell| {
                    let mut to = Encoder::new();
                    to.value(cell.named().expect("named").1);
                    to.as_bytes().to_vec()
                })
            },
        )
    }

    pub(crate) fn get_uint(&self, row: Uid, column: u64) -> u64 {
        let tokens = self.get(row, column).expect("readable").expect("there");
        match keyway_sed::token::Tokens::new(&tokens).take() {
            Ok(Some(keyway_sed::token::Token::Uint(n))) => n,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn set(&self, row: Uid, cells: &[(u64, Cell<'_>)]) -> Result<(), Status> {
        self.call(row, method::SET, |to| {
            to.named(parameter::VALUES, |to| {
                to.list(|to| {
                    for (column, cell) in cells {
                        to.named(*column, |to| match cell {
                            Cell::Uint(n) => {
                                to.uint(*n);
                            }
                            Cell::Bytes(bytes) => {
                                to.bytes(bytes);
                            }
                            Cell::Uints(list) => {
                                to.list(|to| {
                                    for n in *list {
                                        to.uint(*n);
                                    }
                                });
                            }
                            Cell::Expression(terms) => {
                                to.list(|to| {
                                    for term in *terms {
                                        to.token(keyway_sed::token::Token::StartName);
                                        match term {
                                            Ok(uid) => to.bytes(&parameter::AUTHORITY_REF).uid(*uid),
                                            Err(op) => to.bytes(&parameter::BOOLEAN_ACE).uint(*op),
                                        };
                                        to.token(keyway_sed::token::Token::EndName);
                                    }
                                });
                            }
                        });
                    }
                });
            });
        })
    }

    pub(crate) fn set_uint(&self, row: Uid, column: u64, n: u64) -> Result<(), Status> {
        self.set(row, &[(column, Cell::Uint(n))])
    }

    pub(crate) fn set_pin(&self, row: Uid, pin: &[u8]) -> Result<(), Status> {
        self.set(row, &[(3, Cell::Bytes(pin))])
    }

    pub(crate) fn end(self) {
        assert_eq!(self.raw(&[0xfa]), [0xfa]);
    }
}

/// What `set` sets: for expressions, authorities (`Ok`) and operators (`Err`).
#[allow(dead_code, reason = "not every test sets every kind")]
pub(crate) enum Cell<'a> {
    Uint(u64),
    Bytes(&'a [u8]),
    Uints(&'a [u64]),
    Expression(&'a [Result<Uid, u64>]),
}

/// Takes ownership and activates the Locking SP: owner and Admin1 have that PIN.
pub(crate) fn activated(store: Arc<dyn Store>, pin: &[u8]) -> Drive {
    use keyway_sed::uid::{authority, c_pin, sp};
    let drive = Drive::create(store, &config()).expect("a drive");
    let host = Host::login(&drive, sp::ADMIN, authority::SID, MSID.as_bytes()).expect("the factory's PIN");
    host.set_pin(c_pin::SID, pin).expect("the owner sets it");
    host.end();
    let host = Host::login(&drive, sp::ADMIN, authority::SID, pin).expect("the new PIN");
    host.call(sp::LOCKING, method::ACTIVATE, |_| {}).expect("activated");
    host.end();
    drive
}

/// Enables a user with a PIN and lets it unlock a range, as Linux's sed-opal does.
pub(crate) fn add_user(drive: &Drive, admin_pin: &[u8], user: u16, pin: &[u8], range: u16) {
    use keyway_sed::uid::{authority, c_pin, locking, sp};
    let admin = Host::login(drive, sp::LOCKING, authority::admin(1), admin_pin).expect("an admin");
    admin.set_uint(authority::user(user), 5, 1).expect("enabled");
    admin.set_pin(c_pin::user(user), pin).expect("a PIN");
    for ace in [locking::ace_set_read_locked(range), locking::ace_set_write_locked(range)] {
        let who = [Ok(authority::admin(1)), Ok(authority::user(user)), Err(1)];
        admin.set(ace, &[(3, Cell::Expression(&who))]).expect("admitted");
    }
    admin.end();
}

/// Makes a range that can be locked.
pub(crate) fn set_up_range(drive: &Drive, admin_pin: &[u8], range: u16, start: u64, len: u64) {
    use keyway_sed::uid::{authority, locking, sp};
    let admin = Host::login(drive, sp::LOCKING, authority::admin(1), admin_pin).expect("an admin");
    let mut cells = vec![(5, Cell::Uint(1)), (6, Cell::Uint(1))];
    if range > 0 {
        cells.extend([(3, Cell::Uint(start)), (4, Cell::Uint(len))]);
    }
    admin.set(locking::range(range), &cells).expect("set up");
    admin.end();
}

/// Locks or unlocks a range, for reading and writing.
pub(crate) fn lock(
    drive: &Drive,
    who: Uid,
    pin: &[u8],
    range: u16,
    read: bool,
    write: bool,
) -> Result<(), Status> {
    use keyway_sed::uid::{locking, sp};
    let host = Host::login(drive, sp::LOCKING, who, pin)?;
    let done =
        host.set(locking::range(range), &[(7, Cell::Uint(read.into())), (8, Cell::Uint(write.into()))]);
    host.end();
    done
}
