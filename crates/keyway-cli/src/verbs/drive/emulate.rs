//! `drive emulate`: a virtual drive that encrypts itself, as a disk of a real kernel's.

use crate::nvme_auth::AuthArgs;
use crate::verbs::*;
use clap::builder::{OsStringValueParser, TypedValueParser};
use keyway::drive::{Fault, NvmeOptions, Profile, VirtualDrive, VirtualDriveInfo};
use keyway::session::SessionError;
use keyway_attach::LocalUsers;
use keyway_attach::nvme_tcp::Credentials;
use std::net::SocketAddr;
use std::sync::Arc;

/// A virtual drive that encrypts itself (TCG Opal 2 and its relatives), to try everything on first
///
/// FILE holds the whole drive: its state, which survives power cuts, and its blocks, encrypted. With --size it is
/// made; with --nvme-tcp or --vhost-user-scsi it is served until Ctrl-C comes, and each start is a power-on. SIGUSR1
/// takes the power away for a moment: everything that locks on a power cycle is locked then. Not served it has
/// power only while a command runs: between two commands it locks, and the MBR shadow is shown again.
#[derive(clap::Args, Debug)]
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
    #[arg(long, value_name = "FAULT", value_delimiter = ',', value_parser = parsed::<Fault>, requires = "served")]
    fault: Vec<Fault>,
    /// Serve it as an NVMe/TCP controller at this loopback address; port 0 chooses one
    #[arg(long, value_name = "ADDRESS", required_unless_present_any = ["size", "vhost_user_scsi"], group = "served", value_parser = size::socket_address)]
    nvme_tcp: Option<SocketAddr>,
    /// Let every user of this machine connect to that address; without it only you and root can
    #[arg(long, requires = "nvme_tcp", conflicts_with_all = ["vhost_user_scsi", "nvme_secret"])]
    any_local_user: bool,
    /// Serve it to a virtual machine as a SCSI disk (vhost-user-scsi) on this unix socket, with SCSI's and ATA's
    /// security commands
    #[arg(long, value_name = "SOCKET", group = "served", conflicts_with = "nvme_tcp", value_parser = OsStringValueParser::new().map(|given| size::socket(&given)))]
    vhost_user_scsi: Option<PathBuf>,
    /// The name that hosts connect to
    #[arg(long, value_name = "NQN", requires = "nvme_tcp", conflicts_with = "vhost_user_scsi")]
    nqn: Option<String>,
    #[command(flatten)]
    auth: AuthArgs,
    #[command(flatten)]
    dry: DryRunArgs,
}

fn profile(name: &str) -> Result<Profile, String> {
    let names = || Profile::ALL.map(Profile::name).join(", ");
    Profile::named(name).ok_or_else(|| format!("there are {}", names()))
}

pub(super) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    // Clap does not ask for an option that another one rules out.
    if args.vhost_user_scsi.is_some() && args.auth.read()?.is_some() {
        return Err(Failure::usage(
            "--nvme-secret is for --nvme-tcp: to the socket, only its owner connects",
            "leave out --nvme-secret",
        ));
    }
    let block_bytes = if args.block_size == "4096" { 4096 } else { 512 };
    let plan = json!({"file": in_json(&args.file), "size_bytes": args.size, "block_bytes": block_bytes, "profile": args.profile.name()});
    args.size.map_or(Ok(()), |_| VirtualDrive::must_be_new(&args.file))?;
    if args.size.is_some() && !args.dry.go_on(&plan, None, out)? {
        return Ok(());
    }
    let mut drive = match args.size {
        Some(size) => VirtualDrive::create(&args.file, args.profile, size, block_bytes)?,
        None => VirtualDrive::open(&args.file)?,
    };
    drive.inject(&args.fault);
    if let Some(address) = args.nvme_tcp {
        let users = if args.any_local_user { LocalUsers::Any } else { LocalUsers::Own };
        let known = args.auth.read()?.map(|text| Credentials::parse(&text).map_err(SessionError::HostSecret));
        let credentials = known.transpose()?.map(Arc::new);
        let mut options = NvmeOptions { credentials, users, ..NvmeOptions::default() };
        options.nqn = args.nqn.clone().unwrap_or(options.nqn);
        drive.bind_nvme_tcp(address, &options)?;
    } else if let Some(socket) = &args.vhost_user_scsi {
        drive.bind_scsi(socket)?;
    } else {
        return tell(&drive.info(), out);
    }
    let stop = drive.stop_by_signals(move |cycled| match cycled {
        Ok(()) => out.warn("the power was cycled"),
        Err(e) => out.warn(&format!("the power was cycled, and the drive did not come back: {e}")),
    })?;
    tell(&drive.info(), out)?;
    Ok(drive.serve(&stop)?)
}

/// Says what there is now, and how to get to it.
fn tell(info: &VirtualDriveInfo, out: Output) -> Result<(), Failure> {
    let (host, port) = info.address.map(|at| (at.ip(), at.port())).unzip();
    let facts = facts(info, json!({"host": host, "port": port}));
    out.result(info, || {
        ["virtual", "address", "socket", "file-alone"].map(|w| said(&format!("drive {w}"), &facts)).concat()
    })
}
