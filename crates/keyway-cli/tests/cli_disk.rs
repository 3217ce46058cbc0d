//! A whole disk is named where one of its partitions is meant: which one is said before anybody is asked for a secret, and
//! nothing outside of it is touched.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod cli_support;

use cli_support::{Cli, PASSWORD, has_fuse, interrupted};
use keyway_testkit::{require_root, require_tool, skip};
use std::fs::{create_dir, read, write};
use std::path::PathBuf;
use std::process::{Command, Output};

const SECTOR: usize = 512;
const MIB: usize = 1 << 20;

/// A partition's conversion goes on on its own device, and nothing else is said of the disk that it is on.
#[test]
fn a_half_converted_partition_is_resumed_on_its_own_device() {
    let cli = interrupted::new();
    let Some([_, half]) = interrupted::interrupted(&cli, interrupted::VERACRYPT, "--journal @away/journal")
    else {
        return;
    };
    write(cli.path("half"), half).expect("written");
    let volumes = Volumes { cli };
    volumes.disk("disk.img", &["half"]);
    let Volumes { cli } = volumes;
    for words in ["open @disk.img", "ls @disk.img", "get @disk.img a", "header check @disk.img"] {
        let whole = &format!("`losetup -fP --show {}`", cli.path("disk.img").display());
        cli.fails(1, "converting", whole, words);
    }
    cli.refused("usage", "losetup -fP --show", "resume @disk.img --password-file @pw --pim 1");
}

/// Volumes that are to be partitions.
struct Volumes {
    cli: Cli,
}

impl Volumes {
    /// A VeraCrypt volume `hc` of 1 MiB.
    fn new() -> Self {
        let cli = Cli::new();
        cli.volume("hc");
        Self { cli }
    }

    /// A BitLocker volume `bl` as well.
    fn with_bitlocker() -> Self {
        let volumes = Self::new();
        let made =
            "create @bl --format bitlocker --size 64M --quick --filesystem none --no-recovery-password";
        volumes.cli.ends(0, &format!("{made} --password-file @pw"));
        volumes
    }

    /// A disk with an MBR whose partitions hold these files, the first at 1 MiB; an empty name is a MiB of zeros.
    fn disk(&self, name: &str, partitions: &[&str]) {
        let mut disk = vec![0; MIB];
        for (number, file) in partitions.iter().enumerate() {
            let held =
                if file.is_empty() { vec![0; MIB] } else { read(self.cli.path(file)).expect("the volume") };
            let entry = 446 + 16 * number;
            disk[entry + 4] = 7;
            for (at, sectors) in [(8, disk.len() / SECTOR), (12, held.len() / SECTOR)] {
                disk[entry + at..entry + at + 4].copy_from_slice(&(sectors as u32).to_le_bytes());
            }
            disk.extend(held);
        }
        disk[510..512].copy_from_slice(&[0x55, 0xaa]);
        disk.extend([0; 12_345]);
        write(self.cli.path(name), disk).expect("written");
    }
}

fn said(done: &Output) -> String {
    String::from_utf8_lossy(&done.stderr).into_owned()
}

#[test]
fn the_only_bitlocker_partition_is_meant() {
    let volumes = Volumes::with_bitlocker();
    let cli = &volumes.cli;
    volumes.disk("disk", &["", "hc", "bl"]);
    let plain = cli.ends(0, "cat @bl --password-file @pw").stdout;
    let read_out = cli.ends(0, "cat @disk --password-file @pw");
    assert!(read_out.stdout == plain);
    assert!(
        said(&read_out).contains("disk is a disk; partition 3 at 3 MiB is BitLocker"),
        "{}",
        said(&read_out)
    );
    assert_eq!(said(&cli.ends(0, "cat @disk --password-file @pw --quiet")), "");
    let wrong = cli.keyway.secret("wrong", "not the password of it");
    let refused = cli.ends(3, &format!("cat @disk --password-file {}", wrong.display()));
    assert!(said(&refused).contains("partition 3"), "said before the password is tried: {}", said(&refused));
    // Each of them, where it is named.
    let hidden_in_noise = cli.ends(0, "cat @disk --partition 2 --password-file @pw --pim 1").stdout;
    assert!(hidden_in_noise == cli.plain("hc"));
    assert_eq!(cli.json(0, "info @disk --partition 3")["format"], "bitlocker");
    assert_eq!(cli.json(0, "status @disk")["format"], "bitlocker");
    cli.ends(0, "header check @disk --password-file @pw");

    let listed = cli.json(0, "info @disk");
    let partitions = listed["partitions"].as_array().expect("a list");
    let told: Vec<_> = partitions.iter().map(|p| (p["offset_bytes"].as_u64(), p["holds"].as_str())).collect();
    let mib = |n: u64| Some(n << 20);
    assert_eq!(told, [(mib(1), Some("other")), (mib(2), Some("noise")), (mib(3), Some("bitlocker"))]);
    assert_eq!((listed["disk"].as_str(), listed["format"].is_null()), (Some("mbr"), true));
    let table = String::from_utf8(cli.ends(0, "info @disk").stdout).expect("text");
    assert!(table.contains("64 MiB  BitLocker"), "{table}");
}

#[test]
fn what_is_changed_is_the_partition_and_nothing_else() {
    let volumes = Volumes::with_bitlocker();
    let cli = &volumes.cli;
    volumes.disk("disk", &["hc", "bl", ""]);
    let before = read(cli.path("disk")).expect("read");
    let added = cli.json(0, "protector add @disk recovery-password --password-file @pw");
    let digits = added["recovery_password"].as_str().expect("48 digits");
    let after = read(cli.path("disk")).expect("read");
    let (from, to) = (2 * MIB, 66 * MIB);
    assert!(before.len() == after.len() && before[..from] == after[..from] && before[to..] == after[to..]);
    assert!(before != after);
    cli.ends(0, &format!("cat @disk --recovery-password {digits}"));
    // As a volume of its own it opens as well.
    write(cli.path("out"), &after[from..to]).expect("written");
    cli.ends(0, &format!("cat @out --recovery-password {digits}"));
    cli.ends(0, "erase @disk --yes");
    let erased = read(cli.path("disk")).expect("read");
    assert!(erased[..from] == after[..from] && erased[to..] == after[to..]);
    cli.fails(4, "damaged", "", "cat @disk --partition 2 --password-file @pw");
}

#[test]
fn noise_is_opened_and_not_changed_unless_it_is_named() {
    let volumes = Volumes::new();
    let cli = &volumes.cli;
    volumes.disk("disk", &["", "hc"]);
    let opens = "--password-file @pw --pim 1";
    let read_out = cli.ends(0, &format!("cat @disk {opens}"));
    assert!(read_out.stdout == cli.plain("hc"));
    let words = "disk is a disk; partition 2 at 2 MiB looks like noise, as a VeraCrypt volume does";
    assert!(said(&read_out).contains(words), "{}", said(&read_out));
    let before = read(cli.path("disk")).expect("read");
    cli.keyway.secret("new", "another one of more than twenty");
    let change = format!("protector change @disk {opens} --new-password-file @new --new-pim 1");
    cli.refused("usage", "--partition N", &change);
    assert!(read(cli.path("disk")).expect("read") == before);
    cli.ends(0, &format!("{change} --partition 2"));
    cli.ends(0, "cat @disk --password-file @new --pim 1");
    assert!(read(cli.path("disk")).expect("read")[..2 * MIB] == before[..2 * MIB]);
}

/// How long the copy has to be is counted from the disk's first byte.
#[test]
fn a_disk_that_was_cut_is_made_as_long_as_it_was() {
    let volumes = Volumes::new();
    let cli = &volumes.cli;
    volumes.disk("disk", &["", "hc"]);
    let opens = "--partition 2 --password-file @pw --pim 1";
    let whole = cli.ends(0, &format!("cat @disk {opens}")).stdout;
    let mut cut = read(cli.path("disk")).expect("read");
    cut.truncate(3 * MIB - 300_000);
    write(cli.path("disk"), &cut).expect("written");
    let words = format!("cat @disk {opens}");
    cli.fails(4, "damaged", "truncate -s 3145728", &words);
    cli.fails(4, "damaged", "ends at byte 3014656, and the file or device at 2845728", &words);
    cut.resize(3 * MIB, 0);
    write(cli.path("disk"), &cut).expect("written");
    let left = cli.ends(0, &words).stdout;
    assert!(left[..500_000] == whole[..500_000]);
}

#[test]
fn what_can_not_be_told_is_asked_for() {
    let volumes = Volumes::new();
    let cli = &volumes.cli;
    let opens = "--password-file @pw --pim 1";
    volumes.disk("two", &["hc", "hc"]);
    cli.refused("ambiguous", "1, 2", &format!("cat @two {opens}"));
    assert!(cli.ends(0, &format!("cat @two --partition 2 {opens}")).stdout == cli.plain("hc"));
    cli.refused("not-found", "no partition 3", &format!("cat @two --partition 3 {opens}"));
    volumes.disk("none", &["", ""]);
    cli.fails(4, "not-a-volume", "keyway info", &format!("cat @none {opens}"));
    cli.fails(4, "not-a-volume", "", "status @none");
    cli.refused("ambiguous", "--partition N", "status @two");
    assert_eq!(cli.json(0, "status @two --partition 2")["size_bytes"].as_u64(), Some(1 << 20));
    // A volume whose header somebody has written a table over still opens as a whole, by its backup.
    let mut whole = read(cli.path("hc")).expect("read");
    whole[..SECTOR].copy_from_slice(&read(cli.path("none")).expect("read")[..SECTOR]);
    write(cli.path("whole"), whole).expect("written");
    cli.ends(0, &format!("cat @whole --partition 0 {opens}"));
    cli.refused("usage", "leave --partition out", &format!("cat @hc --partition 1 {opens}"));
    // What takes a whole file names the way to a partition's own device.
    for words in [
        "encrypt @two --password-file @pw",
        "resize @two --size 8M --partition 1 --password-file @pw --pim 1",
    ] {
        let before = read(cli.path("two")).expect("read");
        cli.refused("usage", "losetup -fP", words);
        assert!(read(cli.path("two")).expect("read") == before, "{words}");
    }
}

#[test]
fn an_open_partition_is_written_through_its_disk() {
    if !has_fuse() {
        return;
    }
    let volumes = Volumes::with_bitlocker();
    let cli = &volumes.cli;
    volumes.disk("disk", &["hc", "bl", ""]);
    let before = read(cli.path("disk")).expect("read");
    let arguments = ["--attach", "fuse", "--password-file"].map(str::to_owned);
    let password = cli.path("pw").display().to_string();
    let open = cli.keyway.open(&cli.path("disk"), arguments.iter().chain([&password]));
    let file = open.path("file");
    let mut plain = read(&file).expect("the plain bytes");
    plain[5 * MIB..][..PASSWORD.len()].copy_from_slice(PASSWORD.as_bytes());
    {
        use std::os::unix::fs::FileExt;
        let file = std::fs::OpenOptions::new().write(true).open(&file).expect("the file");
        file.write_all_at(PASSWORD.as_bytes(), 5 * MIB as u64).expect("written");
        file.sync_all().expect("flushed");
    }
    assert_eq!(cli.json(0, "status @disk")["lock_status"], "Unlocked");
    cli.fails(6, "already-open", "", "open @disk --password-file @pw");
    // Its neighbour is not open, and neither told nor mounted as if it was.
    let opens = "--partition 1 --password-file @pw --pim 1";
    for words in [
        format!("open @disk {opens}"),
        format!("ls @disk {opens}"),
        format!("open @disk {opens} @disk.files"),
    ] {
        cli.fails(6, "already-open", "partition 2 of ", &words);
    }
    assert_eq!(cli.json(0, "status @disk --partition 1")["lock_status"], "Locked");
    assert_eq!(cli.json(0, "status @disk --partition 2")["lock_status"], "Unlocked");
    open.close();
    let after = read(cli.path("disk")).expect("read");
    let (from, to) = (2 * MIB, 66 * MIB);
    assert!(before[..from] == after[..from] && before[to..] == after[to..] && before != after);
    assert!(cli.ends(0, "cat @disk --password-file @pw").stdout == plain);
}

/// No secret is given and there is no terminal: a question would be another error.
#[test]
fn a_container_of_another_kind_is_named_before_a_secret_is_asked_for() {
    let cli = Cli::new();
    cli.volume("hc");
    let opens = "--password-file @pw --pim 1";
    let bytes = read(cli.path("hc")).expect("the volume");
    if let Some(gzip) = require_tool("gzip") {
        let packed = Command::new(&gzip).arg("-c").arg(cli.path("hc")).output().expect("packs").stdout;
        write(cli.path("packed"), packed).expect("written");
        let named = cli.path("packed").display().to_string();
        for verb in ["open", "info", "status", "cat", "ls", "header check"] {
            let error = &cli.json(4, &format!("{verb} @packed"))["error"];
            let says = format!("{named} is a gzip file, not a volume that can be opened here");
            assert_eq!((&error["kind"], &error["message"]), (&"not-a-volume".into(), &says.into()), "{verb}");
            assert_eq!(error["hint"].as_str(), Some(&*format!("name what is in it: gzip -dc {named} > NEW")));
        }
        let unpacked =
            Command::new("gzip").arg("-dc").arg(cli.path("packed")).output().expect("unpacks").stdout;
        assert!(unpacked == bytes, "the command that is named does that");
    }
    // Who knows better is believed: a volume over whose beginning LUKS has been written opens by its backup header.
    let mut over = bytes;
    over[..8].copy_from_slice(b"LUKS\xba\xbe\0\x01");
    write(cli.path("over"), over).expect("written");
    cli.fails(4, "not-a-volume", "cryptsetup open", &format!("cat @over {opens}"));
    for how in ["--format veracrypt", "--header backup"] {
        assert!(cli.ends(0, &format!("cat @over {how} {opens}")).stdout == cli.plain("hc"), "{how}");
    }
}

#[test]
fn what_is_plainly_no_volume_is_told_before_a_secret_is_asked_for() {
    let cli = Cli::new();
    write(cli.path("zeros"), vec![0; MIB]).expect("written");
    write(cli.path("text"), "a text file\n".repeat(2000)).expect("written");
    for (name, says) in [("zeros", "only zeros"), ("text", "not random")] {
        for verb in ["open", "cat", "ls", "get", "header backup"] {
            let more = if matches!(verb, "get" | "header backup") { " @new" } else { "" };
            cli.fails(4, "not-a-volume", says, &format!("{verb} @{name}{more}"));
        }
        // Who says what it is is asked, and there is nobody here to answer.
        cli.refused("usage", "--password-file", &format!("cat @{name} --format veracrypt"));
    }
    cli.keyway.secret("pw", PASSWORD);
    if cli.make("plain", 8 << 20, "mkfs.ext4", &["-q", "-F"]).is_some() {
        cli.fails(4, "not-a-volume", "it starts with an ext file system, unencrypted", "open @plain");
    }
}

#[test]
fn the_partition_is_named_by_status_and_before_it_is_erased() {
    let volumes = Volumes::with_bitlocker();
    let cli = &volumes.cli;
    volumes.disk("disk", &["hc", "bl"]);
    let status = cli.json(0, "status @disk");
    assert_eq!(
        (&status["partition"]["number"], &status["partition"]["holds"]),
        (&2.into(), &"bitlocker".into())
    );
    let told = String::from_utf8(cli.ends(0, "status @disk").stdout).expect("text");
    assert!(told.contains("2 of the disk, 64 MiB at 2 MiB"), "{told}");
    cli.refused("usage", "Everything in partition 2 of", "erase @disk");
    cli.refused("usage", "(64 MiB, BitLocker)", "erase @disk");
    cli.refused(
        "usage",
        "(1 MiB, a VeraCrypt or TrueCrypt volume)",
        "erase @disk --partition 1 --password-file @pw --pim 1",
    );
    let plan = cli.json(0, "erase @disk --dry-run");
    assert_eq!((&plan["plan"]["number"], &plan["plan"]["size_bytes"]), (&2.into(), &(64 << 20).into()));
    assert!(cli.json(0, "status @hc").get("partition").is_none());
    if has_fuse() {
        let arguments = ["--attach", "fuse", "--password-file"].map(str::to_owned);
        let password = cli.path("pw").display().to_string();
        let open = cli.keyway.open(&cli.path("disk"), arguments.iter().chain([&password]));
        let status = cli.json(0, "status @disk");
        assert_eq!((&status["partition"]["number"], &status["lock_status"]), (&2.into(), &"Unlocked".into()));
        open.close();
    }
}

/// What most often befalls a volume: something wrote over its beginning, and then zeros.
#[test]
fn a_bitlocker_volume_whose_beginning_is_lost_is_known_by_its_metadata() {
    let volumes = Volumes::with_bitlocker();
    let cli = &volumes.cli;
    let mut bytes = read(cli.path("bl")).expect("the volume");
    let plain = cli.ends(0, "cat @bl --password-file @pw --offset 1M").stdout;
    bytes[..4096].fill(0);
    write(cli.path("bl"), &bytes).expect("written");
    for verb in ["info @bl", "open @bl --password-file @pw", "status @bl", "erase @bl --yes"] {
        cli.fails(4, "damaged", "header repair", verb);
    }
    assert!(read(cli.path("bl")).expect("the volume") == bytes);
    let opened = cli.ends(0, "cat @bl --format bitlocker --password-file @pw --offset 1M").stdout;
    assert!(opened == plain);
    // Zeros are nothing but zeros where there is no metadata.
    write(cli.path("none"), vec![0; 8 * MIB]).expect("written");
    cli.fails(4, "not-a-volume", "only zeros", "info @none");
}

/// A loop device of a disk that shows its partitions, the second of which may be mounted.
struct LoopDisk(String);

impl LoopDisk {
    /// `partitions`: where each begins and how long it is, in MiB.
    fn on(cli: &Cli, image: &str, partitions: &[(usize, usize)]) -> Option<Self> {
        let (losetup, addpart) = (require_tool("losetup")?, require_tool("addpart")?);
        let shown = ["--find", "--show", "--partscan"];
        let done = Command::new(losetup).args(shown).arg(cli.path(image)).output().expect("losetup runs");
        if !done.status.success() {
            skip(&format!("losetup gives no loop device: {}", said(&done)));
            return None;
        }
        let disk = Self(String::from_utf8_lossy(&done.stdout).trim().to_owned());
        for (number, (start, len)) in (1..).zip(partitions) {
            // A kernel that can read partition tables has it already.
            let sectors = [start, len].map(|mib| (mib * MIB / SECTOR).to_string());
            let _ = Command::new(&addpart).arg(&disk.0).arg(number.to_string()).args(sectors).output();
            if !PathBuf::from(disk.partition(number)).exists() {
                skip("loop devices show no partitions here");
                return None;
            }
        }
        Some(disk)
    }

    fn partition(&self, number: u32) -> String {
        format!("{}p{number}", self.0)
    }
}

impl Drop for LoopDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.partition(2)).output();
        let _ = Command::new("losetup").arg("--detach").arg(&self.0).output();
    }
}

#[test]
fn a_disk_with_a_mounted_partition_is_left_alone_and_an_open_one_is_found_by_its_disk() {
    if !require_root() || !has_fuse() {
        return;
    }
    let volumes = Volumes::with_bitlocker();
    let cli = &volumes.cli;
    let Some(()) = cli.make("fs", 8 << 20, "mkfs.ext4", &["-q", "-F"]) else { return };
    volumes.disk("disk", &["bl", "fs"]);
    let place = format!("sudo mount -o loop,offset={},sizelimit={} ", 65 * MIB, 8 * MIB);
    for verb in ["ls", "open", "info", "cat", "protector list"] {
        cli.fails(4, "not-a-volume", &place, &format!("{verb} @disk --partition 2"));
    }
    let Some(disk) = LoopDisk::on(cli, "disk", &[(1, 64), (65, 8)]) else { return };
    let (whole, second) = (&disk.0, disk.partition(2));
    create_dir(cli.path("at")).expect("made");
    let mounted = Command::new("mount").arg(&second).arg(cli.path("at")).output().expect("runs");
    assert!(mounted.status.success(), "{}", said(&mounted));
    let before = read(cli.path("disk")).expect("read");
    for device in [whole, &second] {
        let words = format!("create {device} --quick --yes --force --password-file @pw --pim 1");
        let error = &cli.json(6, &words)["error"];
        assert!(error["message"].as_str().expect("text").contains("it is mounted at"), "{error}");
    }
    let erased = format!("erase {whole} --partition 2 --yes --password-file @pw --pim 1 --format veracrypt");
    assert!(cli.json(6, &erased)["error"].to_string().contains("mounted"), "{erased}");
    assert!(read(cli.path("disk")).expect("read")[..64 * MIB] == before[..64 * MIB]);
    let unmounted = Command::new("umount").arg(&second).output().expect("runs");
    assert!(unmounted.status.success(), "{}", said(&unmounted));
    let mounts = format!("sudo mount {second} FOLDER");
    cli.fails(4, "not-a-volume", &mounts, &format!("ls {whole} --partition 2"));

    cli.ends(0, &format!("open {whole} --attach fuse --password-file @pw"));
    let status = cli.json(0, &format!("status {whole}"));
    assert_eq!((&status["partition"]["number"], &status["lock_status"]), (&1.into(), &"Unlocked".into()));
    let text = String::from_utf8(cli.ends(0, &format!("status {whole}")).stdout).expect("text");
    assert!(text.contains(&disk.partition(1)) && text.contains("1 of the disk, 64 MiB at 1 MiB"), "{text}");
    cli.ends(0, &format!("close {}", disk.partition(1)));
}
