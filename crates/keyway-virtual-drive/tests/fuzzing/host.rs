//! Any bytes as a self-encrypting drive's answers to a host that looks at everything.
//!
//! The input is a run of pieces, each with its length before it (two bytes, big-endian): first what Level 0
//! discovery says (nothing: an ordinary drive), then one answer after the other, the first byte of which says
//! whether the rest is a whole transfer or a message to be packed for the session that waits.
use keyway_sed::comid::{DISCOVERY, PROTOCOL_TCG};
use keyway_sed::diagnosis::{Situation, diagnose};
use keyway_sed::discovery::{Discovery, Feature, LockingFeature, Ssc};
use keyway_sed::host::shadow::ByteTable;
use keyway_sed::host::{Credential, Host, HostError};
use keyway_sed::packet::{ComPacket, wrap};
use keyway_sed::password::PasswordHash;
use keyway_sed::transport::{Identity, Interface, SecurityTransport, TransportError};
use keyway_sed::uid::authority;
use std::hash::{DefaultHasher, Hasher};
use std::ops::ControlFlow;
use std::time::Duration;

const COM_ID: u16 = 0x07FE;

struct Liar {
    identity: Identity,
    discovery: Vec<u8>,
    answers: Vec<Vec<u8>>,
    session: (u32, u32),
}

impl SecurityTransport for Liar {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn send(&mut self, protocol: u8, _: u16, data: &[u8]) -> Result<(), TransportError> {
        assert!(data.len().is_multiple_of(512) && data.len() <= 64 << 10);
        if protocol == PROTOCOL_TCG {
            let sent = ComPacket::parse(data).expect("what the host sends can be read");
            let (packet, _) = sent.single().expect("one packet").expect("a message");
            self.session = (packet.tsn, packet.hsn);
        }
        Ok(())
    }

    fn receive(&mut self, protocol: u8, com_id: u16, into: &mut [u8]) -> Result<(), TransportError> {
        assert!(into.len().is_multiple_of(512) && into.len() <= 1 << 20);
        let bytes = if (protocol, com_id) == (PROTOCOL_TCG, DISCOVERY) {
            self.discovery.clone()
        } else {
            let answer = self.answers.pop().ok_or(TransportError::TimedOut)?;
            match answer.split_first() {
                Some((0, rest)) => rest.to_vec(),
                Some((_, rest)) => wrap(com_id, 0, self.session.0, self.session.1, rest).to_vec(),
                None => Vec::new(),
            }
        };
        into.fill(0);
        into.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        Ok(())
    }
}

fn ordinary() -> Vec<u8> {
    let ssc = Ssc { base_com_id: COM_ID, com_ids: 1, admins: 4, users: 9, ..Ssc::default() };
    let locking = LockingFeature { supported: true, enabled: true, ..LockingFeature::default() };
    let features = vec![Feature::Locking(locking), Feature::OpalV2(ssc)];
    Discovery { revision: (0, 1), vendor: [0; 32], features }.write()
}

fn pieces(mut data: &[u8]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::new();
    while let Some((length, rest)) = data.split_first_chunk() {
        let (piece, rest) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
        pieces.push(piece.to_vec());
        data = rest;
    }
    pieces
}

/// Everything that only looks; what fails is left out, and the next is tried.
fn look(host: &mut Host) -> Vec<HostError> {
    let mut errors = Vec::new();
    errors.extend(host.bands().err());
    errors.extend(host.msid().err());
    errors.extend(host.locking_life().err());
    match host.locking(Some(Credential { authority: authority::admin(1), pin: b"pin" })) {
        Err(e) => errors.push(e),
        Ok(mut session) => {
            errors.extend(session.range_limits().err());
            errors.extend(session.range(1).err());
            errors.extend(session.unlockers(1).err());
            errors.extend(session.allow_unlock(1, 2).err());
            errors.extend(session.user(1).err());
            errors.extend(session.tries(authority::user(1)).err());
            errors.extend(session.shadow().err());
            errors.extend(session.new_key(1).err());
            errors.extend(session.table_bytes(ByteTable::DataStore).err());
            errors.extend(
                session
                    .read_table(ByteTable::DataStore, 0, &mut [0; 3000], |_| ControlFlow::Continue(()))
                    .err(),
            );
            errors.extend(session.random(40).err());
            errors.extend(session.end().err());
        }
    }
    errors
}

/// Does what one input says. What came of it, in a number: inputs of another number did something else.
pub(crate) fn one(data: &[u8]) -> u64 {
    let mut answers = pieces(data);
    answers.reverse();
    let discovery = answers.pop().filter(|piece| !piece.is_empty()).unwrap_or_else(ordinary);
    let identity = Identity::new(Interface::Virtual, "liar", "1", "1");
    let Ok(mut host) = Host::open(Box::new(Liar { identity, discovery, answers, session: (0, 0) })) else {
        return 0;
    };
    host.set_patience(Duration::ZERO);
    let errors = look(&mut host);
    let situation = Situation {
        discovery: Some(host.discovery()),
        hash: PasswordHash::Plain,
        factory_pin: false,
        tried: &[],
    };
    let mut seen = DefaultHasher::new();
    for error in errors {
        let told = diagnose(&error, &situation).what;
        assert!(!told.is_empty());
        // Its kind, not the numbers in it.
        for letter in told.bytes().filter(|b| !b.is_ascii_digit()) {
            seen.write_u8(letter);
        }
    }
    seen.finish()
}
