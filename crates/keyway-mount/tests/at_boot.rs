//! systemd calls `mount.keyway` for favourites that come up at start-up: units of good tables, bad ones and hostile ones, with systemd
//! as their judge; and what the service of a favourite opens.
#![allow(clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use keyway_testkit::{
    copy_program, leave_out, require_fuse, require_root, require_tool, shell_script, workspace_root,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const MOUNT: &str = env!("CARGO_BIN_EXE_mount-keyway");

/// A table of favourites, and the folders that systemd gives to a generator.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(table: &str) -> Self {
        let machine = Self(tempfile::tempdir().expect("a folder"));
        for folder in ["normal", "early", "late", "bin", "sbin"] {
            fs::create_dir(machine.path(folder)).expect("made");
        }
        fs::write(machine.path("table"), table).expect("written");
        copy_program(MOUNT, machine.path("sbin/mount.keyway"));
        machine
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn program(&self) -> Command {
        let mut program = Command::new(self.path("sbin/mount.keyway"));
        program.env("KEYWAY_FAVOURITES", self.path("table")).stdin(Stdio::null());
        // A line in the kernel's log is for machines that start.
        program.env_remove("SYSTEMD_SCOPE").env_remove("CREDENTIALS_DIRECTORY");
        program
    }

    /// What is said where units are made, which always ends well.
    fn units(&self) -> String {
        let mut program = self.program();
        program.arg("--units").args(["normal", "early", "late"].map(|folder| self.path(folder)));
        let done = program.output().expect("it starts");
        assert!(done.status.success() && done.stdout.is_empty(), "{done:?}");
        text(&done.stderr)
    }

    /// Every file below a folder, by its path there.
    fn files(&self, folder: &str) -> BTreeSet<String> {
        let (mut found, mut folders) = (BTreeSet::new(), vec![self.path(folder)]);
        while let Some(below) = folders.pop() {
            for entry in fs::read_dir(below).expect("a folder").flatten() {
                match entry.file_type().expect("a type") {
                    kind if kind.is_dir() => folders.push(entry.path()),
                    _ => {
                        let path = entry.path();
                        let path = path.strip_prefix(self.path(folder)).expect("below");
                        found.insert(path.to_str().expect("plain").to_owned());
                    }
                }
            }
        }
        found
    }

    fn unit(&self, path: &str) -> String {
        fs::read_to_string(self.path("normal").join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// What systemd has to say of a service with these units.
    fn judged(&self, analyze: &Path, service: &str) -> String {
        let template = workspace_root().join("crates/keyway-mount/data/keyway@.service");
        let template = fs::read_to_string(template).expect("the template");
        // Programs that are there.
        let template =
            template.replace("/usr/sbin/mount.keyway", "/bin/true").replace("/usr/bin/keyway", "/bin/true");
        fs::write(self.path("late/keyway@.service"), template).expect("written");
        let paths = format!("{}:{}:", self.path("normal").display(), self.path("late").display());
        let mut judge = Command::new(analyze);
        judge.args(["verify", "--man=no", service]).env("SYSTEMD_UNIT_PATH", paths);
        let said = judge.output().expect("it starts");
        format!("{}{}", text(&said.stdout), text(&said.stderr))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const TABLE: &str = r#"
[my-photos]
volume = "/srv/50% of \"mine\"\\photos.hc"
mountpoint = "/srv/my photos"
options = ["--pim=7", "--keyfile=/etc/keyway/a.key,/etc/keyway/b.key", "--password-file=credential:photos"]
at_boot = true

[backup]
volume = "/dev/disk/by-partuuid/0f3c-01"
options = ["--read-only", "--recovery-password=encrypted-credential:backup.recovery"]
at_boot = true

[inner]
volume = "/srv/my photos/inner.hc"
mountpoint = "/inner"

[wrong]
volume = "relative.hc"
at_boot = true
"#;

#[test]
fn the_units_of_a_table_are_what_systemd_takes() {
    let machine = Machine::new(TABLE);
    let said = machine.units();
    assert!(said.contains("[wrong]: volume has to be a whole path") && said.lines().count() == 1, "{said}");
    let expected = [
        "inner.mount.d/50-keyway.conf",
        "keyway@backup.service.d/50-keyway.conf",
        "keyway@inner.service.d/50-keyway.conf",
        r"keyway@my\x2dphotos.service.d/50-keyway.conf",
        "multi-user.target.wants/keyway@backup.service",
        r"multi-user.target.wants/keyway@my\x2dphotos.service",
        "run-keyway-.mount.d/50-keyway.conf",
        r"srv-my\x20photos.mount.d/50-keyway.conf",
    ];
    assert_eq!(machine.files("normal").iter().map(String::as_str).collect::<Vec<_>>(), expected);
    let photos = machine.unit(r"keyway@my\x2dphotos.service.d/50-keyway.conf");
    for line in [
        r#"RequiresMountsFor="/srv/50%% of \"mine\"\\photos.hc""#,
        r#"RequiresMountsFor="/srv""#,
        r#"RequiresMountsFor="/etc/keyway/b.key""#,
        "LoadCredential=photos",
    ] {
        assert!(photos.lines().any(|there| there == line), "{line}\n{photos}");
    }
    let backup = machine.unit("keyway@backup.service.d/50-keyway.conf");
    for line in [
        r"BindsTo=dev-disk-by\x2dpartuuid-0f3c\x2d01.device",
        r"After=dev-disk-by\x2dpartuuid-0f3c\x2d01.device",
        "LoadCredentialEncrypted=backup.recovery",
    ] {
        assert!(backup.lines().any(|there| there == line), "{line}\n{backup}");
    }
    let inner = machine.unit("keyway@inner.service.d/50-keyway.conf");
    assert!(
        inner.contains("Requires=keyway@my\\x2dphotos.service\nAfter=keyway@my\\x2dphotos.service\n"),
        "{inner}"
    );
    let mount = machine.unit("inner.mount.d/50-keyway.conf");
    assert_eq!(mount, "[Unit]\nDefaultDependencies=no\nAfter=keyway@inner.service\n");
    assert!(machine.files("early").is_empty());
    // Once more: systemd reloads.
    assert_eq!(machine.units(), said);

    let Some(analyze) = require_tool("systemd-analyze") else { return };
    for service in [r"keyway@my\x2dphotos.service", "keyway@backup.service", "keyway@inner.service"] {
        assert_eq!(machine.judged(&analyze, service), "", "{service}");
    }
    let wrong = machine.path("normal/keyway@inner.service.d/60-wrong.conf");
    fs::write(wrong, "[Unit]\nRequiresMountsFor=relative\n").expect("written");
    assert!(machine.judged(&analyze, "keyway@inner.service").contains("60-wrong"), "it judges nothing");
}

#[test]
fn systemd_escapes_names_as_we_do() {
    let Some(escape) = require_tool("systemd-escape") else { return };
    let name = "Ä_b-c.d";
    let machine = Machine::new(&format!(
        "['{name}']\nvolume = '/v'\nmountpoint = '/srv//.x/a b%\\y/'\nat_boot = true\n"
    ));
    assert_eq!(machine.units(), "");
    let said = |words: &[&str]| {
        text(&Command::new(&escape).args(words).output().expect("it starts").stdout).trim_end().to_owned()
    };
    let service = said(&["--template=keyway@.service", "--", name]);
    let mount = said(&["--path", "--suffix=mount", "--", r"/srv//.x/a b%\y/"]);
    let files = machine.files("normal");
    assert!(files.contains(&format!("multi-user.target.wants/{service}")), "{service}: {files:?}");
    assert!(files.contains(&format!("{mount}.d/50-keyway.conf")), "{mount}: {files:?}");
}

#[test]
fn no_table_keeps_a_machine_from_starting() {
    let long = "x".repeat(4096);
    let good = "[good]\nvolume = '/good.hc'\nat_boot = true\n";
    for (entry, told) in [
        ("[\"a\\nExecStart=/bin/sh\"]\nvolume = '/v'".to_owned(), "can be in a name"),
        ("['../../../etc/passwd']\nvolume = '/v'".to_owned(), "can be in a name"),
        ("['%i']\nvolume = '/v'".to_owned(), "can be in a name"),
        (format!("[{long}]\nvolume = '/v'"), "can be in a name"),
        (format!("[v]\nvolume = '/{long}'"), "volume has to be"),
        ("[v]\nvolume = \"/v\\n[Service]\\nExecStart=/bin/sh\"".to_owned(), "volume has to be"),
        ("[v]\nvolume = '/dev/../v'".to_owned(), "volume has to be"),
        (format!("[v]\nvolume = '/dev/{}'", &long[..250]), "too long"),
        ("[v]\nvolume = '/v'\nmountpoint = '/'".to_owned(), "mountpoint has to be"),
        ("[v]\nvolume = 7".to_owned(), "invalid type"),
        ("[v]\nvolume = '/v'\nat_bot = true".to_owned(), "at_bot"),
        ("[v]\nvolume = '/v'\noptions = ['--keyfile=credential:a/b']".to_owned(), "credential's name"),
        ("[v]\nvolume = '/v'\noptions = [\"--x=\\nExecStart=/bin/sh\"]".to_owned(), "--x"),
        ("[v]\nvolume = '/v'\noptions = ['--password-fd=3']".to_owned(), "--password-fd"),
        (
            "[v]\nvolume = '/v'\noptions = ['--recovery-password=111111-222222']".to_owned(),
            "--recovery-password",
        ),
    ] {
        let machine = Machine::new(&format!("{entry}\nat_boot = true\n{good}"));
        let said = machine.units();
        assert!(said.contains(told), "{entry}: {said}");
        assert!(
            said.lines().all(|line| line.starts_with("keyway-generator: ") && line.len() < 700),
            "{said}"
        );
        assert!(!said.contains("222222"), "{said}");
        let files = machine.files("normal");
        let expected = [
            "keyway@good.service.d/50-keyway.conf",
            "multi-user.target.wants/keyway@good.service",
            "run-keyway-.mount.d/50-keyway.conf",
        ];
        assert_eq!(files.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{entry}");
        assert!(!machine.unit(expected[0]).contains("ExecStart"), "{entry}");
    }
    let cut = Machine::new(&format!("{good}[cut\n"));
    let of_every_volume = BTreeSet::from(["run-keyway-.mount.d/50-keyway.conf".to_owned()]);
    assert!(cut.units().contains("line 4") && cut.files("normal") == of_every_volume);
    let mut many = String::new();
    for at in 0..10_000 {
        many +=
            &format!("[v{at}]\nvolume = '{}/v{at}'\nat_boot = true\n", if at % 2 == 0 { "" } else { "." });
    }
    let many = Machine::new(&many);
    let said = many.units();
    assert!(said.lines().count() <= 21 && said.contains("more are left out"), "{said}");
    assert!((1..=1000).contains(&many.files("normal/multi-user.target.wants").len()));
    let none = Machine::new("");
    fs::remove_file(none.path("table")).expect("removed");
    assert_eq!((none.units(), none.files("normal")), (String::new(), of_every_volume));
    // Nor does a folder where nothing can be written.
    let gone = Machine::new(good);
    fs::remove_dir(gone.path("normal")).expect("removed");
    fs::write(gone.path("normal"), "a file").expect("written");
    assert!(gone.units().contains("cannot write units"));
}

fn opened(machine: &Machine, name: &str, credentials: bool) -> Output {
    shell_script(machine.path("bin/keyway"), r#"{ printf '%s\n' "$@"; cat; } >"${0%/*}/said""#);
    shell_script(machine.path("bin/systemd-ask-password"), "echo from the boot screen");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ours = [machine.path("bin")];
    let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&path))).expect("plain");
    let mut program = machine.program();
    if credentials {
        program.env("CREDENTIALS_DIRECTORY", "/run/credentials/of-it");
    }
    program.args(["--favourite", name]).env("PATH", path).output().expect("it starts")
}

#[test]
fn a_service_opens_its_favourite() {
    let machine =
        Machine::new(&format!("{TABLE}\n[plain]\nvolume = '/srv/plain.hc'\noptions = ['--pim=1']\n"));
    let said = || fs::read_to_string(machine.path("bin/said")).expect("it was called");
    let done = opened(&machine, "my-photos", true);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let words = "open\n--pim=7\n--keyfile=/etc/keyway/a.key,/etc/keyway/b.key\n\
                 --password-file=/run/credentials/of-it/photos\n--\n/srv/50% of \"mine\"\\photos.hc\n/srv/my photos\n";
    assert_eq!(said(), words);
    let done = opened(&machine, "backup", true);
    assert!(done.status.success(), "{}", text(&done.stderr));
    let words = "open\n--read-only\n--recovery-password=/run/credentials/of-it/backup.recovery\n--\n/dev/disk/by-partuuid/0f3c-01\n";
    assert_eq!(said(), words);
    for (name, told) in [("wrong", "volume has to be a whole path"), ("other", "there is no favourite other")]
    {
        let refused = opened(&machine, name, true);
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains(told), "{}", text(&refused.stderr));
    }
    if !Path::new("/run/systemd/ask-password").is_dir() {
        leave_out("systemd asks nobody here");
        return;
    }
    let done = opened(&machine, "plain", false);
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert_eq!(said(), "open\n--pim=1\n--password-file\n-\n--\n/srv/plain.hc\nfrom the boot screen\n");
}

/// Run in a mount namespace of its own.
const SCRIPT: &str = r#"
set -eu
trap 'keyway close --all >/dev/null 2>&1 || true' EXIT
say() { echo "at_boot.rs: $*" >&2; exit 1; }
cd "$FOLDER"
mkdir at credentials empty run
printf 'a password of twenty letters' >credentials/box.pw
keyway create box.hc --size 20M --filesystem ext4 --quick --pim 1 --password-file credentials/box.pw >/dev/null 2>&1
cat >table <<END
[box]
volume = "$FOLDER/box.hc"
mountpoint = "$FOLDER/at"
options = ["--pim=1", "--hash=sha512", "--password-file=credential:box.pw"]
at_boot = true
END
cd empty
CREDENTIALS_DIRECTORY=$FOLDER/credentials mount.keyway --favourite box
echo a letter >"$FOLDER/at/letter"
# The service's stop, by the volume's path: this test's table is not the machine's.
keyway close --if-open -- "$FOLDER/box.hc"
! mountpoint -q "$FOLDER/at" || say 'it is still mounted'
keyway close --if-open -- "$FOLDER/box.hc"
printf wrong >"$FOLDER/credentials/box.pw"
if CREDENTIALS_DIRECTORY=$FOLDER/credentials mount.keyway --favourite box 2>said; then say 'opened by a wrong one'; fi
grep -q 'no header opened' said || say "$(cat said)"
! grep -q credstore said || say "it is there: $(cat said)"
rm "$FOLDER/credentials/box.pw"
if CREDENTIALS_DIRECTORY=$FOLDER/credentials mount.keyway --favourite box 2>said; then say 'opened by none'; fi
grep -q 'there is no credential /etc/credstore/box.pw' said || say "$(cat said)"
"#;

#[test]
fn a_favourite_is_opened_with_a_credential_and_closed() {
    if !(require_root() && require_fuse()) {
        return;
    }
    let (Some(_), Some(unshare)) = (require_tool("mkfs.ext4"), require_tool("unshare")) else { return };
    let keyway = Path::new(MOUNT).with_file_name("keyway");
    if !keyway.is_file() {
        leave_out("the program itself was not built: cargo build");
        return;
    }
    let machine = Machine::new("");
    copy_program(&keyway, machine.path("bin/keyway"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ours = [machine.path("bin"), machine.path("sbin")];
    let path = std::env::join_paths(ours.into_iter().chain(std::env::split_paths(&path))).expect("plain");
    let mut script = keyway_testkit::own_mounts(&unshare, &[], machine.0.path());
    script.args(["bash", "-c", SCRIPT]).env("PATH", path);
    script.env("FOLDER", machine.0.path()).env("KEYWAY_FAVOURITES", machine.path("table"));
    script.env("KEYWAY_RUNTIME_DIR", machine.path("run/sessions")).stdin(Stdio::null());
    let done = script.output().expect("it starts");
    assert!(done.status.success(), "{}\n{}", text(&done.stdout), text(&done.stderr));
}
