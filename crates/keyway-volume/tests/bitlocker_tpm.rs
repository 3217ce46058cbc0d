//! BitLocker's protectors with a TPM, made and opened with an emulated one.
#![allow(clippy::panic, clippy::expect_used, reason = "tests")]

use keyway_error::{Advice, Explain, Fault, Kind};
use keyway_secret::SecretBytes;
use keyway_testkit::Swtpm;
use keyway_tpm::{Pcrs, Tpm, TpmError};
use keyway_volume::bitlocker::tpm::{
    Pin, TpmProtected, TpmProtection, TpmProtectorError, TpmSecrets, protect, unseal, unseal_any,
};
use keyway_volume::bitlocker::{
    Entries, Entry, Nonce, Protection, SecretKey, StartupKey, Value, codes::role,
};
use std::sync::atomic::AtomicBool;

static NEVER: AtomicBool = AtomicBool::new(false);

fn open(swtpm: &Swtpm) -> Tpm {
    Tpm::open(&swtpm.address().parse().expect("an address")).expect("a TPM")
}

fn master() -> SecretKey {
    SecretKey::master(SecretBytes::copy_of(b"a volume master key of 32 bytes."))
}

fn pin(text: &str) -> Pin {
    Pin::new_to_set(text.as_bytes()).expect("a PIN")
}

fn make(tpm: &mut Tpm, pin: Option<&Pin>, startup_key: bool) -> TpmProtected {
    let mut counter = 7;
    let next_nonce = || {
        counter += 1;
        Nonce { time: 0x01d9_3bb9_18b0_d190, counter }
    };
    let wanted = TpmProtection { pcrs: Pcrs::SECURE_BOOT, pin, startup_key, name: None };
    let made = protect(tpm, &master(), &wanted, next_nonce).expect("makes one");
    assert_eq!(made.startup_key.is_some(), startup_key);
    made
}

fn with<'a>(pin: Option<&'a Pin>, startup_keys: &'a [StartupKey]) -> TpmSecrets<'a> {
    TpmSecrets { pin, startup_keys, stop: &NEVER }
}

/// All four kinds: the PIN, whether there is a startup key, the protection.
fn kinds() -> [(Option<Pin>, bool, Protection); 4] {
    [
        (None, false, Protection::Tpm),
        (None, true, Protection::TpmStartupKey),
        (Some(pin("87654321")), false, Protection::TpmPin),
        (Some(pin("87654321")), true, Protection::TpmPinStartupKey),
    ]
}

/// The volume's entries as they are read back from the medium.
fn on_medium(made: &TpmProtected) -> Entries {
    let entry = Entry::new(role::PROTECTOR, Value::Protector(made.protector.clone()));
    let mut bytes = Vec::new();
    entry.write(&mut bytes).expect("short");
    Entries::parse(&bytes)
}

#[test]
fn each_kind_opens_again_after_a_restart() {
    let Some(mut swtpm) = Swtpm::start() else { return };
    for (pin, startup_key, protection) in kinds() {
        let made = make(&mut open(&swtpm), pin.as_ref(), startup_key);
        assert_eq!(made.protector.protection, protection);
        let entries = on_medium(&made);
        swtpm.restart();
        let keys: Vec<_> = made.startup_key.into_iter().collect();
        let (opened, by) =
            unseal_any(&entries, None, &mut open(&swtpm), &with(pin.as_ref(), &keys)).expect("opens");
        assert!(opened.bytes.same_as(&master().bytes), "{protection:?}");
        assert_eq!(by, made.protector.id);
    }
}

/// The kinds, lengths, algorithms and flags of a protector's entries.
fn shape(entries: &Entries) -> Vec<(u16, usize, u16, u16)> {
    entries
        .list
        .iter()
        .map(|entry| {
            let mut bytes = Vec::new();
            entry.write(&mut bytes).expect("short");
            let (algorithm, flags) = match &entry.value {
                Value::StretchKey(key) => (key.algorithm, key.flags),
                Value::UseKey(key) => (key.algorithm, key.flags),
                _ => (0, 0),
            };
            assert_eq!((entry.role, entry.flags), (0, 1));
            (entry.value.kind(), bytes.len(), algorithm, flags)
        })
        .collect()
}

/// Against the metadata of volumes that Windows 10 protected with this emulator (TPM; TPM and PIN)
/// and with a chip (the others), published with the tool SPITkey: same entries in the same order,
/// of the same lengths. A blob made by a chip is 32 bytes shorter than one made by the emulator.
#[test]
fn the_entries_are_those_that_windows_writes() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let start = [(0x03, 0x6c, 0x2004, 0x10), (0x10, 0x0c, 0, 0), (0x12, 0x1c, 0, 0)];
    let middle = [(0x11, 0x0c, 0, 0), (0x13, 0x0c, 0, 0)];
    let (used, sealed) = ((0x04, 0x5c, 0x2002, 0), (0x05, 0x50, 0, 0));
    let windows: [Vec<(u16, usize, u16, u16)>; 4] = [
        vec![(0x06, 0x12e, 0, 0)],
        vec![(0x06, 0x10e + 32, 0, 0), used, sealed],
        [&start[..], &[(0x06, 0x152, 0, 0)], &middle, &[sealed]].concat(),
        [&start[..], &[(0x06, 0x146 + 12, 0, 0)], &middle, &[used, sealed]].concat(),
    ];
    for ((pin, startup_key, protection), windows) in kinds().into_iter().zip(windows) {
        let made = make(&mut tpm, pin.as_ref(), startup_key);
        assert_eq!(shape(&made.protector.entries), windows, "{protection:?}");
        assert_eq!(made.protector.flags, 0);
        if let Some(key) = made.startup_key {
            assert_eq!(key.id, made.protector.id);
        }
    }
}

#[test]
fn an_enhanced_pin_is_flagged() {
    let Some(swtpm) = Swtpm::start() else { return };
    let pin = pin("correct horse");
    let made = make(&mut open(&swtpm), Some(&pin), false);
    assert_eq!(made.protector.entries.stretch_key().expect("a salt").flags, 0x14);
    let opened = unseal(&made.protector, &mut open(&swtpm), &with(Some(&pin), &[])).expect("opens");
    assert!(opened.bytes.same_as(&master().bytes));
}

#[test]
fn a_wrong_pin_costs_a_try_and_a_missing_one_does_not() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let (right, wrong) = (pin("87654321"), pin("87654320"));
    let made = make(&mut tpm, Some(&right), true);
    let keys: Vec<_> = made.startup_key.into_iter().collect();
    let protector = &made.protector;
    let failures = |tpm: &mut Tpm| tpm.lockout().expect("state").failures;

    let error = unseal(protector, &mut tpm, &with(None, &keys)).err().expect("refused");
    assert!(matches!(error, TpmProtectorError::NeedsPin), "{error}");
    let error = unseal(protector, &mut tpm, &with(Some(&right), &[])).err().expect("refused");
    assert!(matches!(error, TpmProtectorError::NeedsStartupKey(id) if id == protector.id), "{error}");
    assert_eq!(error.fault(), Fault::Request);
    let other = [StartupKey::random().expect("random")];
    let error = unseal(protector, &mut tpm, &with(Some(&right), &other)).err().expect("refused");
    assert!(matches!(error, TpmProtectorError::OtherStartupKey(id) if id == protector.id), "{error}");
    assert_eq!(failures(&mut tpm), 0);

    let error = unseal(protector, &mut tpm, &with(Some(&wrong), &keys)).err().expect("refused");
    let TpmProtectorError::Tpm(TpmError::WrongAuthorization { lockout: Some(lockout) }) = &error else {
        panic!("{error}")
    };
    assert_eq!((error.fault(), lockout.failures), (Fault::Secret, 1));
    assert_eq!(error.advice(), [Advice::CheckPin, Advice::TriesLeft { tries: lockout.tries_left() }]);
    assert_eq!(failures(&mut tpm), 1);

    let damaged = [StartupKey {
        key: SecretKey { bytes: SecretBytes::copy_of(&[1; 32]), ..StartupKey::random().expect("random").key },
        id: protector.id,
        ..StartupKey::random().expect("random")
    }];
    let error = unseal(protector, &mut tpm, &with(Some(&right), &damaged)).err().expect("refused");
    assert!(matches!(error, TpmProtectorError::WrongStartupKey(id) if id == protector.id), "{error}");
    assert_eq!(error.fault(), Fault::Secret);
}

#[test]
fn wrong_pins_lock_it() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let right = pin("87654321");
    let made = make(&mut tpm, Some(&right), false);
    for _ in 0..tpm.lockout().expect("state").limit {
        assert!(unseal(&made.protector, &mut tpm, &with(Some(&pin("0000")), &[])).is_err());
    }
    let error = unseal(&made.protector, &mut tpm, &with(Some(&right), &[])).err().expect("locked");
    assert!(matches!(error, TpmProtectorError::Tpm(TpmError::LockedOut { .. })), "{error}");
    assert_eq!((error.kind(), error.fault()), (Kind::TpmLocked, Fault::Machine));
}

#[test]
fn changed_measurements_and_a_cleared_tpm_are_told_apart() {
    let Some(mut swtpm) = Swtpm::start() else { return };
    let made = make(&mut open(&swtpm), None, false);
    open(&swtpm).pcr_extend(11, &[1; 32]).expect("extends");
    let error = unseal(&made.protector, &mut open(&swtpm), &with(None, &[])).err().expect("refused");
    assert!(matches!(error, TpmProtectorError::Tpm(TpmError::MeasurementsChanged { .. })), "{error}");
    assert_eq!((error.kind(), error.fault()), (Kind::MeasurementsChanged, Fault::Machine));
    swtpm.replace();
    let error = unseal(&made.protector, &mut open(&swtpm), &with(None, &[])).err().expect("refused");
    assert!(matches!(error, TpmProtectorError::Tpm(TpmError::NotThisTpm)), "{error}");
    assert_eq!((error.kind(), error.fault()), (Kind::OtherTpm, Fault::Machine));
}

/// Whatever byte of the protector is wrong: an error, never another key, and no panic.
#[test]
fn a_damaged_protector_gives_an_error() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let made = make(&mut tpm, None, true);
    let mut bytes = Vec::new();
    Entry::new(role::PROTECTOR, Value::Protector(made.protector.clone())).write(&mut bytes).expect("short");
    let keys: Vec<_> = made.startup_key.into_iter().collect();
    let mut refused = 0;
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x41;
        match unseal_any(&Entries::parse(&damaged), None, &mut tpm, &with(None, &keys)) {
            // A time, or the kept copy of the startup key, that nothing is opened with.
            Ok((key, _)) => assert!(key.bytes.same_as(&master().bytes), "{at}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 40, "{refused}");
}

#[test]
fn other_protectors_are_passed_over() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let made = make(&mut tpm, None, false);
    let mut other = made.protector.clone();
    other.protection = Protection::Password;
    let entries = |protectors: &[_]| Entries {
        list: protectors
            .iter()
            .map(|p: &keyway_volume::bitlocker::Protector| {
                Entry::new(role::PROTECTOR, Value::Protector(p.clone()))
            })
            .collect(),
        rest: Vec::new(),
    };
    let both = entries(&[other.clone(), made.protector.clone()]);
    assert!(unseal_any(&both, None, &mut tpm, &with(None, &[])).is_ok());
    let error = unseal_any(&entries(&[other.clone()]), None, &mut tpm, &with(None, &[])).err();
    assert!(matches!(error, Some(TpmProtectorError::NoProtector)));
    let error = unseal(&other, &mut tpm, &with(None, &[])).err();
    assert!(matches!(error, Some(TpmProtectorError::OtherKind(..))));
}
