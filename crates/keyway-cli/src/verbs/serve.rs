//! `serve`: a volume for virtual machines and other programs, over NBD, vhost-user or NVMe/TCP.

use super::open;
use crate::nvme_auth::AuthArgs;
use crate::verbs::*;
use clap::builder::{OsStringValueParser, TypedValueParser};
use keyway::session::{AttachBy, AttachRequest, Attachment, LocalUsers, NbdAddress, SessionSecrets};
use keyway::spelled::{address, socket, socket_address};
use std::net::SocketAddr;

/// Serve a volume to virtual machines and NBD clients
///
/// It is served until it is closed or Ctrl-C comes.
#[derive(clap::Args, Debug)]
#[command(override_usage = "keyway serve VOLUME --nbd ADDR | --vhost-user PATH | --nvme-tcp ADDR")]
#[group(id = "way", required = true, multiple = false, args = ["nbd", "vhost_user", "nvme_tcp"])]
pub(crate) struct Args {
    /// Where clients connect: unix:PATH or tcp:127.0.0.1:PORT; with --tls-certificates any address
    #[arg(long, value_name = "ADDRESS", value_parser = OsStringValueParser::new().try_map(|given| address(&given)))]
    nbd: Option<NbdAddress>,
    /// Speak TLS, with the certificates in this folder (ca-cert.pem, server-cert.pem, server-key.pem); clients show one, too
    #[arg(long, value_name = "FOLDER", requires = "nbd")]
    tls_certificates: Option<PathBuf>,
    /// A disk for a virtual machine, on a unix socket at this path (vhost-user-blk)
    #[arg(long, value_name = "PATH", value_parser = OsStringValueParser::new().map(|given| socket(&given)))]
    vhost_user: Option<PathBuf>,
    /// An NVMe drive for the kernel's own driver (NVMe/TCP): 127.0.0.1:PORT; with --nvme-secret any address
    #[arg(long, value_name = "ADDRESS", value_parser = socket_address)]
    nvme_tcp: Option<SocketAddr>,
    /// Let every user of this machine connect to a loopback port, who can then read the volume and write to it; without it
    /// only you and root can
    #[arg(long)]
    any_local_user: bool,
    /// Refuse every write
    #[arg(long, aliases = ["ro", "readonly"], short_alias = 'r')]
    read_only: bool,
    /// Pass discards (TRIM) on to the medium: keeps an SSD fast and a file sparse, and shows which parts are unused
    #[arg(long, conflicts_with = "read_only")]
    allow_discards: bool,
    /// Return as soon as it serves, and serve on until `keyway close`
    #[arg(long)]
    background: bool,
    #[command(flatten)]
    hosts: AuthArgs,
    #[command(flatten)]
    confined: SandboxArgs,
    #[command(flatten)]
    on: TargetArgs,
}

impl Args {
    fn attachment(&self) -> Attachment {
        match (&self.nbd, &self.vhost_user, self.nvme_tcp) {
            (_, _, Some(address)) => Attachment::NvmeTcp(address),
            (_, Some(path), None) => Attachment::VhostUser(Some(path.clone())),
            (address, None, None) => {
                let at = address.clone().unwrap_or(NbdAddress::Session);
                Attachment::Nbd(match self.tls_certificates.clone() {
                    Some(certificates) => NbdAddress::Tls { at: Box::new(at), certificates },
                    None => at,
                })
            }
        }
    }
}

pub(crate) fn run(args: &Args, out: Output) -> Result<(), Failure> {
    // Clap asks for no option that another one rules out.
    if (args.hosts.is_given() && args.nvme_tcp.is_none())
        || (args.tls_certificates.is_some() && args.nbd.is_none())
    {
        return Err(Failure::usage(
            "--nvme-secret goes with --nvme-tcp, and --tls-certificates with --nbd",
            "leave it out, or serve the volume the other way",
        ));
    }
    let volume = args.on.target.locked()?;
    let by = AttachBy::To(args.attachment());
    let mut request = AttachRequest::new(&volume.path, volume.arguments.clone(), by);
    (request.read_only, request.discards) = (args.read_only, args.allow_discards);
    request.users = if args.any_local_user { LocalUsers::Any } else { LocalUsers::Own };
    (request.hosts_prove, request.require_sandbox) = (args.hosts.is_given(), args.confined.require_sandbox);
    let plan = request.plan()?;
    volume.must_be_one()?;
    if args.nvme_tcp.is_some_and(|at| !at.ip().is_loopback()) {
        out.warn(
            "hosts prove who they are, and what they read and write crosses the network as it is: keep it to a network \
             that you trust",
        );
    }
    if !args.on.dry.go_on(&plan, None, out)? {
        return Ok(());
    }
    if args.hosts.is_stdin() && args.on.target.source().uses_stdin() {
        return Err(Failure::usage(
            "two secrets can't both come from standard input",
            "give one of them with --password-fd N or in a file",
        ));
    }
    let hosts = args.hosts.read()?;
    let mut secrets = SessionSecrets::from(volume.key()?);
    secrets.hosts = hosts;
    open::serve(&plan, secrets, !args.background, out)
}
