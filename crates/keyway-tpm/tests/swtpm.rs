//! Sealing and unsealing with an emulated TPM 2.0, from another author, on the other end.
#![allow(clippy::panic, clippy::expect_used, reason = "tests")]

use keyway_secret::SecretBytes;
use keyway_testkit::Swtpm;
use keyway_tpm::{Pcrs, SealedObject, Tpm, TpmError, Unfit};

fn open(swtpm: &Swtpm) -> Tpm {
    Tpm::open(&swtpm.address().parse().expect("an address")).expect("a TPM")
}

fn secret() -> SecretBytes {
    SecretBytes::copy_of(b"the secret that a volume is encrypted with")
}

fn pin() -> SecretBytes {
    SecretBytes::copy_of(b"twenty bytes of PIN.")
}

#[test]
fn what_was_sealed_comes_back_even_after_a_restart() {
    let Some(mut swtpm) = Swtpm::start() else { return };
    for authorization in [None, Some(pin())] {
        let object = open(&swtpm).seal(&secret(), authorization.as_ref(), Pcrs::SECURE_BOOT).expect("seals");
        assert!(open(&swtpm).unseal(&object, authorization.as_ref()).expect("unseals").same_as(&secret()));
        swtpm.restart();
        assert!(open(&swtpm).unseal(&object, authorization.as_ref()).expect("unseals").same_as(&secret()));
    }
}

#[test]
fn another_measurement_keeps_the_secret_in() {
    let Some(mut swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let before = tpm.pcr_digest(Pcrs::SECURE_BOOT).expect("digest");
    let object = tpm.seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    tpm.pcr_extend(4, &[1; 32]).expect("extends");
    assert!(tpm.unseal(&object, None).is_ok(), "register 4 is none of its");
    tpm.pcr_extend(7, &[1; 32]).expect("extends");
    assert_ne!(tpm.pcr_digest(Pcrs::SECURE_BOOT).expect("digest"), before);
    for _ in 0..5 {
        let error = tpm.unseal(&object, None).err().expect("refused");
        assert!(matches!(error, TpmError::MeasurementsChanged { pcrs: Pcrs::SECURE_BOOT }), "{error}");
        assert!(error.to_string().contains("PCRs 7, 11"), "{error}");
    }
    drop(tpm);
    swtpm.restart();
    assert!(open(&swtpm).unseal(&object, None).expect("as before").same_as(&secret()));
}

#[test]
fn wrong_pins_are_counted_and_lock_the_tpm_in_the_end() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let object = tpm.seal(&secret(), Some(&pin()), Pcrs::SECURE_BOOT).expect("seals");
    let plain = tpm.seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    let wrong = SecretBytes::copy_of(b"another PIN");
    let limit = tpm.lockout().expect("state").limit;
    assert_eq!(tpm.lockout().expect("state").failures, 0);
    for failures in 1..=limit {
        let error = tpm.unseal(&object, Some(&wrong)).err().expect("refused");
        let TpmError::WrongAuthorization { lockout: Some(lockout) } = error else { panic!("{error}") };
        assert_eq!((lockout.failures, lockout.tries_left()), (failures, limit - failures));
    }
    let error = tpm.unseal(&object, Some(&pin())).err().expect("even the right one");
    assert!(matches!(error, TpmError::LockedOut { lockout: Some(_) }), "{error}");
    assert!(tpm.unseal(&plain, None).expect("nothing to guess here").same_as(&secret()));
}

#[test]
fn a_missing_pin_is_a_wrong_one() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let object = tpm.seal(&secret(), Some(&pin()), Pcrs::SECURE_BOOT).expect("seals");
    let error = tpm.unseal(&object, None).err().expect("refused");
    assert!(matches!(error, TpmError::WrongAuthorization { .. }), "{error}");
}

#[test]
fn another_tpm_is_told_from_a_wrong_pin() {
    let Some(mut swtpm) = Swtpm::start() else { return };
    let object = open(&swtpm).seal(&secret(), Some(&pin()), Pcrs::SECURE_BOOT).expect("seals");
    swtpm.replace();
    let error = open(&swtpm).unseal(&object, Some(&pin())).err().expect("refused");
    assert!(matches!(error, TpmError::NotThisTpm), "{error}");
    assert_eq!(open(&swtpm).lockout().expect("state").failures, 0);
}

#[test]
fn a_changed_object_is_refused() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let object = tpm.seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    let changed = |change: &dyn Fn(&mut SealedObject)| {
        let mut changed = object.clone();
        change(&mut changed);
        changed
    };
    let private = changed(&|o| o.private[40] ^= 1);
    assert!(matches!(tpm.unseal(&private, None), Err(TpmError::NotThisTpm)));
    let cut = changed(&|o| o.private.truncate(30));
    assert!(matches!(tpm.unseal(&cut, None), Err(TpmError::NotThisTpm)));
    let digest = changed(&|o| o.pcr_digest[0] ^= 1);
    assert!(matches!(tpm.unseal(&digest, None), Err(TpmError::Unfit(Unfit::UnknownPolicy))));
    assert!(tpm.unseal(&object, None).is_ok());
}

/// Every register can be named, in more commands than one.
#[test]
fn all_registers_at_once() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let all = Pcrs::from_bitmap(0xFF_FFFF).expect("all");
    let object = tpm.seal(&secret(), None, all).expect("seals");
    assert!(tpm.unseal(&object, None).expect("unseals").same_as(&secret()));
    tpm.pcr_extend(23, &[1; 32]).expect("extends");
    assert!(matches!(tpm.unseal(&object, None), Err(TpmError::MeasurementsChanged { .. })));
}

/// Nothing stays behind: a TPM has room for three objects and three sessions.
#[test]
fn nothing_is_left_in_the_tpm() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    for _ in 0..4 {
        let object = tpm.seal(&secret(), Some(&pin()), Pcrs::SECURE_BOOT).expect("seals");
        assert!(tpm.unseal(&object, Some(&pin())).is_ok());
    }
    let object = tpm.seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    tpm.pcr_extend(11, &[1; 32]).expect("extends");
    for _ in 0..8 {
        assert!(matches!(tpm.unseal(&object, None), Err(TpmError::MeasurementsChanged { .. })));
    }
}

#[test]
fn what_is_too_long_is_refused_before_the_tpm_sees_it() {
    let Some(swtpm) = Swtpm::start() else { return };
    let mut tpm = open(&swtpm);
    let long = SecretBytes::zeroed(129);
    assert!(matches!(
        tpm.seal(&long, None, Pcrs::SECURE_BOOT),
        Err(TpmError::Unfit(Unfit::SecretTooLong { length: 129, limit: 128 }))
    ));
    assert!(matches!(
        tpm.seal(&secret(), Some(&SecretBytes::zeroed(33)), Pcrs::SECURE_BOOT),
        Err(TpmError::Unfit(Unfit::AuthorizationTooLong { .. }))
    ));
    let longest = SecretBytes::copy_of(&[9; 128]);
    let object = tpm.seal(&longest, Some(&SecretBytes::copy_of(&[7; 32])), Pcrs::SECURE_BOOT).expect("seals");
    let unsealed = tpm.unseal(&object, Some(&SecretBytes::copy_of(&[7; 32]))).expect("unseals");
    assert!(unsealed.same_as(&longest));
}

#[test]
fn no_tpm_is_said_to_be_none() {
    let error = Tpm::open(&"swtpm:path=/nowhere/tpm.sock".parse().expect("address")).err().expect("none");
    assert!(matches!(error, TpmError::NoTpm { .. }), "{error}");
}
