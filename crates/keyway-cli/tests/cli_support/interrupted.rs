//! Conversions that were ended by force in the middle.

use super::{Cli, PASSWORD};
use keyway_testkit::Rng;
use serde_json::Value;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const OTHER: &str = "another-twenty-characters-and-more";
const SIZE: u64 = 72 << 20;

/// A conversion, how it is begun and gone on with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) begin: &'static str,
    pub(crate) secret: &'static str,
    /// How the volume opens when it is through.
    pub(crate) opens: &'static str,
    /// It begins with a volume, which this makes.
    before: Option<&'static str>,
}

pub(crate) const VERACRYPT: Case = Case {
    begin: "encrypt @d --password-file @pw --pim 1 --yes",
    secret: "--password-file @pw --pim 1",
    opens: "--password-file @pw --pim 1",
    before: None,
};

pub(crate) const BITLOCKER: Case = Case {
    begin: "encrypt @d --format bitlocker --no-recovery-password --password-file @pw --yes",
    secret: "--password-file @pw",
    opens: "--password-file @pw",
    before: None,
};

pub(crate) const BETWEEN: Case = Case {
    begin: "encrypt @d --reencrypt --format bitlocker --no-recovery-password --password-file @pw --pim 1 \
            --new-password-file @pw2 --yes",
    secret: "--password-file @pw --pim 1 --new-password-file @pw2",
    opens: "--password-file @pw2",
    before: Some("encrypt @d --password-file @pw --pim 1 --yes"),
};

impl Case {
    pub(crate) fn is_between(self) -> bool {
        self.before.is_some()
    }
}

/// With the secrets of all of them, and a folder for journals.
pub(crate) fn new() -> Cli {
    let cli = Cli::new();
    cli.keyway.secret("pw", PASSWORD);
    cli.keyway.secret("pw2", OTHER);
    std::fs::create_dir(cli.path("away")).expect("made");
    cli
}

/// What lies on the medium before, and as it is when the power fails in the middle; the journal is `@away/journal`.
pub(crate) fn interrupted(cli: &Cli, case: Case, journal: &str) -> Option<[Vec<u8>; 2]> {
    let content = cli.path("content");
    std::fs::create_dir_all(&content).expect("made");
    std::fs::write(content.join("big"), Rng::new(7).bytes(20 << 20)).expect("written");
    cli.make("d", SIZE, "mkfs.ext4", &["-q", "-F", "-d", content.to_str().expect("text")])?;
    if let Some(words) = case.before {
        cli.ends(0, words);
    }
    let before = std::fs::read(cli.path("d")).expect("read");
    let mut child = start(cli, &format!("{} --limit 2 {journal}", case.begin));
    let began = Instant::now();
    loop {
        let status = cli.run("status @d --json");
        let document: Value = serde_json::from_slice(&status.stdout).unwrap_or_default();
        if document["done_bytes"].as_u64() > Some(1 << 20) {
            break;
        }
        assert!(child.try_wait().expect("known").is_none(), "it has ended: {document}");
        assert!(began.elapsed() < keyway_testkit::PATIENCE, "it does not get going: {document}");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().expect("SIGKILL");
    child.wait().expect("ends");
    Some([before, std::fs::read(cli.path("d")).expect("read")])
}

pub(crate) fn start(cli: &Cli, words: &str) -> Child {
    let mut command = cli.command(cli.words(words));
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("keyway starts")
}
