//! `drive emulate`: a virtual drive that encrypts itself, as a disk of a real kernel's.

use crate::failure::{Exit, Failure};
use crate::nvme_auth::AuthArgs;
use crate::output::{Output, bytes};
use crate::shown::shown;
use crate::size;
use crate::words;
use keyway_attach::nvme_tcp::{Namespace, NamespaceError, NvmeError, Options, SecurityRefusal, Server};
use keyway_attach::vhost_user::VhostServer;
use keyway_attach::{AttachError, LocalUsers, Stop};
use keyway_error::Explain;
use keyway_store::{Caching, FileStore, OpenMode};
use keyway_virtual_drive::{Drive, Fault, IoError, Label, Profile, SecurityError};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A virtual drive that encrypts itself (TCG Opal 2 and its relatives), to try everything on first
///
/// FILE holds the whole drive: its state, which survives power cuts, and its blocks, encrypted. With --size it is
/// made; with --nvme-tcp or --vhost-user-scsi it is served until Ctrl-C comes, and each start is a power-on. SIGUSR1
/// takes the power away for a moment: everything that locks on a power cycle is locked then.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway drive emulate drive.img --size 1G --nvme-tcp 127.0.0.1:4420
  $ sudo nvme connect -t tcp -a 127.0.0.1 -s 4420 -n nqn.2026-11.keyway:drive
  $ sudo keyway drive setup /dev/nvme0n1 --recovery-sheet sheet.txt
  $ keyway drive emulate disk.img --size 1G --vhost-user-scsi disk.sock
  $ keyway drive emulate odd.img --size 1G --profile pyrite2 --fault stall=500 --nvme-tcp 127.0.0.1:4421")]
pub(super) struct Args {
    /// The virtual drive's file
    file: PathBuf,
    /// Make the file, a drive of this size: 512M, 1G
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    size: Option<u64>,
    /// Bytes of a logical block of the drive that is made
    #[arg(long, value_name = "BYTES", default_value = "512", value_parser = ["512", "4096"], requires = "size")]
    block_size: String,
    /// What the drive that is made is like: opal2, opalite, pyrite1, pyrite2, ruby, samsung-850-evo,
    /// kioxia-xg8, or enterprise, which can only be read
    #[arg(long, value_name = "NAME", default_value = "opal2", value_parser = profile, requires = "size")]
    profile: Profile,
    /// Let its firmware misbehave while it is served: stall, stall=MILLISECONDS, lost-answers, stale-comid,
    /// stale-session, stale-answer, wrong-properties, short-discovery, blocked-sid; several with commas
    #[arg(long, value_name = "FAULT", value_delimiter = ',', requires = "served")]
    fault: Vec<Fault>,
    /// Serve it as an NVMe/TCP controller at this loopback address; port 0 chooses one
    #[arg(long, value_name = "ADDRESS", required_unless_present_any = ["size", "vhost_user_scsi"], group = "served")]
    nvme_tcp: Option<SocketAddr>,
    /// Let every user of this machine connect to that address; without it only you and root can
    #[arg(long, requires = "nvme_tcp", conflicts_with_all = ["vhost_user_scsi", "nvme_secret"])]
    any_local_user: bool,
    /// Serve it to a virtual machine as a SCSI disk (vhost-user-scsi) on this unix socket, with SCSI's and ATA's
    /// security commands
    #[arg(long, value_name = "SOCKET", group = "served", conflicts_with = "nvme_tcp")]
    vhost_user_scsi: Option<PathBuf>,
    /// The name that hosts connect to
    #[arg(long, value_name = "NQN", requires = "nvme_tcp", conflicts_with = "vhost_user_scsi")]
    nqn: Option<String>,
    #[command(flatten)]
    auth: AuthArgs,
}

fn profile(name: &str) -> Result<Profile, String> {
    let names = || Profile::ALL.map(Profile::name).join(", ");
    Profile::named(name).ok_or_else(|| format!("there are {}", names()))
}

/// Runs the verb.
pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    // Clap does not ask for an option that another one rules out.
    if args.vhost_user_scsi.is_some() && args.auth.read()?.is_some() {
        return Err(Failure::usage(
            "--nvme-secret is for --nvme-tcp: to the socket, only its owner connects",
            "leave out --nvme-secret",
        ));
    }
    let drive = match args.size {
        Some(size) => {
            create(&args.file, args.profile, size, if args.block_size == "4096" { 4096 } else { 512 })?
        }
        None => open(&args.file)?,
    };
    drive.inject(&args.fault);
    let drive = Arc::new(drive);
    let serial = drive.config().label.serial;
    let namespace: Arc<dyn Namespace> = Arc::new(DriveNamespace { drive: drive.clone(), serial });
    let server = match (args.nvme_tcp, &args.vhost_user_scsi) {
        (Some(address), _) => {
            let mut options = Options {
                credentials: args.auth.credentials()?,
                users: if args.any_local_user { LocalUsers::Any } else { LocalUsers::Own },
                ..Options::default()
            };
            if let Some(nqn) = &args.nqn {
                options.nqn.clone_from(nqn);
            }
            Front::Nvme(Server::bind(address, namespace, &options).map_err(|e| unserved(&e))?)
        }
        (None, Some(socket)) => Front::Scsi(VhostServer::bind(socket).map_err(AttachError::from)?, namespace),
        (None, None) => return tell(args, &drive, None, out),
    };
    let system = |e: io::Error| Failure::io("listen for", Path::new("signals"), &e);
    let stop = Arc::new(Stop::new().map_err(system)?);
    let stopping = stop.clone();
    on_signals(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT], move || stopping.request()).map_err(system)?;
    let cycled = drive.clone();
    on_signals(&[SIGUSR1], move || match cycled.power_cycle() {
        Ok(()) => out.warn("the power was cycled"),
        Err(e) => out.warn(&format!("the power was cycled, and the drive did not come back: {e}")),
    })
    .map_err(system)?;
    tell(args, &drive, Some(&server), out)?;
    match &server {
        Front::Nvme(server) => server.run(&stop).map_err(|e| unserved(&e))?,
        Front::Scsi(server, disk) => server.run_scsi(disk, &stop).map_err(AttachError::from)?,
    }
    drive.flush().map_err(|e| Failure::new(Exit::Failed, e.to_string(), "check the disk that holds the file"))
}

/// How a kernel gets to it.
enum Front {
    /// Over a network.
    Nvme(Server),
    /// As a disk of a virtual machine.
    Scsi(VhostServer, Arc<dyn Namespace>),
}

/// Says what there is now, and how to get to it.
fn tell(args: &Args, drive: &Drive, front: Option<&Front>, out: Output) -> Result<(), Failure> {
    let config = drive.config();
    let label = &config.label;
    let (server, socket) = match front {
        Some(Front::Nvme(server)) => (Some(server), None),
        Some(Front::Scsi(server, _)) => (None, Some(server.path())),
        None => (None, None),
    };
    let (address, nqn) = (server.map(|s| s.address().to_string()), server.map(|s| s.nqn().to_owned()));
    let document = json!({
        "file": args.file,
        "created": args.size.is_some(),
        "size_bytes": config.data_bytes(),
        "block_bytes": config.block_bytes,
        "ssc": config.ssc.name(),
        "faults": args.fault.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "serial": label.serial,
        "msid": label.msid,
        "psid": label.psid,
        "address": address,
        "nqn": nqn,
        "socket": socket,
    });
    out.result(&document, || {
        let mut words = format!(
            "Virtual drive {}, {}, in {}\n  label: MSID {} (the factory's PIN), PSID {} (erases everything)\n",
            label.serial,
            bytes(config.data_bytes()),
            shown(&args.file),
            label.msid,
            label.psid,
        );
        if let Some(server) = server {
            let at = server.address();
            words += &format!(
                "Served at {at} as {nqn}. Connect to it as root:\n  modprobe nvme-tcp; nvme connect -t tcp -a {ip} -s {port} -n {nqn}\nCtrl-C switches it off.\n",
                nqn = server.nqn(),
                ip = at.ip(),
                port = at.port(),
            );
        }
        if let Some(socket) = socket {
            words += &format!(
                "Served on {socket}. Give it to a machine of QEMU's:\n  -object memory-backend-memfd,id=memory,size=1G,share=on -machine q35,memory-backend=memory \\\n  -chardev socket,id=drive,path={socket} -device vhost-user-scsi-pci,chardev=drive\nCtrl-C switches it off.\n",
                socket = shown(socket),
            );
        }
        words
    })
}

fn create(path: &Path, profile: Profile, bytes: u64, block_bytes: u32) -> Result<Drive, Failure> {
    if bytes == 0 || !bytes.is_multiple_of(4096) {
        return Err(Failure::usage("the size must be a multiple of 4096 bytes", "write it like 512M or 1G"));
    }
    let config = profile.config(bytes / u64::from(block_bytes), block_bytes, label()?);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(|e| Failure::io("make", path, &e))?;
    let made = file
        .set_len(config.medium_bytes())
        .map_err(|e| Failure::io("enlarge", path, &e))
        .and_then(|()| Ok(FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered)?))
        .and_then(|store| Drive::create(Arc::new(store), &config).map_err(Failure::from));
    if made.is_err() {
        // It is ours, and no drive: nobody misses it.
        let _ = std::fs::remove_file(path);
    }
    made
}

/// Powers on the drive that is in the file.
fn open(path: &Path) -> Result<Drive, Failure> {
    let store = FileStore::open(path, OpenMode::ReadWrite, Caching::Buffered)?;
    Drive::open(Arc::new(store)).map_err(Failure::from)
}

/// What is printed on a new drive.
fn label() -> Result<Label, Failure> {
    let mut random = [0; 76];
    getrandom::fill(&mut random)
        .map_err(|e| Failure::new(Exit::Failed, format!("this machine gives no random numbers: {e}"), ""))?;
    // 32 letters that can't be taken for one another.
    let letter = |byte: &u8| char::from(b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789"[usize::from(byte & 31)]);
    let mut letters = random.iter().map(letter);
    let mut text = |len: usize| letters.by_ref().take(len).collect::<String>();
    Ok(Label { serial: format!("KW{}", text(12)), msid: text(32), psid: text(32) })
}

fn unserved(error: &NvmeError) -> Failure {
    let text = error.to_string();
    match error {
        NvmeError::Remote(_) | NvmeError::Name(_) => Failure::usage(text, words::sentences(&error.advice())),
        NvmeError::System { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
            Failure::new(Exit::Busy, text, "choose another port; 0 takes a free one")
        }
        NvmeError::System { .. } => Failure::new(Exit::Failed, text, ""),
    }
}

/// Calls `act` on a thread of its own each time one of the signals comes.
fn on_signals(signals: &[i32], act: impl Fn() + Send + 'static) -> io::Result<()> {
    let (mut ours, theirs) = UnixStream::pair()?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, theirs.try_clone()?)?;
    }
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        let mut byte = [0; 1];
        while ours.read_exact(&mut byte).is_ok() {
            act();
        }
    })?;
    Ok(())
}

/// The drive as a controller serves it.
struct DriveNamespace {
    drive: Arc<Drive>,
    serial: String,
}

fn fault(error: IoError) -> NamespaceError {
    match error {
        IoError::Locked { .. } | IoError::Shadowed { .. } => NamespaceError::AccessDenied,
        IoError::OutOfRange { .. } => NamespaceError::OutOfRange,
        IoError::Drive(_) => NamespaceError::Medium,
    }
}

fn refusal(error: SecurityError) -> SecurityRefusal {
    match error {
        SecurityError::Protocol(_) | SecurityError::ComId(_) | SecurityError::TransferLength(_) => {
            SecurityRefusal::Field
        }
        SecurityError::AnswerWaiting | SecurityError::NotNow => SecurityRefusal::Sequence,
        SecurityError::Failed => SecurityRefusal::Failed,
    }
}

impl Namespace for DriveNamespace {
    fn serial(&self) -> String {
        self.serial.clone()
    }

    fn model(&self) -> &str {
        "Keyway virtual drive"
    }

    fn blocks(&self) -> u64 {
        self.drive.blocks()
    }

    fn block_bytes(&self) -> u32 {
        self.drive.block_bytes()
    }

    fn read(&self, lba: u64, buf: &mut [u8]) -> Result<(), NamespaceError> {
        self.drive.read(lba, buf).map_err(fault)
    }

    fn write(&self, lba: u64, bytes: &[u8]) -> Result<(), NamespaceError> {
        self.drive.write(lba, bytes).map_err(fault)
    }

    fn flush(&self) -> Result<(), NamespaceError> {
        self.drive.flush().map_err(fault)
    }

    fn discard(&self, lba: u64, blocks: u64) -> Result<(), NamespaceError> {
        self.drive.discard(lba, blocks).map_err(fault)
    }

    fn reset(&self) {
        self.drive.reset();
    }

    fn times_switched_on(&self) -> u64 {
        self.drive.power_cycles()
    }

    fn has_security(&self) -> bool {
        true
    }

    fn security_send(&self, protocol: u8, com_id: u16, bytes: &[u8]) -> Result<(), SecurityRefusal> {
        self.drive.security_send(protocol, com_id, bytes).map_err(refusal)
    }

    fn security_receive(&self, protocol: u8, com_id: u16, len: usize) -> Result<Vec<u8>, SecurityRefusal> {
        self.drive.security_receive(protocol, com_id, len).map_err(refusal)
    }
}
