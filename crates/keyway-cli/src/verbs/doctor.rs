//! `doctor`: what this machine can do, what would be chosen, and why.

use crate::attach_words::because;
use crate::failure::Failure;
use crate::output::{Output, bytes, pairs};
use keyway::session::{Need, Wish, choose};
use keyway_attach::session::find_program;
use keyway_cipher::Kernel;
use keyway_fs::mkfs::FileSystem;
use rustix::process::{Resource, getrlimit};
use serde::Serialize;

/// What Argon2id without a PIM takes: 416 MiB (VeraCrypt's documentation, "PIM").
const ARGON2ID_BYTES: u64 = 416 << 20;

/// Tell what this machine can do, what would be chosen, and why
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  $ keyway doctor
  $ sudo keyway doctor --json")]
pub(crate) struct Args {}

#[derive(Serialize)]
struct Document {
    root: bool,
    processor: String,
    cpu_features: Vec<String>,
    cores: usize,
    kernels: Vec<&'static str>,
    kernel: &'static str,
    memory_bytes: Option<u64>,
    memory_available_bytes: Option<u64>,
    argon2id: Part,
    /// Bytes that may be locked; `null` is no limit.
    memlock_bytes: Option<u64>,
    fuse: Part,
    fusermount3: bool,
    loop_device: Part,
    dm_crypt: Part,
    nbd: Part,
    vhost_user: Part,
    nvme_tcp: Part,
    ublk: Part,
    filesystems: Vec<&'static str>,
    attachment: &'static str,
    because: String,
}

#[derive(Serialize)]
struct Part {
    usable: bool,
    reason: Option<String>,
}

impl From<Result<(), String>> for Part {
    fn from(result: Result<(), String>) -> Self {
        Self { usable: result.is_ok(), reason: result.err() }
    }
}

impl Part {
    fn words(&self) -> String {
        match &self.reason {
            None => "yes".to_owned(),
            Some(why) => format!("no: {why}"),
        }
    }
}

/// Runs the verb.
pub(crate) fn run(_: &Args, out: Output) -> Result<(), Failure> {
    let document = look();
    out.result(&document, || words(&document))
}

fn look() -> Document {
    let root = rustix::process::geteuid().is_root();
    let (processor, cpu_features) = keyway_sys::machine::processor();
    let (memory_bytes, memory_available_bytes) = keyway_sys::machine::memory();
    let kernels: Vec<_> = Kernel::available().iter().map(|k| k.name()).collect();
    let needs = [Need::Fuse, Need::LoopDevice, Need::DmCrypt, Need::Ublk];
    let [fuse, loop_device, dm_crypt, ublk] =
        needs.map(|need| Part::from(need.check(Wish::default()).map_err(|why| why.to_string())));
    let chosen = choose(Wish::default(), |_| true).ok().map(|choice| choice.candidate);
    let always = || Part { usable: true, reason: None };
    let argon2id = match memory_available_bytes {
        Some(have) if have < ARGON2ID_BYTES => {
            Err(format!("it takes {} and {} can be had", bytes(ARGON2ID_BYTES), bytes(have)))
        }
        _ => Ok(()),
    };
    Document {
        root,
        processor,
        cpu_features,
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        kernel: kernels.last().copied().unwrap_or("portable"),
        kernels,
        memory_bytes,
        memory_available_bytes,
        argon2id: argon2id.into(),
        memlock_bytes: getrlimit(Resource::Memlock).current,
        fuse,
        fusermount3: find_program("fusermount3").is_some(),
        loop_device,
        dm_crypt,
        nbd: always(),
        vhost_user: always(),
        nvme_tcp: always(),
        ublk,
        filesystems: FileSystem::ALL
            .iter()
            .filter(|f| f.find_program().is_some())
            .map(|f| f.name())
            .collect(),
        attachment: chosen.map_or("", |candidate| candidate.name),
        because: chosen.map_or_else(String::new, |candidate| because(candidate).to_owned()),
    }
}

fn words(d: &Document) -> String {
    let known = |n: Option<u64>| n.map_or_else(|| "unknown".to_owned(), bytes);
    let or_none = |words: &[String]| if words.is_empty() { "none".to_owned() } else { words.join(" ") };
    let missing: Vec<_> = FileSystem::ALL
        .iter()
        .filter(|f| !d.filesystems.contains(&f.name()))
        .map(|f| format!("{} (package {})", f.name(), f.package()))
        .collect();
    let mut rows = vec![
        ("user", if d.root { "root".to_owned() } else { "not root".to_owned() }),
        ("processor", format!("{}, {} core(s)", d.processor, d.cores)),
        ("features", or_none(&d.cpu_features)),
        ("cipher kernels", format!("{}; {} would be chosen, the fastest", d.kernels.join(", "), d.kernel)),
        ("memory", format!("{}, {} of it to be had", known(d.memory_bytes), known(d.memory_available_bytes))),
        ("Argon2id", d.argon2id.words()),
        (
            "locked memory",
            d.memlock_bytes.map_or_else(|| "no limit".to_owned(), |n| format!("up to {}", bytes(n))),
        ),
        ("FUSE", d.fuse.words()),
        ("fusermount3", if d.fusermount3 { "yes" } else { "no: install the package fuse3" }.to_owned()),
        ("loop device", d.loop_device.words()),
        ("dm-crypt", d.dm_crypt.words()),
        ("NBD server", d.nbd.words()),
        ("vhost-user", d.vhost_user.words()),
        ("NVMe/TCP", d.nvme_tcp.words()),
        (
            "ublk",
            match d.ublk.usable && !d.root {
                true => "yes, where udev hands the devices over; without root they end with their server"
                    .to_owned(),
                false => d.ublk.words(),
            },
        ),
        ("file systems", or_none(&d.filesystems.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>())),
    ];
    if !missing.is_empty() {
        rows.push(("not installed", missing.join(", ")));
    }
    format!("{}\n`keyway open` would attach by {}: {}.\n", pairs(&rows), d.attachment, d.because)
}
