//! `serve`: a volume for virtual machines and other programs, over NBD, vhost-user or NVMe/TCP.

use super::open;
use crate::address::{address, on_this_machine, socket_address};
use crate::failure::Failure;
use crate::given::{self, KeyArgs};
use crate::narrow::NarrowArgs;
use crate::nvme_auth::AuthArgs;
use crate::output::Output;
use crate::secrets_in::SecretArgs;
use crate::volume::{self, Which};
use keyway::session::{Attachment, LocalUsers, NbdAddress, SessionSecrets};
use keyway_attach::AttachError;
use keyway_attach::nbd::Certificates;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Serve a volume to virtual machines or NBD clients until it is closed or Ctrl-C comes
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway serve secret.hc --nbd unix:/run/user/1000/secret.sock
  $ keyway serve /dev/sdb1 --nbd tcp:127.0.0.1:10809 --read-only --password-file pw.txt
  $ keyway serve secret.hc --nbd tcp:0.0.0.0:10809 --tls-certificates /etc/pki/keyway
  $ keyway serve secret.hc --vhost-user /run/user/1000/disk.sock
  $ keyway serve secret.hc --nvme-tcp 127.0.0.1:4420
  $ keyway serve secret.hc --nvme-tcp 192.0.2.1:4420 --nvme-secret hosts.txt")]
#[group(id = "way", required = true, multiple = false, args = ["nbd", "vhost_user", "nvme_tcp"])]
pub(crate) struct Args {
    /// The volume's file or block device
    volume: PathBuf,
    /// Where clients connect: unix:PATH or tcp:127.0.0.1:PORT; with --tls-certificates any address
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    nbd: Option<NbdAddress>,
    /// Speak TLS, with the certificates in this folder (ca-cert.pem, server-cert.pem, server-key.pem); clients show one, too
    #[arg(long, value_name = "FOLDER", requires = "nbd")]
    tls_certificates: Option<PathBuf>,
    /// A disk for a virtual machine, on a unix socket at this path (vhost-user-blk)
    #[arg(long, value_name = "PATH")]
    vhost_user: Option<PathBuf>,
    /// An NVMe drive for the kernel's own driver (NVMe/TCP): 127.0.0.1:PORT; with --nvme-secret any address
    #[arg(long, value_name = "ADDRESS", value_parser = socket_address)]
    nvme_tcp: Option<SocketAddr>,
    /// Let every user of this machine connect to a loopback port, who can then read the volume and write to it; without it
    /// only you and root can
    #[arg(long)]
    any_local_user: bool,
    /// Refuse every write
    #[arg(long)]
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
    secret: SecretArgs,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    narrow: NarrowArgs,
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

/// Runs the verb.
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
    let attachment = args.attachment();
    let open_port = attachment.unproven_port(args.hosts.is_given());
    if args.any_local_user && open_port.is_none() {
        return Err(Failure::usage(
            "--any-local-user is for a loopback port at which nobody must prove anything",
            "leave it out: unix sockets are their owner's, and TLS and --nvme-secret say who may connect",
        ));
    }
    volume::must_exist(&args.volume)?;
    if !args.read_only {
        volume::must_be_writable(&args.volume)
            .map_err(|e| e.hint("add --read-only, or run it as a user who may write to it"))?;
    }
    open::refuse_if_open(&args.volume, args.read_only)?;
    if let Some(folder) = &args.tls_certificates {
        let folder = std::path::absolute(folder).map_err(|e| Failure::io("find", folder, &e))?;
        // Before anyone types a password.
        Certificates::from_folder(&folder).map_err(AttachError::from)?;
    }
    if let Some(what) = open_port.and_then(|at| on_this_machine(at).err()) {
        return Err(Failure::usage(
            what,
            match args.nvme_tcp {
                None => "use a loopback address, or --tls-certificates FOLDER",
                Some(_) => {
                    "use a loopback address, or --nvme-secret FILE: it lets in only who proves a secret, and encrypts nothing"
                }
            },
        ));
    }
    if args.nvme_tcp.is_some_and(|at| on_this_machine(at).is_err()) {
        out.warn(
            "hosts prove who they are, and what they read and write crosses the network as it is: keep it to a network \
             that you trust",
        );
    }
    if args.hosts.is_stdin() && args.secret.source().uses_stdin() {
        return Err(Failure::usage(
            "two secrets can't both come from standard input",
            "give one of them with --password-fd N or in a file",
        ));
    }
    let hosts = args.hosts.read()?;
    let which = Which::new(&args.volume, &args.narrow);
    let own = given::read(&which, &args.secret.source(), &args.keys)?;
    let mut secrets = SessionSecrets::from(own);
    secrets.hosts = hosts;
    let mut plan = which.to_serve(attachment)?;
    (plan.read_only, plan.discards) = (args.read_only, args.allow_discards);
    plan.users = if args.any_local_user { LocalUsers::Any } else { LocalUsers::Own };
    open::serve(&plan, secrets, !args.background, out)
}
