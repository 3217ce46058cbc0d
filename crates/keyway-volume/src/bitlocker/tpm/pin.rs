//! A PIN: what Windows takes for one, and what is made of it.

use keyway_secret::{SecretBytes, wipe_stack};
use sha2::{Digest, Sha256};
use std::sync::atomic::AtomicBool;
use zeroize::Zeroize;

/// Characters of the shortest PIN (Microsoft, *BitLocker policy settings*: "minimum PIN length for
/// startup" can be set to 4 and more).
pub(crate) const SHORTEST_PIN: usize = 4;
/// Characters of the longest PIN (there).
pub(crate) const LONGEST_PIN: usize = 20;

/// Bytes of a SHA-256.
const HASH: usize = 32;
/// Bytes of the authorization value: those of a SHA-1, which is what a TPM 1.2 takes.
const AUTHORIZATION: usize = 20;

/// A PIN that can't be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PinFault {
    /// Too short or too long.
    #[error("a PIN has {SHORTEST_PIN} to {LONGEST_PIN} characters, and this one has {0}")]
    Length(usize),
    /// Characters that the prompt before Windows starts does not know.
    #[error("a PIN has only digits, or letters and signs of the US keyboard")]
    Characters,
    /// It isn't text.
    #[error("the PIN is not UTF-8 text")]
    NotUtf8,
}

/// A PIN, hashed.
pub struct Pin {
    /// SHA-256 of its UTF-16LE.
    once: SecretBytes,
    only_digits: bool,
}

impl Pin {
    /// A PIN in UTF-8, of any length and with any characters: one that was set somewhere else.
    ///
    /// # Errors
    /// [`PinFault::NotUtf8`].
    pub fn new(pin: &[u8]) -> Result<Self, PinFault> {
        let text = std::str::from_utf8(pin).map_err(|_| PinFault::NotUtf8)?;
        let mut utf16 = SecretBytes::zeroed(text.encode_utf16().count() * 2);
        for (slot, mut unit) in utf16.chunks_exact_mut(2).zip(text.encode_utf16()) {
            slot.copy_from_slice(&unit.to_le_bytes());
            unit.zeroize();
        }
        Ok(Self { once: sha256(&[&utf16]), only_digits: text.bytes().all(|byte| byte.is_ascii_digit()) })
    }

    /// A PIN in UTF-8 that is to be set, and that the prompt before Windows starts takes.
    pub fn new_to_set(pin: &[u8]) -> Result<Self, PinFault> {
        let text = std::str::from_utf8(pin).map_err(|_| PinFault::NotUtf8)?;
        let length = text.chars().count();
        if !(SHORTEST_PIN..=LONGEST_PIN).contains(&length) {
            return Err(PinFault::Length(length));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            return Err(PinFault::Characters);
        }
        Self::new(pin)
    }

    /// Whether it has only digits; the others are "enhanced PINs".
    pub(crate) fn only_digits(&self) -> bool {
        self.only_digits
    }

    /// What a protector keeps, sealed with the volume master key.
    pub(super) fn kept(&self) -> SecretBytes {
        SecretBytes::copy_of(&self.once)
    }

    /// The key that a protector's salt makes of it; takes a good part of a second. `None` when
    /// `stop` was set.
    pub(super) fn stretch(&self, salt: &[u8; 16], stop: &AtomicBool) -> Option<StretchedPin> {
        let twice = sha256(&[&self.once]);
        keyway_kdf::bitlocker_stretch(twice.first_chunk()?, salt, stop).map(StretchedPin)
    }
}

/// A PIN stretched with a protector's salt.
pub(super) struct StretchedPin(pub(super) SecretBytes);

impl StretchedPin {
    /// What the TPM wants before it unseals. `label` is that of the protector's concat hash key.
    pub(super) fn authorization(&self, label: &[u8]) -> SecretBytes {
        let mut value = sha256(&[&sha256(&[&self.0, label])]);
        value.truncate(AUTHORIZATION);
        value
    }
}

fn sha256(parts: &[&[u8]]) -> SecretBytes {
    let mut hash = Sha256::new();
    parts.iter().for_each(|part| hash.update(part));
    let digest = SecretBytes::take(hash.finalize().as_mut_slice());
    debug_assert_eq!(digest.len(), HASH);
    wipe_stack();
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_testkit::hex;

    const LABEL: &[u8] = b"BitLockerAuthData\0\0\0";

    fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        let block = |mask| {
            let mut block = [mask; 64];
            block.iter_mut().zip(key).for_each(|(b, k)| *b ^= k);
            block
        };
        let (inner, outer) = (block(0x36), block(0x5c));
        let inner = sha256(&[&[&inner[..]], parts].concat());
        sha256(&[&outer, &inner]).to_vec()
    }

    /// The trace of a machine that was started with its PIN, published by G. Quéré: the MACs of
    /// `TPM2_Unseal` and of its answer are made with the authorization value alone.
    #[test]
    fn the_authorization_value_makes_the_macs_of_a_real_machine() {
        let pin = Pin::new(b"67851922").expect("text");
        let salt = hex("c36496f98842c6fd9841de2ea743d5cf").try_into().expect("16 bytes");
        let stretched = pin.stretch(&salt, &AtomicBool::new(false)).expect("not stopped");
        assert_eq!(stretched.0[..], hex("112a35c30dca7f30306d6a55e05d93719c7db79345520d6c7116c16e29616db2"));

        let authorization = stretched.authorization(LABEL);
        let name = hex("000b05323fd305d43227d94b4fb532b2b005d95b7d84edfaf6968967f517fc8a908c");
        let unseal = hex("0000015e");
        let caller = hex("435c827500ddba5a81e42c872a18b56ec513b3f60123985dd2d68fcfce966fcb");
        let before = hex("70debb380052081fb600b66ab9ae476574a4f917388159877ff5d626cd1cdcd2");
        let command = sha256(&[&unseal, &name]);
        assert_eq!(
            hmac(&authorization, &[&command, &caller, &before, &[0]]),
            hex("c0dc830cd87e91c65fa28927b4e59008c14a96f318f083e99e4c2c245410768e")
        );

        let unsealed = hex("5000000005000000000a26106234dc0134000000124712a6f976ed48dba49ba1e58744a9\
             46c07032f2781aebd065fcc19d6d118353c6e6738d94fdb0ebe8b13d91a58ae384b6c0604a60c5a70272958d");
        let after = hex("6b4732057e71f3b57ebc38ee669aa1237ddf9213397c8e6c53e77875f2583708");
        let answer = sha256(&[&[0; 4], &unseal, &[0, 0x50], &unsealed]);
        assert_eq!(
            hmac(&authorization, &[&answer, &after, &caller, &[0]]),
            hex("0ffb1578cead636447 5c14614368a85947746716 3617bc3ec7928872ac179865")
        );
    }

    #[test]
    fn only_pins_that_can_be_typed_before_windows_starts_are_set() {
        let fault = |pin: &str| Pin::new_to_set(pin.as_bytes()).err();
        assert_eq!(fault("123"), Some(PinFault::Length(3)));
        assert_eq!(fault("123456789012345678901"), Some(PinFault::Length(21)));
        assert_eq!(fault("1234ä"), Some(PinFault::Characters));
        assert_eq!(Pin::new_to_set(b"\xff234").err(), Some(PinFault::NotUtf8));
        assert!(Pin::new_to_set(b"12345678901234567890").is_ok_and(|pin| pin.only_digits()));
        assert!(Pin::new_to_set(b"pass phrase").is_ok_and(|pin| !pin.only_digits()));
    }
}
