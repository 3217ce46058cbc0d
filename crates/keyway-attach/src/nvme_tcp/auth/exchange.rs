//! The state of one queue's authentication.

use super::Credentials;
use super::message::{self, Failure, FromHost};
use super::secret::{Challenge, HASH, Side};
use std::sync::Arc;

/// What is due.
enum Step {
    /// The host's first message, also of another exchange after one that went well.
    Negotiate,
    /// It fetches the challenge.
    Challenge(Asked),
    /// Its reply.
    Reply(Asked),
    /// It fetches the result, with this side's proof where it asked for one.
    Success { transaction: u16, response: Option<Vec<u8>> },
    /// Its word on that proof.
    Success2(u16),
    /// It fetches why it failed.
    Failure { transaction: u16, why: Failure },
    /// Nothing more: the connection ends.
    Over,
}

/// A challenge that waits for its response.
struct Asked {
    transaction: u16,
    sequence: u32,
    value: [u8; HASH],
}

/// The authentication of a host on one queue.
pub(in crate::nvme_tcp) struct Exchange {
    credentials: Arc<Credentials>,
    host: Vec<u8>,
    subsystem: Arc<str>,
    step: Step,
    proved: bool,
}

impl Exchange {
    /// Of the host of that name, to the subsystem of that one.
    pub(in crate::nvme_tcp) fn new(credentials: Arc<Credentials>, host: &[u8], subsystem: Arc<str>) -> Self {
        Self { credentials, host: host.to_vec(), subsystem, step: Step::Negotiate, proved: false }
    }

    /// Whether the host has proved itself.
    pub(in crate::nvme_tcp) const fn has_proved(&self) -> bool {
        self.proved
    }

    /// Whether the connection must end: the host has failed, and has been told.
    pub(in crate::nvme_tcp) const fn is_over(&self) -> bool {
        matches!(self.step, Step::Over)
    }

    /// It did something else than prove itself.
    pub(in crate::nvme_tcp) fn give_up(&mut self) {
        self.proved = false;
        self.step = Step::Over;
    }

    /// Takes a message of the host's. What is wrong with it is the next thing that it fetches.
    pub(in crate::nvme_tcp) fn take(&mut self, bytes: &[u8]) {
        let parsed = FromHost::parse(bytes);
        let transaction = match &parsed {
            Ok(FromHost::Negotiate { transaction }) => *transaction,
            _ => self.transaction(),
        };
        let next = parsed.and_then(|message| self.next(&message));
        self.step = next.unwrap_or_else(|why| {
            self.proved = false;
            Step::Failure { transaction, why }
        });
    }

    fn next(&mut self, message: &FromHost<'_>) -> Result<Step, Failure> {
        match (&self.step, message) {
            (Step::Negotiate, FromHost::Negotiate { transaction }) => {
                let mut random = [0; HASH + 4];
                getrandom::fill(&mut random).map_err(|_| Failure::Failed)?;
                let (sequence, value) = random.split_first_chunk().ok_or(Failure::Failed)?;
                let mut asked = Asked {
                    transaction: *transaction,
                    sequence: u32::from_le_bytes(*sequence),
                    value: [0; HASH],
                };
                asked.value.copy_from_slice(value);
                // 0 is "no challenge" (Base 2.0, 8.13.5.3).
                asked.sequence = asked.sequence.max(1);
                Ok(Step::Challenge(asked))
            }
            (Step::Reply(asked), FromHost::Reply { transaction, response, challenge })
                if asked.transaction == *transaction =>
            {
                let ours =
                    Challenge { value: &asked.value, sequence: asked.sequence, transaction: *transaction };
                let subsystem = self.subsystem.as_bytes();
                let due = self.credentials.host.response(&ours, Side::host(&self.host), subsystem);
                if !due.same_as(response) {
                    return Err(Failure::Failed);
                }
                let response = match challenge {
                    None => None,
                    Some((value, sequence)) => {
                        let theirs = Challenge { value, sequence: *sequence, transaction: *transaction };
                        let secret = self.credentials.controller.as_ref().ok_or(Failure::Failed)?;
                        let side = Side::controller(subsystem);
                        Some(secret.response(&theirs, side, &self.host).to_vec())
                    }
                };
                Ok(Step::Success { transaction: *transaction, response })
            }
            (Step::Success2(due), FromHost::Success { transaction }) if due == transaction => {
                Ok(Step::Negotiate)
            }
            (_, FromHost::Failure) => {
                self.proved = false;
                Ok(Step::Over)
            }
            _ => Err(Failure::Message),
        }
    }

    const fn transaction(&self) -> u16 {
        match &self.step {
            Step::Challenge(asked) | Step::Reply(asked) => asked.transaction,
            Step::Success { transaction, .. }
            | Step::Success2(transaction)
            | Step::Failure { transaction, .. } => *transaction,
            Step::Negotiate | Step::Over => 0,
        }
    }

    /// What the host is told next; none where it is its turn.
    pub(in crate::nvme_tcp) fn tell(&mut self) -> Option<Vec<u8>> {
        let (bytes, next) = match std::mem::replace(&mut self.step, Step::Over) {
            Step::Challenge(asked) => {
                (message::challenge(asked.transaction, &asked.value, asked.sequence), Step::Reply(asked))
            }
            Step::Success { transaction, response } => {
                self.proved = true;
                let next = if response.is_some() { Step::Success2(transaction) } else { Step::Negotiate };
                (message::success(transaction, response.as_deref()), next)
            }
            Step::Failure { transaction, why } => (message::failure(transaction, why), Step::Over),
            other => {
                self.step = other;
                return None;
            }
        };
        self.step = next;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AuthSecret;
    use super::super::secret::tests::written;
    use super::*;

    const HOST: &[u8] = b"nqn.2014-08.org.nvmexpress:uuid:host";
    const SUBSYSTEM: &str = "nqn.2026-11.keyway:drive";

    fn secret(fill: u8) -> AuthSecret {
        AuthSecret::parse(written(1, &[fill; 32]).as_bytes()).expect("valid")
    }

    fn exchange(controller: Option<u8>) -> Exchange {
        let credentials = Credentials { host: secret(1), controller: controller.map(secret) };
        Exchange::new(Arc::new(credentials), HOST, SUBSYSTEM.into())
    }

    fn negotiation() -> Vec<u8> {
        // As Linux sends it: transaction 5, one descriptor, three hashes, six groups.
        let mut bytes = vec![0, 0, 0, 0, 5, 0, 0, 1, 1, 0, 3, 6, 1, 2, 3];
        bytes.resize(8 + 34, 0);
        bytes.extend_from_slice(&[0, 1, 2, 3, 4, 5]);
        bytes.resize(8 + 64, 0);
        bytes
    }

    /// The host's reply to a challenge as it was told, with a challenge of its own or none.
    fn reply(told: &[u8], secret: &AuthSecret, own: Option<u8>) -> Vec<u8> {
        assert_eq!(told[..12], [1, 1, 0, 0, 5, 0, 32, 0, 1, 0, 0, 0]);
        let sequence = u32::from_le_bytes(told[12..16].try_into().expect("four"));
        let challenge = Challenge { value: &told[16..48], sequence, transaction: 5 };
        let response = secret.response(&challenge, Side::host(HOST), SUBSYSTEM.as_bytes());
        let mut bytes = vec![1, 2, 0, 0, 5, 0, 32, 0, u8::from(own.is_some()), 0, 0, 0, 77, 0, 0, 0];
        bytes.extend_from_slice(&response);
        bytes.extend_from_slice(&[own.unwrap_or(0); 32]);
        bytes
    }

    fn failed(exchange: &mut Exchange, why: Failure) {
        assert!(!exchange.has_proved() && !exchange.is_over());
        let told = exchange.tell().expect("why");
        assert_eq!((&told[..2], &told[6..]), (&[0, 0xf1][..], &[1, why as u8][..]));
        assert!(exchange.is_over() && !exchange.has_proved() && exchange.tell().is_none());
    }

    #[test]
    fn who_knows_the_secret_is_let_in_and_may_prove_it_again() {
        let mut exchange = exchange(None);
        for _ in 0..2 {
            exchange.take(&negotiation());
            let told = exchange.tell().expect("a challenge");
            assert!(exchange.tell().is_none(), "it is the host's turn");
            exchange.take(&reply(&told, &secret(1), None));
            let told = exchange.tell().expect("the result");
            assert_eq!(told, [1, 3, 0, 0, 5, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
            assert!(exchange.has_proved() && !exchange.is_over());
        }
    }

    #[test]
    fn the_controller_proves_itself_where_it_is_asked_to() {
        let mut ours = exchange(Some(2));
        ours.take(&negotiation());
        let told = ours.tell().expect("a challenge");
        ours.take(&reply(&told, &secret(1), Some(9)));
        let told = ours.tell().expect("the result");
        assert_eq!((told[8], told.len()), (1, 16 + 32));
        let challenge = Challenge { value: &[9; 32], sequence: 77, transaction: 5 };
        let due = secret(2).response(&challenge, Side::controller(SUBSYSTEM.as_bytes()), HOST);
        assert!(due.same_as(&told[16..]));
        ours.take(&[1, 4, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert!(ours.has_proved() && ours.tell().is_none());
        // A host that does not believe it says so.
        ours.take(&[0, 0xf0, 0, 0, 5, 0, 1, 1]);
        assert!(ours.is_over() && !ours.has_proved());

        let mut without = exchange(None);
        without.take(&negotiation());
        let told = without.tell().expect("a challenge");
        without.take(&reply(&told, &secret(1), Some(9)));
        failed(&mut without, Failure::Failed);
    }

    #[test]
    fn nothing_else_is() {
        let mut wrong = exchange(None);
        wrong.take(&negotiation());
        let told = wrong.tell().expect("a challenge");
        wrong.take(&reply(&told, &secret(2), None));
        failed(&mut wrong, Failure::Failed);

        // The reply of another exchange.
        let mut replayed = exchange(None);
        replayed.take(&negotiation());
        replayed.tell().expect("a challenge");
        replayed.take(&reply(&told, &secret(1), None));
        failed(&mut replayed, Failure::Failed);

        let cut = |message: &[u8], at: usize, value: u8| {
            let mut bytes = message.to_vec();
            bytes[at] = value;
            bytes
        };
        let reply_of = |at: usize, value: u8| {
            let mut exchange = exchange(None);
            exchange.take(&negotiation());
            let told = exchange.tell().expect("a challenge");
            exchange.take(&cut(&reply(&told, &secret(1), None), at, value));
            exchange
        };
        failed(&mut reply_of(4, 6), Failure::Message);
        failed(&mut reply_of(6, 31), Failure::Payload);
        failed(&mut reply_of(10, 1), Failure::Payload);
        for (at, value, why) in [
            (1, 9, Failure::Message),
            (6, 1, Failure::SecureChannel),
            (7, 0, Failure::NotUsable),
            (8, 7, Failure::NotUsable),
            (12, 9, Failure::Hash),
            (42, 9, Failure::Group),
        ] {
            let mut exchange = exchange(None);
            exchange.take(&cut(&negotiation(), at, value));
            failed(&mut exchange, why);
        }
        let mut early = exchange(None);
        early.take(&[1, 4, 0, 0, 5, 0, 0, 0]);
        failed(&mut early, Failure::Message);
        let mut short = exchange(None);
        short.take(&[1]);
        failed(&mut short, Failure::Payload);
    }
}
