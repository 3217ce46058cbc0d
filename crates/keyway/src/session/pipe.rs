//! A plan and its secrets on their way to the serving process.
//!
//! Standard input of that process has four bytes of length (little-endian), that many bytes of JSON, then the secrets,
//! each as long as the JSON says. Nothing secret is an argument, an environment variable or a file.

use super::plan::{SessionPlan, SessionSecrets};
use crate::unlock::Key;
use keyway_attach::path_text;
use keyway_secret::SecretBytes;
use keyway_volume::Secrets as VeraCryptSecret;
use keyway_volume::bitlocker::{Guid, RecoveryPassword, Secret, StartupKey};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Longest request without its secrets, in bytes: some thousand keyfile paths.
const REQUEST_LIMIT: u32 = 16 << 20;
/// Longest secret in a request, in bytes.
const SECRET_LIMIT: usize = 64 << 10;

/// A request as it crosses the pipe: a plan, and what kinds of secret follow in which length.
#[derive(Serialize, Deserialize)]
struct Request {
    plan: SessionPlan,
    key: KeyLengths,
    protect: Option<SecretLengths>,
    hosts_bytes: Option<usize>,
}

#[derive(Serialize, Deserialize)]
enum KeyLengths {
    VeraCrypt(SecretLengths),
    BitLocker(Vec<(SecretKind, usize)>),
}

#[derive(Serialize, Deserialize, Clone, Copy)]
enum SecretKind {
    Password,
    Recovery,
    StartupKey,
    MasterKey,
}

/// A secret without its password.
#[derive(Serialize, Deserialize)]
struct SecretLengths {
    password_bytes: usize,
    #[serde(with = "path_text")]
    keyfiles: Vec<PathBuf>,
    pim: Option<u32>,
}

impl SecretLengths {
    fn of(secret: &VeraCryptSecret) -> Self {
        let VeraCryptSecret { password, keyfiles, pim } = secret;
        Self { password_bytes: password.len(), keyfiles: keyfiles.clone(), pim: *pim }
    }

    fn read(self, from: &mut impl Read) -> io::Result<VeraCryptSecret> {
        let password = bytes(from, self.password_bytes)?;
        Ok(VeraCryptSecret { password, keyfiles: self.keyfiles, pim: self.pim })
    }
}

/// Writes a request.
pub(super) fn send(to: &mut impl Write, plan: &SessionPlan, secrets: &SessionSecrets) -> io::Result<()> {
    let keys = match &secrets.key {
        Key::VeraCrypt(own) => vec![(SecretKind::Password, SecretBytes::copy_of(&own.password))],
        Key::BitLocker(keys) => keys.iter().map(key_bytes).collect::<Vec<_>>(),
    };
    let key = match &secrets.key {
        Key::VeraCrypt(own) => KeyLengths::VeraCrypt(SecretLengths::of(own)),
        Key::BitLocker(_) => {
            KeyLengths::BitLocker(keys.iter().map(|(kind, bytes)| (*kind, bytes.len())).collect())
        }
    };
    let json = serde_json::to_vec(&Request {
        plan: plan.clone(),
        key,
        protect: secrets.protect.as_ref().map(SecretLengths::of),
        hosts_bytes: secrets.hosts.as_ref().map(|text| text.len()),
    })?;
    let len = u32::try_from(json.len()).ok().filter(|n| *n <= REQUEST_LIMIT);
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "too many keyfiles"))?;
    to.write_all(&len.to_le_bytes())?;
    to.write_all(&json)?;
    keys.iter().try_for_each(|(_, bytes)| to.write_all(bytes))?;
    let protect = secrets.protect.as_ref().map(|hidden| &hidden.password);
    protect.into_iter().chain(&secrets.hosts).try_for_each(|bytes| to.write_all(bytes))?;
    to.flush()
}

/// Reads a request, without a buffer that would keep a copy of the secrets.
pub(super) fn receive(from: &mut impl Read) -> io::Result<(SessionPlan, SessionSecrets)> {
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len);
    if len > REQUEST_LIMIT {
        return Err(wrong("the request is too long"));
    }
    let mut json = vec![0; len as usize];
    from.read_exact(&mut json)?;
    let request: Request = serde_json::from_slice(&json)?;
    let key = match request.key {
        KeyLengths::VeraCrypt(own) => Key::VeraCrypt(own.read(from)?),
        KeyLengths::BitLocker(keys) => {
            let mut read =
                |(kind, len)| key_of(kind, bytes(from, len)?).ok_or_else(|| wrong("a key of another kind"));
            Key::BitLocker(keys.into_iter().map(&mut read).collect::<io::Result<_>>()?)
        }
    };
    let protect = request.protect.map(|hidden| hidden.read(from)).transpose()?;
    let hosts = request.hosts_bytes.map(|len| bytes(from, len)).transpose()?;
    Ok((request.plan, SessionSecrets { key, protect, hosts }))
}

fn bytes(from: &mut impl Read, len: usize) -> io::Result<SecretBytes> {
    if len > SECRET_LIMIT {
        return Err(wrong("the password is too long"));
    }
    let mut bytes = SecretBytes::zeroed(len);
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// A BitLocker key as it crosses the pipe.
fn key_bytes(secret: &Secret) -> (SecretKind, SecretBytes) {
    match secret {
        Secret::Password(password) => (SecretKind::Password, SecretBytes::copy_of(password)),
        Secret::RecoveryPassword(password) => (SecretKind::Recovery, SecretBytes::copy_of(password.bytes())),
        Secret::StartupKey(key) => (SecretKind::StartupKey, key.to_bytes()),
        Secret::MasterKey(key, by) => {
            // Its protector follows it: nobody else could tell by what the volume was opened.
            let by = by.map_or([0; 16], |by| by.0);
            let mut both = SecretBytes::zeroed(key.len() + by.len());
            both.iter_mut().zip(key.iter().chain(&by)).for_each(|(place, byte)| *place = *byte);
            (SecretKind::MasterKey, both)
        }
    }
}

/// And as it arrives.
fn key_of(kind: SecretKind, bytes: SecretBytes) -> Option<Secret> {
    Some(match kind {
        SecretKind::Password => Secret::Password(bytes),
        SecretKind::Recovery => Secret::RecoveryPassword(RecoveryPassword::from_bytes(bytes)?),
        SecretKind::StartupKey => Secret::StartupKey(StartupKey::parse(&bytes).ok()?),
        SecretKind::MasterKey => {
            let (key, by) = bytes.split_last_chunk()?;
            Secret::MasterKey(SecretBytes::copy_of(key), Some(Guid(*by)).filter(|by| by.0 != [0; 16]))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unlock::{UnlockArguments, VolumeFormat};
    use keyway_attach::LocalUsers;
    use keyway_attach::session::{Attachment, NbdAddress, Reason};
    use keyway_volume::{HashName, HeaderChoice};
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    use std::path::Path;
    use std::time::Duration;

    fn secret(password: &[u8]) -> VeraCryptSecret {
        VeraCryptSecret {
            password: SecretBytes::copy_of(password),
            keyfiles: vec![PathBuf::from(OsString::from_vec(b"/k\xff\xfe".to_vec()))],
            pim: Some(7),
        }
    }

    fn plan(attachment: Attachment) -> SessionPlan {
        let mut arguments = UnlockArguments::new();
        arguments.format = Some(VolumeFormat::TrueCrypt);
        arguments.hash = Some(HashName::Ripemd160);
        arguments.header = HeaderChoice::Backup;
        arguments.system = true;
        arguments.system_header = Some("/dev/sda".into());
        let volume = PathBuf::from(OsString::from_vec(b"/tmp/vol\xff.hc".to_vec()));
        let mut plan = SessionPlan::new(&volume, arguments, Attachment::DmCrypt).expect("absolute");
        plan.otherwise = Some(attachment.into());
        plan.way.reasons = vec![Reason::Refused { why: "because".into() }];
        plan.mount = Some("/mnt".into());
        (plan.read_only, plan.discards, plan.cache, plan.users) = (true, true, true, LocalUsers::Any);
        plan.close_when_idle = Some(Duration::from_millis(1500));
        plan
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let sent = SessionSecrets {
            key: Key::VeraCrypt(secret(b"own")),
            protect: Some(secret(b"")),
            hosts: Some(SecretBytes::copy_of(b"DHHC-1:")),
        };
        let plan = plan(Attachment::Fuse { loop_device: true });
        let mut bytes = Vec::new();
        send(&mut bytes, &plan, &sent).expect("memory");
        let (got, with) = receive(&mut &bytes[..]).expect("whole");
        assert_eq!(got, plan);
        let Key::VeraCrypt(own) = &with.key else { panic!("another kind of secret") };
        assert_eq!(&own.password[..], b"own");
        assert!(with.hosts.is_some_and(|text| text.same_as(b"DHHC-1:")));
        assert_eq!(own.keyfiles, secret(b"").keyfiles);
        assert_eq!(own.pim, Some(7));
        assert_eq!(with.protect.map(|p| p.password.len()), Some(0));
        for cut in 0..bytes.len() {
            assert!(receive(&mut bytes.get(..cut).expect("shorter")).is_err(), "{cut}");
        }
    }

    #[test]
    fn keys_of_every_kind_arrive() {
        let keys = vec![
            Secret::Password(SecretBytes::copy_of("pässwörd".as_bytes())),
            Secret::RecoveryPassword(RecoveryPassword::random().expect("random")),
            Secret::StartupKey(StartupKey::random().expect("random")),
            Secret::MasterKey(SecretBytes::copy_of(&[7; 32]), Some(Guid([9; 16]))),
            Secret::MasterKey(SecretBytes::copy_of(&[7; 32]), None),
        ];
        let sent: Vec<_> = keys.iter().map(|key| key_bytes(key).1.to_vec()).collect();
        let mut bytes = Vec::new();
        send(&mut bytes, &plan(Attachment::Ublk), &Key::BitLocker(keys).into()).expect("memory");
        let (_, with) = receive(&mut &bytes[..]).expect("whole");
        let Key::BitLocker(keys) = &with.key else { panic!("another kind of secret") };
        assert_eq!(keys.iter().map(|key| key_bytes(key).1.to_vec()).collect::<Vec<_>>(), sent);
        assert!(
            matches!(keys.as_slice(), [.., Secret::MasterKey(_, Some(Guid([9, ..]))), Secret::MasterKey(key, None)] if key.len() == 32)
        );
        for cut in 0..bytes.len() {
            assert!(receive(&mut bytes.get(..cut).expect("shorter")).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_request_that_lies_about_lengths_is_refused() {
        assert!(receive(&mut &u32::MAX.to_le_bytes()[..]).is_err());
        let mut bytes = Vec::new();
        send(&mut bytes, &plan(Attachment::Ublk), &Key::VeraCrypt(secret(b"own")).into()).expect("memory");
        let text = String::from_utf8_lossy(bytes.get(4..).expect("longer"))
            .replace("\"password_bytes\":3", "\"password_bytes\":99999999999");
        let mut lying = (text.len() as u32).to_le_bytes().to_vec();
        lying.extend_from_slice(text.as_bytes());
        assert!(receive(&mut &lying[..]).is_err());
    }

    #[test]
    fn a_plan_can_be_read_by_people_and_holds_no_secret() {
        let tls = NbdAddress::Tls {
            at: Box::new(NbdAddress::Tcp("127.0.0.1:1".parse().expect("an address"))),
            certificates: "/c".into(),
        };
        let plan = SessionPlan::new(Path::new("/v.hc"), UnlockArguments::new(), Attachment::Nbd(tls));
        let text = serde_json::to_string(&plan.expect("absolute")).expect("JSON");
        assert!(text.starts_with(r#"{"volume":"/v.hc","#), "{text}");
        assert!(
            text.contains(r#"{"nbd":{"tls":{"at":{"tcp":"127.0.0.1:1"},"certificates":"/c"}}}"#),
            "{text}"
        );
    }
}
