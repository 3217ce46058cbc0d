//! The process that serves a volume: what it is asked over a pipe, how it starts, what it answers.
//!
//! Standard input of the new process is the request: four bytes of length (little-endian), that
//! many bytes of JSON, then the passwords, each as long as the JSON says. Standard output is the
//! answer, one line of JSON. Nothing secret is an argument, an environment variable or a file.

use crate::failure::{Exit, Failure};
use crate::given::Given;
use crate::narrow::FormatArg;
use crate::volume::Which;
use keyway_attach::LocalUsers;
use keyway_attach::session::{AttachPlan, Attachment, MountPlan, NbdAddress, SessionState};
use keyway_error::Kind;
use keyway_secret::SecretBytes;
use keyway_volume::bitlocker::{RecoveryPassword, Secret, StartupKey};
use keyway_volume::{HashName, HeaderChoice, Secrets};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Longest request without its passwords, in bytes: some thousand keyfile paths.
const REQUEST_LIMIT: u32 = 16 << 20;
/// Longest password in a request, in bytes.
const SECRET_LIMIT: usize = 64 << 10;

/// What shall be served, and how.
#[derive(Debug, Clone)]
pub(crate) struct ServeRequest {
    /// The volume.
    pub(crate) which: Which,
    /// No writes.
    pub(crate) read_only: bool,
    /// Discards reach the medium.
    pub(crate) discards: bool,
    /// The loop device goes through the page cache.
    pub(crate) cache: bool,
    /// The way to the user.
    pub(crate) attachment: Attachment,
    /// How that was chosen, where nobody asked for it.
    pub(crate) chosen: Option<Chosen>,
    /// Where to mount the file system inside.
    pub(crate) mountpoint: Option<PathBuf>,
    /// Every user of this machine may connect to a port.
    pub(crate) any_local_user: bool,
}

/// An attachment that nobody asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Chosen {
    /// Try the kernel's dm-crypt first.
    pub(crate) kernel_first: bool,
    /// Why the attachment, where the kernel is not tried or says no.
    pub(crate) why: String,
}

/// The secrets that go with a request.
pub(crate) struct ServeSecrets {
    /// The volume's own.
    pub(crate) own: Given,
    /// The hidden volume's that must not be damaged.
    pub(crate) protect: Option<Secrets>,
    /// What hosts must prove that connect over NVMe/TCP, as it is written.
    pub(crate) hosts: Option<SecretBytes>,
}

/// A request as it crosses the pipe. Paths are `OsString`, which need not be UTF-8.
#[derive(Serialize, Deserialize)]
struct Wire {
    volume: OsString,
    format: Option<String>,
    hash: Option<String>,
    header: String,
    system: bool,
    system_header: Option<OsString>,
    read_only: bool,
    discards: bool,
    cache: bool,
    attachment: WireAttachment,
    chosen: Option<Chosen>,
    mountpoint: Option<OsString>,
    any_local_user: bool,
    own: WireGiven,
    protect: Option<WireSecret>,
    /// The length of what hosts must prove.
    hosts_bytes: Option<usize>,
}

#[derive(Serialize, Deserialize)]
enum WireAttachment {
    Fuse { loop_device: bool },
    Nbd(WireNbd),
    VhostUser(Option<OsString>),
    NvmeTcp(SocketAddr),
    DmCrypt,
    Ublk,
}

#[derive(Serialize, Deserialize)]
enum WireNbd {
    Session,
    Unix(OsString),
    Tcp(SocketAddr),
    Tls(Box<Self>, OsString),
}

impl From<&NbdAddress> for WireNbd {
    fn from(address: &NbdAddress) -> Self {
        match address {
            NbdAddress::Session => Self::Session,
            NbdAddress::Unix(path) => Self::Unix(path.clone().into_os_string()),
            NbdAddress::Tcp(at) => Self::Tcp(*at),
            NbdAddress::Tls { at, certificates } => {
                Self::Tls(Box::new(Self::from(&**at)), certificates.clone().into_os_string())
            }
        }
    }
}

impl From<WireNbd> for NbdAddress {
    fn from(address: WireNbd) -> Self {
        match address {
            WireNbd::Session => Self::Session,
            WireNbd::Unix(path) => Self::Unix(path.into()),
            WireNbd::Tcp(at) => Self::Tcp(at),
            WireNbd::Tls(at, folder) => {
                Self::Tls { at: Box::new(Self::from(*at)), certificates: folder.into() }
            }
        }
    }
}

/// What opens the volume.
#[derive(Serialize, Deserialize)]
enum WireGiven {
    VeraCrypt(WireSecret),
    /// The kind of each secret and its length; the bytes follow the JSON.
    BitLocker(Vec<(WireKind, usize)>),
}

#[derive(Serialize, Deserialize, Clone, Copy)]
enum WireKind {
    Password,
    Recovery,
    StartupKey,
    MasterKey,
}

/// A secret without its password, which follows the JSON.
#[derive(Serialize, Deserialize)]
struct WireSecret {
    password_bytes: usize,
    keyfiles: Vec<OsString>,
    pim: Option<u32>,
}

/// What the serving process says once it serves, or why it does not.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answer {
    /// It serves.
    Ready {
        /// What.
        state: Box<SessionState>,
        /// What its owner should know.
        warnings: Vec<String>,
    },
    /// It does not.
    Error {
        /// Exit code.
        code: u8,
        /// The word for scripts.
        kind: String,
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
}

impl From<&Failure> for Answer {
    fn from(failure: &Failure) -> Self {
        Self::Error {
            code: failure.exit as u8,
            kind: failure.kind.word().to_owned(),
            message: failure.message.clone(),
            hint: failure.hint.clone(),
        }
    }
}

impl Answer {
    /// The state and warnings, or why there is none.
    fn into_result(self) -> Result<(SessionState, Vec<String>), Failure> {
        match self {
            Self::Ready { state, warnings } => Ok((*state, warnings)),
            Self::Error { code, kind, message, hint } => {
                let failure = Failure::new(Exit::from_code(code), message, hint);
                Err(match Kind::from_word(&kind) {
                    Some(kind) => failure.kind(kind),
                    None => failure,
                })
            }
        }
    }
}

impl ServeRequest {
    /// What the attachment is told.
    pub(crate) fn plan(
        &self,
        attachment: Attachment,
        why: Option<String>,
        details: serde_json::Value,
    ) -> AttachPlan {
        AttachPlan {
            credentials: None,
            users: if self.any_local_user { LocalUsers::Any } else { LocalUsers::Own },
            cache: self.cache,
            volume: self.which.path.clone(),
            attachment,
            why,
            mount: self.mountpoint.clone().map(|at| MountPlan { at, filesystem: None }),
            details,
        }
    }
}

/// Starts a process of its own that serves the volume, and waits until it does.
pub(crate) fn detached(
    request: &ServeRequest,
    secrets: &ServeSecrets,
) -> Result<(SessionState, Vec<String>), Failure> {
    let broken = |doing: &str| {
        let doing = doing.to_owned();
        move |e: io::Error| Failure::new(Exit::Failed, format!("could not {doing}: {e}"), "try it again")
    };
    // Whatever the caller had open besides stays with the caller.
    keyway_sys::close_on_exec_from(3).map_err(broken("keep open files from the serving process"))?;
    let mut child = Command::new("/proc/self/exe")
        .arg0("keyway")
        .arg("serve-volume")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(broken("start the serving process"))?;
    let (Some(mut to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(broken("talk to the serving process")(io::ErrorKind::BrokenPipe.into()));
    };
    let sent = send(&mut to, request, secrets);
    let mut line = String::new();
    let heard = sent.and_then(|()| BufReader::new(from).read_line(&mut line));
    // The pipe stays open until here: its end tells the other side that nobody waits any more.
    drop(to);
    match heard {
        Ok(n) if n > 0 => serde_json::from_str::<Answer>(&line)
            .map_err(|e| broken("understand the serving process")(e.into()))?
            .into_result(),
        _ => {
            let how = child.wait().map(|status| status.to_string()).unwrap_or_default();
            Err(Failure::new(
                Exit::Failed,
                format!("the serving process ended without an answer ({how})"),
                "look at the system's log (`dmesg`), for instance for too little memory",
            ))
        }
    }
}

/// Writes a request.
fn send(to: &mut impl Write, request: &ServeRequest, secrets: &ServeSecrets) -> io::Result<()> {
    let secret = |s: &Secrets| WireSecret {
        password_bytes: s.password.len(),
        keyfiles: s.keyfiles.iter().map(|p| p.clone().into_os_string()).collect(),
        pim: s.pim,
    };
    let keys = match &secrets.own {
        Given::VeraCrypt(own) => vec![(WireKind::Password, SecretBytes::copy_of(&own.password))],
        Given::BitLocker(keys) => keys.iter().map(key_bytes).collect::<Vec<_>>(),
    };
    let which = &request.which;
    let wire = Wire {
        volume: which.path.clone().into_os_string(),
        format: which.format.map(|f| f.name().to_owned()),
        hash: which.hash.map(|h| h.name().to_owned()),
        header: header_word(which.header).to_owned(),
        system: which.system,
        system_header: which.system_header.clone().map(PathBuf::into_os_string),
        read_only: request.read_only,
        discards: request.discards,
        cache: request.cache,
        attachment: match &request.attachment {
            Attachment::Fuse { loop_device } => WireAttachment::Fuse { loop_device: *loop_device },
            Attachment::Nbd(address) => WireAttachment::Nbd(address.into()),
            Attachment::NvmeTcp(at) => WireAttachment::NvmeTcp(*at),
            Attachment::DmCrypt => WireAttachment::DmCrypt,
            Attachment::Ublk => WireAttachment::Ublk,
            Attachment::VhostUser(path) => {
                WireAttachment::VhostUser(path.clone().map(PathBuf::into_os_string))
            }
        },
        chosen: request.chosen.clone(),
        mountpoint: request.mountpoint.clone().map(PathBuf::into_os_string),
        any_local_user: request.any_local_user,
        own: match &secrets.own {
            Given::VeraCrypt(own) => WireGiven::VeraCrypt(secret(own)),
            Given::BitLocker(_) => {
                WireGiven::BitLocker(keys.iter().map(|(kind, bytes)| (*kind, bytes.len())).collect())
            }
        },
        protect: secrets.protect.as_ref().map(secret),
        hosts_bytes: secrets.hosts.as_ref().map(|text| text.len()),
    };
    let json = serde_json::to_vec(&wire)?;
    let len = u32::try_from(json.len()).ok().filter(|n| *n <= REQUEST_LIMIT);
    let len = len.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "too many keyfiles"))?;
    to.write_all(&len.to_le_bytes())?;
    to.write_all(&json)?;
    keys.iter().try_for_each(|(_, bytes)| to.write_all(bytes))?;
    if let Some(protect) = &secrets.protect {
        to.write_all(&protect.password)?;
    }
    if let Some(hosts) = &secrets.hosts {
        to.write_all(hosts)?;
    }
    to.flush()
}

/// A BitLocker key as it crosses the pipe.
fn key_bytes(secret: &Secret) -> (WireKind, SecretBytes) {
    match secret {
        Secret::Password(password) => (WireKind::Password, SecretBytes::copy_of(password)),
        Secret::RecoveryPassword(password) => (WireKind::Recovery, SecretBytes::copy_of(password.bytes())),
        Secret::StartupKey(key) => (WireKind::StartupKey, key.to_bytes()),
        Secret::MasterKey(key) => (WireKind::MasterKey, SecretBytes::copy_of(key)),
    }
}

/// And as it arrives.
fn key_of(kind: WireKind, bytes: SecretBytes) -> Option<Secret> {
    Some(match kind {
        WireKind::Password => Secret::Password(bytes),
        WireKind::Recovery => Secret::RecoveryPassword(RecoveryPassword::from_bytes(bytes)?),
        WireKind::StartupKey => Secret::StartupKey(StartupKey::parse(&bytes).ok()?),
        WireKind::MasterKey => Secret::MasterKey(bytes),
    })
}

/// Reads a request from standard input, without a buffer that would keep a copy of the passwords.
pub(crate) fn receive() -> Result<(ServeRequest, ServeSecrets), Failure> {
    let input = io::stdin().as_fd().try_clone_to_owned().map(File::from);
    input.and_then(|mut input| receive_from(&mut input)).map_err(|e| {
        Failure::usage(format!("no request on standard input: {e}"), "use `keyway open` or `keyway serve`")
    })
}

fn receive_from(from: &mut impl Read) -> io::Result<(ServeRequest, ServeSecrets)> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut len = [0; 4];
    from.read_exact(&mut len)?;
    let len = u32::from_le_bytes(len);
    if len > REQUEST_LIMIT {
        return Err(wrong("the request is too long"));
    }
    let mut json = vec![0; len as usize];
    from.read_exact(&mut json)?;
    let wire: Wire = serde_json::from_slice(&json)?;
    let mut bytes = |len: usize| {
        if len > SECRET_LIMIT {
            return Err(wrong("the password is too long"));
        }
        let mut bytes = SecretBytes::zeroed(len);
        from.read_exact(&mut bytes)?;
        Ok(bytes)
    };
    let secret = |s: WireSecret, password: SecretBytes| {
        let keyfiles = s.keyfiles.into_iter().map(PathBuf::from).collect();
        Secrets { password, keyfiles, pim: s.pim }
    };
    let own = match wire.own {
        WireGiven::VeraCrypt(own) => {
            let password = bytes(own.password_bytes)?;
            Given::VeraCrypt(secret(own, password))
        }
        WireGiven::BitLocker(keys) => {
            let mut given = Vec::new();
            for (kind, len) in keys {
                given.push(key_of(kind, bytes(len)?).ok_or_else(|| wrong("a key of another kind"))?);
            }
            Given::BitLocker(given)
        }
    };
    let protect = match wire.protect {
        None => None,
        Some(hidden) => {
            let password = bytes(hidden.password_bytes)?;
            Some(secret(hidden, password))
        }
    };
    let hosts = wire.hosts_bytes.map(&mut bytes).transpose()?;
    let format = match wire.format.as_deref() {
        None => None,
        Some(name) => Some(
            [FormatArg::Veracrypt, FormatArg::Truecrypt, FormatArg::Bitlocker]
                .into_iter()
                .find(|f| f.name() == name)
                .ok_or_else(|| wrong("unknown format"))?,
        ),
    };
    let hash = wire.hash.map(|name| name.parse::<HashName>()).transpose();
    let hash = hash.map_err(|e| wrong(&e.to_string()))?;
    let header = [HeaderChoice::Auto, HeaderChoice::Primary, HeaderChoice::Backup]
        .into_iter()
        .find(|h| header_word(*h) == wire.header)
        .ok_or_else(|| wrong("unknown header"))?;
    let request = ServeRequest {
        which: Which {
            path: wire.volume.into(),
            format,
            hash,
            header,
            system: wire.system,
            system_header: wire.system_header.map(PathBuf::from),
        },
        read_only: wire.read_only,
        discards: wire.discards,
        cache: wire.cache,
        attachment: match wire.attachment {
            WireAttachment::Fuse { loop_device } => Attachment::Fuse { loop_device },
            WireAttachment::Nbd(address) => Attachment::Nbd(address.into()),
            WireAttachment::VhostUser(path) => Attachment::VhostUser(path.map(PathBuf::from)),
            WireAttachment::NvmeTcp(at) => Attachment::NvmeTcp(at),
            WireAttachment::DmCrypt => Attachment::DmCrypt,
            WireAttachment::Ublk => Attachment::Ublk,
        },
        chosen: wire.chosen,
        mountpoint: wire.mountpoint.map(PathBuf::from),
        any_local_user: wire.any_local_user,
    };
    Ok((request, ServeSecrets { own, protect, hosts }))
}

const fn header_word(header: HeaderChoice) -> &'static str {
    match header {
        HeaderChoice::Auto => "auto",
        HeaderChoice::Primary => "primary",
        HeaderChoice::Backup => "backup",
    }
}

/// A path that another process with another working directory finds.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|e| Failure::io("find", path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    fn secrets(password: &[u8]) -> Secrets {
        Secrets {
            password: SecretBytes::copy_of(password),
            keyfiles: vec![PathBuf::from(OsString::from_vec(b"/k\xff\xfe".to_vec()))],
            pim: Some(7),
        }
    }

    fn request() -> ServeRequest {
        ServeRequest {
            which: Which {
                path: PathBuf::from(OsString::from_vec(b"/tmp/vol\xff.hc".to_vec())),
                format: Some(FormatArg::Truecrypt),
                hash: Some(HashName::Ripemd160),
                header: HeaderChoice::Backup,
                system: true,
                system_header: Some("/dev/sda".into()),
            },
            read_only: true,
            discards: true,
            cache: true,
            attachment: Attachment::Fuse { loop_device: true },
            chosen: Some(Chosen { kernel_first: true, why: "because".into() }),
            mountpoint: Some("/mnt".into()),
            any_local_user: true,
        }
    }

    #[test]
    fn a_request_arrives_as_it_was_sent() {
        let sent = ServeSecrets {
            own: Given::VeraCrypt(secrets(b"own")),
            protect: Some(secrets(b"")),
            hosts: Some(SecretBytes::copy_of(b"DHHC-1:")),
        };
        let mut bytes = Vec::new();
        send(&mut bytes, &request(), &sent).expect("memory");
        let (got, with) = receive_from(&mut &bytes[..]).expect("whole");
        assert_eq!(format!("{got:?}"), format!("{:?}", request()));
        let Given::VeraCrypt(own) = &with.own else { panic!("another kind of secret") };
        assert_eq!(&own.password[..], b"own");
        assert!(with.hosts.is_some_and(|text| text.same_as(b"DHHC-1:")));
        assert_eq!(own.keyfiles, secrets(b"").keyfiles);
        assert_eq!(own.pim, Some(7));
        assert_eq!(with.protect.map(|p| p.password.len()), Some(0));
        for cut in 0..bytes.len() {
            assert!(receive_from(&mut bytes.get(..cut).expect("shorter")).is_err(), "{cut}");
        }
    }

    #[test]
    fn keys_of_every_kind_arrive() {
        let keys = vec![
            Secret::Password(SecretBytes::copy_of("pässwörd".as_bytes())),
            Secret::RecoveryPassword(RecoveryPassword::random().expect("random")),
            Secret::StartupKey(StartupKey::random().expect("random")),
            Secret::MasterKey(SecretBytes::copy_of(&[7; 32])),
        ];
        let sent: Vec<_> = keys.iter().map(|key| key_bytes(key).1.to_vec()).collect();
        let mut bytes = Vec::new();
        let secrets = ServeSecrets { own: Given::BitLocker(keys), protect: None, hosts: None };
        send(&mut bytes, &request(), &secrets).expect("memory");
        let (_, with) = receive_from(&mut &bytes[..]).expect("whole");
        let Given::BitLocker(keys) = &with.own else { panic!("another kind of secret") };
        assert_eq!(keys.iter().map(|key| key_bytes(key).1.to_vec()).collect::<Vec<_>>(), sent);
        for cut in 0..bytes.len() {
            assert!(receive_from(&mut bytes.get(..cut).expect("shorter")).is_err(), "{cut}");
        }
    }

    #[test]
    fn a_request_that_lies_about_lengths_is_refused() {
        assert!(receive_from(&mut &u32::MAX.to_le_bytes()[..]).is_err());
        let mut bytes = Vec::new();
        let own = Given::VeraCrypt(secrets(b"own"));
        send(&mut bytes, &request(), &ServeSecrets { own, protect: None, hosts: None }).expect("memory");
        let text = String::from_utf8_lossy(bytes.get(4..).expect("longer"))
            .replace("\"password_bytes\":3", "\"password_bytes\":99999999999");
        let mut lying = (text.len() as u32).to_le_bytes().to_vec();
        lying.extend_from_slice(text.as_bytes());
        assert!(receive_from(&mut &lying[..]).is_err());
    }
}
