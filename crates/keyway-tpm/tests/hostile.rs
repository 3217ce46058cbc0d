//! A wire that is listened to, and one that lies.
#![allow(clippy::panic, clippy::expect_used, clippy::unwrap_used, reason = "tests")]

use keyway_error::{Advice, Explain};
use keyway_secret::SecretBytes;
use keyway_testkit::{Rng, Swtpm};
use keyway_tpm::{LARGEST_MESSAGE, Lockout, Pcrs, SealedObject, Tpm, TpmError, Transport};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};

/// A wire to the emulator on which `tamper` hears everything and may change every answer.
struct Tapped<F> {
    stream: UnixStream,
    tamper: F,
}

impl<F: FnMut(&[u8], &mut Vec<u8>) + Send> Transport for Tapped<F> {
    fn exchange(&mut self, command: &[u8]) -> io::Result<Vec<u8>> {
        self.stream.write_all(command)?;
        let mut header = [0; 6];
        self.stream.read_exact(&mut header)?;
        let length = u32::from_be_bytes(header[2..].try_into().unwrap()) as usize;
        let mut answer = header.to_vec();
        answer.resize(length, 0);
        self.stream.read_exact(&mut answer[6..])?;
        (self.tamper)(command, &mut answer);
        Ok(answer)
    }
}

fn tapped(swtpm: &Swtpm, tamper: impl FnMut(&[u8], &mut Vec<u8>) + Send + 'static) -> Tpm {
    let address = swtpm.address();
    let path = address.strip_prefix("swtpm:path=").expect("a socket");
    Tpm::over(Box::new(Tapped { stream: UnixStream::connect(path).expect("connects"), tamper }))
}

fn secret() -> SecretBytes {
    SecretBytes::copy_of(b"a volume master key of 32 bytes.")
}

fn pin() -> SecretBytes {
    SecretBytes::copy_of(b"twenty bytes of PIN.")
}

fn object(swtpm: &Swtpm) -> SealedObject {
    tapped(swtpm, |_, _| {}).seal(&secret(), Some(&pin()), Pcrs::SECURE_BOOT).expect("seals")
}

/// The command code of a command.
fn code(command: &[u8]) -> u32 {
    u32::from_be_bytes(command[6..10].try_into().unwrap())
}
const UNSEAL: u32 = 0x15E;

fn contains_any_part(heap: &[u8], needle: &[u8]) -> bool {
    needle.windows(6).any(|part| heap.windows(6).any(|window| window == part))
}

#[test]
fn who_listens_hears_neither_the_secret_nor_the_pin() {
    let Some(swtpm) = Swtpm::start() else { return };
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    let mut tpm = tapped(&swtpm, move |command, answer| {
        let mut heard = ear.lock().unwrap();
        heard.extend_from_slice(command);
        heard.extend_from_slice(answer);
    });
    let object = tpm.seal(&secret(), Some(&pin()), Pcrs::SECURE_BOOT).expect("seals");
    let unsealed = tpm.unseal(&object, Some(&pin())).expect("unseals");
    assert!(unsealed.same_as(&secret()));
    let heard = heard.lock().unwrap();
    assert!(contains_any_part(&heard, &object.public), "the tap works");
    assert!(!contains_any_part(&heard, &secret()));
    assert!(!contains_any_part(&heard, &pin()));
}

#[test]
fn a_changed_answer_to_unseal_is_noticed() {
    let Some(swtpm) = Swtpm::start() else { return };
    let object = object(&swtpm);
    // The first byte of the encrypted secret: after header, parameters' length and its own.
    let mut tpm = tapped(&swtpm, |command, answer| {
        // The first use of a guarded object may be put off with an answer of a header only.
        if code(command) == UNSEAL && answer.len() > 10 {
            answer[10 + 4 + 2] ^= 1;
        }
    });
    let error = tpm.unseal(&object, Some(&pin())).err().expect("refused");
    assert!(matches!(error, TpmError::NotAuthentic { command: "TPM2_Unseal" }), "{error}");
}

/// Whatever bit of whatever answer is wrong: no panic, and never another secret.
#[test]
fn answers_with_wrong_bytes_give_errors_and_nothing_else() {
    let Some(swtpm) = Swtpm::start() else { return };
    // Without a PIN: a command spoilt by a wrong answer would count as a wrong one.
    let object = tapped(&swtpm, |_, _| {}).seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    let mut rng = Rng::new(0x7043);
    let mut refused = 0;
    for _ in 0..100 {
        let (victim, place, how) = (rng.below(8), rng.next_u64(), rng.below(4));
        let mut answers = 0;
        let mut tpm = tapped(&swtpm, move |_, answer| {
            if answers == victim {
                let place = (place % answer.len() as u64) as usize;
                match how {
                    0 => answer.truncate(place),
                    1 => answer.extend_from_slice(&[0; 3]),
                    _ => answer[place] ^= 1 << (place % 8),
                }
            }
            answers += 1;
        });
        match tpm.unseal(&object, None) {
            Ok(unsealed) => assert!(unsealed.same_as(&secret())),
            Err(_) => refused += 1,
        }
        // What a changed handle made us forget is thrown out here, as the kernel would do; the
        // emulator serves one connection at a time.
        drop(tpm);
        flush_all(&swtpm);
    }
    assert!(refused > 30, "{refused}");
}

/// Throws every transient object and session out of the TPM.
fn flush_all(swtpm: &Swtpm) {
    let address = swtpm.address();
    let mut stream = Tapped {
        stream: UnixStream::connect(address.strip_prefix("swtpm:path=").unwrap()).unwrap(),
        tamper: |_: &[u8], _: &mut Vec<u8>| {},
    };
    let handles = (0..3).map(|n| 0x8000_0000 + n).chain((0..3).map(|n| 0x0200_0000 + n));
    for handle in handles.chain((0..3).map(|n| 0x0300_0000u32 + n)) {
        let mut flush = vec![0x80, 0x01, 0, 0, 0, 14, 0, 0, 0x01, 0x65];
        flush.extend_from_slice(&handle.to_be_bytes());
        stream.exchange(&flush).expect("answers");
    }
}

/// A TPM that says what it was told to, with the right length in its header.
struct Liar(VecDeque<Vec<u8>>);

impl Transport for Liar {
    fn exchange(&mut self, _: &[u8]) -> io::Result<Vec<u8>> {
        self.0.pop_front().ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

fn lying(bodies: Vec<(bool, Vec<u8>)>) -> Tpm {
    let answers = bodies.into_iter().map(|(sessions, body)| {
        let mut answer = vec![0x80, 1 + u8::from(sessions)];
        answer.extend_from_slice(&(10 + body.len() as u32).to_be_bytes());
        answer.extend_from_slice(&[0; 4]);
        answer.extend_from_slice(&body);
        answer
    });
    Tpm::over(Box::new(Liar(answers.collect())))
}

proptest! {
    #[test]
    fn arbitrary_answers_never_panic(bodies in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u8>(), 0..200)), 0..4)) {
        let object = SealedObject {
            private: vec![1; 30],
            public: vec![0, 8, 0, 11],
            pcrs: Pcrs::SECURE_BOOT,
            pcr_digest: [0; 32],
        };
        prop_assert!(lying(bodies.clone()).unseal(&object, None).is_err());
        prop_assert!(lying(bodies.clone()).seal(&secret(), None, Pcrs::SECURE_BOOT).is_err());
        let _ = lying(bodies.clone()).lockout();
        let _ = lying(bodies).pcr_digest(Pcrs::SECURE_BOOT);
    }
}

#[test]
fn counts_and_lengths_that_lie_are_refused() {
    // PCR_Read: 2^32 - 1 banks; one bank with 255 bytes of bits; 2^32 - 1 values.
    let banks = [&[0; 4][..], &[0xFF; 4]].concat();
    let bits = [&[0; 4][..], &[0, 0, 0, 1, 0, 11, 255]].concat();
    let values = [&[0; 4][..], &[0, 0, 0, 1, 0, 11, 3, 0x80, 8, 0], &[0xFF; 4]].concat();
    // Registers that nobody asked for, and none at all.
    let others = [&[0; 4][..], &[0, 0, 0, 1, 0, 11, 3, 1, 0, 0, 0, 0, 0, 1, 0, 32], &[0; 32]].concat();
    let none = [&[0; 4][..], &[0; 8]].concat();
    for body in [banks, bits, values, others, none] {
        assert!(lying(vec![(false, body)]).pcr_digest(Pcrs::SECURE_BOOT).is_err());
    }
    let long = Tpm::over(Box::new(Liar(vec![vec![0x80; LARGEST_MESSAGE + 1]].into()))).lockout();
    assert!(matches!(long, Err(TpmError::BadResponse { .. })));
}

/// The header of a TPM 1.2's answer begins with 0x00C4.
#[test]
fn a_tpm_1_2_is_named() {
    let answer = vec![0x00, 0xC4, 0, 0, 0, 10, 0, 0, 0, 0x1E];
    let error = Tpm::over(Box::new(Liar(vec![answer].into()))).lockout().expect_err("refused");
    assert_eq!(error.advice(), [Advice::NeedTpm2], "{error}");
}

#[test]
fn a_lockout_never_counts_below_zero() {
    let lockout = Lockout {
        failures: 9,
        limit: 3,
        forgets_one_after: std::time::Duration::ZERO,
        recovers_after: std::time::Duration::ZERO,
    };
    assert_eq!(lockout.tries_left(), 0);
}
