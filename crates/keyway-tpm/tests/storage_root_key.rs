//! TPMs that were provisioned by others: with Windows' storage root key, with systemd's, with none.
#![allow(clippy::panic, clippy::expect_used, clippy::unwrap_used, reason = "tests")]

use keyway_secret::SecretBytes;
use keyway_testkit::{Swtpm, hex};
use keyway_tpm::{Pcrs, Tpm, TpmError};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// The public part of Windows' storage root key, as a machine's `TPM2_ReadPublic` shows it, with
/// the zeros of the template in the place of its number.
const RSA_START: &str = "0001 000b 00030472 0000 0006 0080 0043 0010 0800 00000000 0100";
/// The same on the curve P-256.
const ECC: &str = "0023 000b 00030472 0000 0006 0080 0043 0010 0003 0010 0020 \
    0000000000000000000000000000000000000000000000000000000000000000 0020 \
    0000000000000000000000000000000000000000000000000000000000000000";

const STORAGE_ROOT_KEY: u32 = 0x8100_0001;
const OWNER: u32 = 0x4000_0001;
const EVICT_CONTROL: u32 = 0x120;
const CREATE_PRIMARY: u32 = 0x131;
const HIERARCHY_CHANGE_AUTH: u32 = 0x129;

/// One command in the owner's name, written out by hand; its answer after the header.
fn as_owner(swtpm: &Swtpm, code: u32, more_handles: &[u32], parameters: &[u8]) -> Vec<u8> {
    let handles: Vec<u8> =
        [OWNER].iter().chain(more_handles).flat_map(|handle| handle.to_be_bytes()).collect();
    let password = hex("00000009 40000009 0000 00 0000");
    let mut command = hex("8002");
    let length = 10 + handles.len() + password.len() + parameters.len();
    command.extend_from_slice(&(length as u32).to_be_bytes());
    command.extend_from_slice(&code.to_be_bytes());
    command.extend_from_slice(&[&handles[..], &password, parameters].concat());
    let address = swtpm.address();
    let mut stream = UnixStream::connect(address.strip_prefix("swtpm:path=").unwrap()).expect("connects");
    stream.write_all(&command).expect("sends");
    let mut header = [0; 10];
    stream.read_exact(&mut header).expect("answers");
    assert_eq!(header[6..], [0; 4], "the TPM refuses");
    let mut rest = vec![0; u32::from_be_bytes(header[2..6].try_into().unwrap()) as usize - 10];
    stream.read_exact(&mut rest).expect("answers");
    rest
}

fn provision(swtpm: &Swtpm, template: &[u8]) {
    let mut parameters = hex("0004 0000 0000");
    parameters.extend_from_slice(&(template.len() as u16).to_be_bytes());
    parameters.extend_from_slice(template);
    parameters.extend_from_slice(&hex("0000 00000000"));
    let answer = as_owner(swtpm, CREATE_PRIMARY, &[], &parameters);
    let handle = u32::from_be_bytes(answer[..4].try_into().unwrap());
    as_owner(swtpm, EVICT_CONTROL, &[handle], &STORAGE_ROOT_KEY.to_be_bytes());
    flush(swtpm, handle);
}

fn flush(swtpm: &Swtpm, handle: u32) {
    let address = swtpm.address();
    let mut stream = UnixStream::connect(address.strip_prefix("swtpm:path=").unwrap()).expect("connects");
    let mut command = hex("8001 0000000e 00000165");
    command.extend_from_slice(&handle.to_be_bytes());
    stream.write_all(&command).expect("sends");
    let mut header = [0; 10];
    stream.read_exact(&mut header).expect("answers");
    assert_eq!(header[6..], [0; 4]);
}

fn unprovision(swtpm: &Swtpm) {
    as_owner(swtpm, EVICT_CONTROL, &[STORAGE_ROOT_KEY], &STORAGE_ROOT_KEY.to_be_bytes());
}

fn open(swtpm: &Swtpm) -> Tpm {
    Tpm::open(&swtpm.address().parse().expect("an address")).expect("a TPM")
}

fn secret() -> SecretBytes {
    SecretBytes::copy_of(b"the secret")
}

fn rsa() -> Vec<u8> {
    [hex(RSA_START), vec![0; 256]].concat()
}

#[test]
fn windows_key_is_used_and_can_be_made_again() {
    let Some(swtpm) = Swtpm::start() else { return };
    provision(&swtpm, &rsa());
    let object = open(&swtpm).seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    assert!(open(&swtpm).unseal(&object, None).expect("unseals").same_as(&secret()));
    unprovision(&swtpm);
    assert!(open(&swtpm).unseal(&object, None).expect("by a key made again").same_as(&secret()));
}

#[test]
fn systemds_key_is_used_and_can_be_made_again() {
    let Some(swtpm) = Swtpm::start() else { return };
    provision(&swtpm, &hex(ECC));
    let object = open(&swtpm).seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    assert!(open(&swtpm).unseal(&object, None).expect("unseals").same_as(&secret()));
    unprovision(&swtpm);
    assert!(open(&swtpm).unseal(&object, None).expect("by a key made again").same_as(&secret()));
}

#[test]
fn a_key_of_another_kind_in_the_place_does_no_harm() {
    let Some(swtpm) = Swtpm::start() else { return };
    provision(&swtpm, &rsa());
    let object = open(&swtpm).seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    unprovision(&swtpm);
    provision(&swtpm, &hex(ECC));
    assert!(open(&swtpm).unseal(&object, None).expect("unseals").same_as(&secret()));
}

#[test]
fn an_owner_with_a_password_is_named() {
    let Some(swtpm) = Swtpm::start() else { return };
    let object = open(&swtpm).seal(&secret(), None, Pcrs::SECURE_BOOT).expect("seals");
    as_owner(&swtpm, HIERARCHY_CHANGE_AUTH, &[], &hex("0004 61626364"));
    let error = open(&swtpm).unseal(&object, None).err().expect("refused");
    assert!(matches!(error, TpmError::OwnerPassword), "{error}");
    let error = open(&swtpm).seal(&secret(), None, Pcrs::SECURE_BOOT).expect_err("refused");
    assert!(matches!(error, TpmError::OwnerPassword), "{error}");
}
