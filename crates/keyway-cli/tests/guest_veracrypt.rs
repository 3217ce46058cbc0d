//! cryptsetup and dm-crypt of a stock kernel open what Keyway made, and Keyway reads what they
//! wrote: one boot of the guest with every check in it.
#![allow(clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use keyway_testkit::{
    Guest, Keyway, Rng, Table, is_root, require_fuse, require_root, require_tool, sha256_of, skip, unpack_xz,
    volumes,
};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Long enough for a small PIM (VeraCrypt asks for 20 characters).
const PASSWORD: &str = "the-guest-judges-what-we-wrote";
const HIDDEN_PASSWORD: &str = "the-guest-judges-what-we-hid";

/// Ciphers that the guest's kernel has, in our order (outermost first).
const CIPHERS: [&str; 10] = [
    "aes",
    "serpent",
    "twofish",
    "camellia",
    "aes-twofish",
    "aes-twofish-serpent",
    "serpent-aes",
    "serpent-twofish-aes",
    "twofish-serpent",
    "camellia-serpent",
];

/// Hashes that its cryptsetup has, with their names there.
const HASHES: [(&str, &str); 4] =
    [("sha512", "sha512"), ("sha256", "sha256"), ("whirlpool", "whirlpool"), ("blake2s", "blake2s-256")];

/// What of VeraCrypt the guest can't judge; other programs' volumes do in other tests.
const NOT_JUDGED: &str = "NOTE: the guest's kernel has no Kuznyechik and its cryptsetup no Streebog and no \
                          Argon2id for VeraCrypt; volumes that VeraCrypt made judge those";

/// Bytes of the pattern that the guest writes, and where (`seek=10` of 4096).
const PATTERN_BYTES: usize = 48 << 10;
const PATTERN_AT: usize = 10 * 4096;

/// One opening in the guest.
struct Case {
    name: String,
    source: String,
    password: String,
    options: String,
    expected: Expected,
}

/// What the guest must find, and what is read here afterwards.
enum Expected {
    /// A volume of another program: its data's hash.
    Foreign { sha256: String },
    /// One of ours: what it holds, and how it is opened again.
    Ours { plain: Vec<u8>, sector_bytes: u32, reopen: Vec<OsString>, volume: PathBuf },
}

/// The volume with a file system, and what was put in it.
struct Files {
    volume: PathBuf,
    mountpoint: PathBuf,
    sha256: String,
}

/// Everything that goes into the one boot.
struct Job<'a> {
    keyway: &'a Keyway,
    folder: PathBuf,
    cases: Vec<Case>,
    rng: Rng,
}

#[test]
fn cryptsetup_and_keyway_read_each_other() {
    if require_tool("qemu-system-x86_64").is_none() || !require_fuse() {
        return;
    }
    let keyway = Keyway::new(env!("CARGO_BIN_EXE_keyway"));
    let folder = keyway.path("job");
    std::fs::create_dir(&folder).expect("the job's folder");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest_judge.sh"), folder.join("run.sh"))
        .expect("the job's script");
    let mut job = Job { keyway: &keyway, folder, cases: Vec::new(), rng: Rng::new(20) };
    job.foreign();
    job.every_cipher_and_hash();
    job.backup_header();
    job.keyfiles_and_odd_passwords();
    job.hidden();
    job.changed_secret();
    job.changed_system();
    let disk = job.device_of_4096();
    let files = job.file_system();
    eprintln!("{NOT_JUDGED}");

    let mut guest = Guest::new();
    if let Some(image) = &disk {
        guest = guest.disk_of_sectors(&image.to_string_lossy(), 4096);
    }
    let table: String = job
        .cases
        .iter()
        .map(|case| format!("{}\t{}\t{}\t{}\n", case.name, case.source, case.password, case.options))
        .collect();
    std::fs::write(job.folder.join("cases.tsv"), table).expect("the cases");
    let Some(run) = guest.run(&job.folder) else { return };
    assert_eq!(run.code, Some(0), "the guest said:\n{}", run.output);
    job.compare(&run.output);
    if let Some(files) = files {
        job.compare_files(&files);
    }
}

impl Job<'_> {
    /// The rig itself is judged by volumes that VeraCrypt made.
    fn foreign(&mut self) {
        let Some(volumes) = volumes() else { return };
        let folder = volumes.join("veracrypt-1.23");
        for row in Table::read(&folder.join("INDEX.tsv")).rows() {
            let (cipher, hash) = (cipher_there(&row.get("cipher").to_lowercase()), row.get("hash"));
            let known = HASHES.iter().find(|(ours, _)| *ours == hash.to_lowercase().replace('-', ""));
            let Some((_, hash)) = known else { continue };
            // The default PIM takes a minute under emulation.
            let pim = row.number("pim").unwrap_or(0);
            if pim == 0 || cipher.contains("kuznyechik") || row.get("file") == "dev4096.img" {
                continue;
            }
            let name = format!("foreign-{}-{}", row.get("file"), row.get("hidden"));
            let mut options = format!("-c {cipher} -h {hash} --veracrypt-pim {pim}");
            for keyfile in row.list("keyfiles") {
                let copy = Path::new(keyfile).file_name().expect("a keyfile has a name").to_string_lossy();
                std::fs::copy(folder.join(keyfile), self.folder.join(&*copy)).expect("the keyfile");
                options += &format!(" --key-file {copy}");
            }
            if row.get("hidden") == "yes" {
                options += " --tcrypt-hidden";
            }
            if row.get("note").contains("backup header") {
                options += " --tcrypt-backup";
            }
            // Not copied with its mode: they lie read-only, and here the guest may write.
            let volume = std::fs::read(folder.join(row.get("file"))).expect("the volume");
            std::fs::write(self.folder.join(&name), volume).expect("its copy");
            let password = self.password(&name, row.get("password"));
            let expected = Expected::Foreign { sha256: row.get("sha256_data").into() };
            self.cases.push(Case { source: name.clone(), name, password, options, expected });
        }
        assert!(self.cases.len() >= 5, "too few of the foreign volumes suit the guest");
    }

    fn every_cipher_and_hash(&mut self) {
        let all = std::env::var_os("KEYWAY_SLOW").is_some();
        for (i, cipher) in CIPHERS.iter().enumerate() {
            for (j, (hash, hash_there)) in HASHES.iter().enumerate() {
                // Every cipher and every hash at least once; all pairs in the long run.
                if all || i % HASHES.len() == j {
                    let options = format!("-c {} -h {hash_there} --veracrypt-pim 1", cipher_there(cipher));
                    self.ours(&format!("{cipher}-{hash}"), &["--cipher", cipher, "--hash", hash], &options);
                }
            }
        }
    }

    fn backup_header(&mut self) {
        let volume = self.ours("backup-header", &[], "-c aes -h sha512 --veracrypt-pim 1 --tcrypt-backup");
        // The primary header, the salt included, is 512 bytes.
        let file = File::options().write(true).open(volume).expect("the volume");
        file.write_all_at(&[0x55; 512], 0).expect("the primary header is gone");
    }

    fn keyfiles_and_odd_passwords(&mut self) {
        // Below, at and above VeraCrypt's limit of 1 MiB per keyfile.
        for (name, len) in [("key-small", 17), ("key-mib", 1 << 20), ("key-large", (1 << 20) + 4097)] {
            std::fs::write(self.folder.join(name), self.rng.bytes(len)).expect("a keyfile");
        }
        let paths: Vec<OsString> = ["key-small", "key-mib", "key-large"]
            .iter()
            .flat_map(|name| ["--keyfile".into(), self.folder.join(name).into_os_string()])
            .collect();
        let options =
            "-c aes -h sha512 --veracrypt-pim 1 --key-file key-small --key-file key-mib --key-file key-large";
        self.ours_with("keyfiles", PASSWORD, &paths, &["--pim".into(), "1".into()], options);
        let plain = "-c aes -h sha512 --veracrypt-pim 1";
        let pim: [OsString; 2] = ["--pim".into(), "1".into()];
        self.ours_with("long-password", &"0123456789abcdef".repeat(8), &[], &pim, plain);
        self.ours_with("unicode-password", "Schlüssel-ключ-鍵-🔑-llave", &[], &pim, plain);
        let options = "-c aes -h sha512 --veracrypt-pim 5";
        self.ours_with("pim-5", PASSWORD, &[], &["--pim".into(), "5".into()], options);
    }

    /// An outer volume and the one hidden in it.
    fn hidden(&mut self) {
        let volume = self.folder.join("hidden");
        let secret = self.keyway.secret("secret-outer", PASSWORD);
        let hidden_secret = self.keyway.secret("secret-hidden", HIDDEN_PASSWORD);
        let outer: Vec<OsString> = vec!["--password-file".into(), secret.into(), "--pim".into(), "1".into()];
        let hidden = vec!["--password-file".into(), hidden_secret.clone().into(), "--pim".into(), "1".into()];
        let mut create = self.create_arguments(&volume, "2M");
        create.extend(outer.iter().cloned());
        create.extend(words(&["--hidden", "512K", "--hidden-pim", "1", "--hidden-password-file"]));
        create.push(hidden_secret.into());
        self.keyway.ok(&create);
        // The hidden volume lies in the outer one's data: the outer is read after the hidden one
        // was filled, and judged before the guest writes to that.
        let hidden_plain = self.fill(&volume, &hidden);
        let outer_plain = self.keyway.ok(self.cat_arguments(&volume, &outer));
        self.pattern("hidden");
        let both = [
            ("outer", PASSWORD, "", outer, outer_plain),
            ("hidden", HIDDEN_PASSWORD, " --tcrypt-hidden", hidden, hidden_plain),
        ];
        for (name, password, flag, reopen, plain) in both {
            let password = self.password(name, password);
            self.cases.push(Case {
                name: name.into(),
                source: "hidden".into(),
                password,
                options: format!("-c aes -h sha512 --veracrypt-pim 1{flag}"),
                expected: Expected::Ours { plain, sector_bytes: 512, reopen, volume: volume.clone() },
            });
        }
    }

    /// A volume whose password and hash were changed opens with the new ones.
    fn changed_secret(&mut self) {
        let options = "-c serpent -h whirlpool --veracrypt-pim 2";
        let volume = self.ours("changed", &["--cipher", "serpent"], options);
        let (old, new) =
            (self.keyway.path("secret-changed"), self.keyway.secret("secret-new", HIDDEN_PASSWORD));
        let mut change = words(&["protector", "change"]);
        change.push(volume.into());
        change.extend([
            "--password-file".into(),
            old.into(),
            "--new-password-file".into(),
            new.clone().into(),
        ]);
        change.extend(words(&["--pim", "1", "--new-pim", "2", "--new-hash", "whirlpool", "--yes"]));
        self.keyway.ok(&change);
        self.password("changed", HIDDEN_PASSWORD);
        let case = self.cases.last_mut().expect("the case was just made");
        if let Expected::Ours { reopen, .. } = &mut case.expected {
            *reopen = vec!["--password-file".into(), new.into(), "--pim".into(), "2".into()];
        }
    }

    /// An encrypted system whose password was changed from outside; the guest takes its partition.
    /// Its 200,000 iterations take the emulator 20 seconds.
    fn changed_system(&mut self) {
        if std::env::var_os("KEYWAY_SLOW").is_none() {
            return;
        }
        let Some(volumes) = volumes() else { return };
        let image = unpack_xz(&volumes.join("tcrypt/sys_vc_1_mbr_part-sha256-xts-aes.xz"));
        let Some(image) = image else { return };
        let drive = self.folder.join("system");
        std::fs::copy(image.path(), &drive).expect("a copy");
        let old = self.keyway.secret("secret-system", "aaaaaaaaaaaa");
        let mut change = words(&["protector", "change", "--hash", "sha256", "--yes"]);
        change.extend(["--password-file".into(), old.into(), "--new-password-file".into()]);
        let new = self.keyway.secret("secret-new-system", PASSWORD);
        change.extend([new.clone().into(), drive.clone().into()]);
        self.keyway.ok(&change);
        let plain = self.keyway.ok(self.cat_arguments(&drive, &["--password-file".into(), new.into()]));
        let password = self.password("system", PASSWORD);
        self.cases.push(Case {
            name: "system".into(),
            source: "system".into(),
            password,
            options: "-c aes -h sha256 --tcrypt-system".into(),
            expected: Expected::Foreign { sha256: sha256_of(plain.as_slice()) },
        });
    }

    /// A disk of 4096-byte sectors: made here on a loop device, a virtio disk there.
    fn device_of_4096(&mut self) -> Option<PathBuf> {
        if !require_root() {
            return None;
        }
        let losetup = require_tool("losetup")?;
        let image = self.keyway.path("disk-4096");
        File::create(&image).and_then(|file| file.set_len(2 << 20)).expect("the disk's image");
        let done = Command::new(&losetup)
            .args(["--sector-size", "4096", "--find", "--show"])
            .arg(&image)
            .output()
            .expect("losetup runs");
        if !done.status.success() {
            skip(&format!("losetup gives no loop device: {}", String::from_utf8_lossy(&done.stderr)));
            return None;
        }
        let device = PathBuf::from(String::from_utf8_lossy(&done.stdout).trim());
        let secret = self.keyway.secret("secret-4096", PASSWORD);
        let mut create = words(&["create", "--quick", "--filesystem", "none", "--yes", "--pim", "1"]);
        create.extend(["--password-file".into(), secret.clone().into(), device.clone().into()]);
        let reopen = vec!["--password-file".into(), secret.into(), "--pim".into(), "1".into()];
        let made = self.keyway.run(&create);
        let plain = made.status.success().then(|| self.fill(&device, &reopen));
        let status = Command::new(losetup).arg("--detach").arg(&device).status().expect("losetup runs");
        assert!(status.success());
        let plain = plain.unwrap_or_else(|| {
            panic!("create on {}: {}", device.display(), String::from_utf8_lossy(&made.stderr))
        });
        self.pattern("device-4096");
        let password = self.password("device-4096", PASSWORD);
        self.cases.push(Case {
            name: "device-4096".into(),
            source: "/dev/vda".into(),
            password,
            options: "-c aes -h sha512 --veracrypt-pim 1".into(),
            expected: Expected::Ours { plain, sector_bytes: 4096, reopen, volume: image.clone() },
        });
        Some(image)
    }

    /// A volume with a file system: a file written here is read there, and the other way round.
    fn file_system(&mut self) -> Option<Files> {
        if !require_root() {
            return None;
        }
        require_tool("mkfs.ext4")?;
        let volume = self.folder.join("files");
        let secret = self.keyway.secret("secret-files", PASSWORD);
        let mut create = words(&["create", "--size", "16M", "--quick", "--filesystem", "ext4", "--pim", "1"]);
        create.extend(["--password-file".into(), secret.clone().into(), volume.clone().into()]);
        self.keyway.ok(&create);
        let mountpoint = self.keyway.path("mnt");
        std::fs::create_dir(&mountpoint).expect("a mount point");
        let content = self.rng.bytes(700_001);
        let open = self.open_files(&volume, &mountpoint);
        std::fs::write(mountpoint.join("from-the-host"), &content).expect("a file inside");
        open.close();
        // Asks the guest to mount it, and takes the hash that it finds.
        std::fs::write(self.folder.join("files-files"), "").expect("the job's note");
        let reopen = vec!["--password-file".into(), secret.into(), "--pim".into(), "1".into()];
        let plain = self.keyway.ok(self.cat_arguments(&volume, &reopen));
        let password = self.password("files", PASSWORD);
        self.cases.push(Case {
            name: "files".into(),
            source: "files".into(),
            password,
            options: "-c aes -h sha512 --veracrypt-pim 1".into(),
            expected: Expected::Ours { plain, sector_bytes: 512, reopen, volume: volume.clone() },
        });
        Some(Files { volume, mountpoint, sha256: sha256_of(content.as_slice()) })
    }

    fn open_files(&self, volume: &Path, mountpoint: &Path) -> keyway_testkit::Open<'_> {
        let secret = self.keyway.path("secret-files");
        let mut arguments: Vec<OsString> = vec![mountpoint.into(), "--password-file".into(), secret.into()];
        arguments.extend(words(&["--pim", "1"]));
        self.keyway.open(volume, arguments)
    }

    /// Checks that the guest found what we wrote and that we find what it wrote.
    fn compare(&self, said: &str) {
        let results = results(&self.folder.join("results.tsv"));
        let mut wrong = Vec::new();
        for case in &self.cases {
            let found = results.get(&case.name).map(Vec::as_slice).unwrap_or_default();
            let [_, verdict, size, sector, sha256] = found else {
                wrong.push(format!("{}: cryptsetup could not open it", case.name));
                continue;
            };
            assert_eq!(verdict, "opened");
            match &case.expected {
                Expected::Foreign { sha256: known } if known != sha256 => {
                    wrong.push(format!("{}: the guest reads {sha256}, VeraCrypt wrote {known}", case.name));
                }
                Expected::Foreign { .. } => {}
                Expected::Ours { plain, sector_bytes, reopen, volume } => {
                    if *size != plain.len().to_string() || *sector != sector_bytes.to_string() {
                        wrong.push(format!(
                            "{}: {size} bytes in sectors of {sector}, not {} of {sector_bytes}",
                            case.name,
                            plain.len()
                        ));
                    }
                    if *sha256 != sha256_of(plain.as_slice()) {
                        wrong.push(format!("{}: the guest reads other bytes than were written", case.name));
                    }
                    let Ok(pattern) = std::fs::read(self.folder.join(format!("pattern-{}", case.name)))
                    else {
                        continue;
                    };
                    let mut expected = plain.clone();
                    expected[PATTERN_AT..PATTERN_AT + PATTERN_BYTES].copy_from_slice(&pattern);
                    if self.keyway.ok(self.cat_arguments(volume, reopen)) != expected {
                        wrong.push(format!("{}: what the guest wrote is read differently", case.name));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}\n\nThe guest said:\n{said}", wrong.join("\n"));
        let ours = self.cases.iter().filter(|case| matches!(case.expected, Expected::Ours { .. })).count();
        println!("the guest opened {} volumes, {ours} of them ours", self.cases.len());
    }

    fn compare_files(&self, files: &Files) {
        let there = std::fs::read_to_string(self.folder.join("files-files")).expect("the guest's note");
        assert_eq!(there.trim(), files.sha256, "the guest reads another file than was written");
        let open = self.open_files(&files.volume, &files.mountpoint);
        let got = std::fs::read(files.mountpoint.join("from-the-guest")).expect("the guest's file is there");
        open.close();
        assert!(got == std::fs::read(self.folder.join("run.sh")).expect("the script"), "its content differs");
    }

    /// A container of ours with the usual secret.
    fn ours(&mut self, name: &str, create: &[&str], options: &str) -> PathBuf {
        let mut create = words(create);
        create.extend(words(&["--pim", "1"]));
        self.ours_with(name, PASSWORD, &[], &create, options)
    }

    fn ours_with(
        &mut self,
        name: &str,
        password: &str,
        keyfiles: &[OsString],
        create: &[OsString],
        options: &str,
    ) -> PathBuf {
        let volume = self.folder.join(name);
        let secret = self.keyway.secret(&format!("secret-{name}"), password);
        let mut reopen: Vec<OsString> = vec!["--password-file".into(), secret.into()];
        reopen.extend(keyfiles.iter().cloned());
        if let Some(at) = create.iter().position(|word| word == "--pim") {
            reopen.extend(create[at..at + 2].iter().cloned());
        }
        let mut arguments = self.create_arguments(&volume, "1M");
        arguments.extend(reopen.iter().cloned());
        arguments.extend(create.iter().filter(|word| !reopen.contains(word)).cloned());
        self.keyway.ok(&arguments);
        let plain = self.fill(&volume, &reopen);
        self.pattern(name);
        let password = self.password(name, password);
        let (source, options) = (name.to_string(), options.to_string());
        let expected = Expected::Ours { plain, sector_bytes: 512, reopen, volume: volume.clone() };
        self.cases.push(Case { name: name.into(), source, password, options, expected });
        volume
    }

    fn create_arguments(&self, volume: &Path, size: &str) -> Vec<OsString> {
        let mut arguments = words(&["create", "--quick", "--filesystem", "none", "--size", size]);
        arguments.push(volume.into());
        arguments
    }

    fn cat_arguments(&self, volume: &Path, reopen: &[OsString]) -> Vec<OsString> {
        let mut arguments = vec!["cat".into(), volume.into()];
        arguments.extend(reopen.iter().cloned());
        arguments
    }

    /// Fills a volume through its FUSE file; returns what it then holds.
    fn fill(&mut self, volume: &Path, reopen: &[OsString]) -> Vec<u8> {
        let len = self.keyway.ok(self.cat_arguments(volume, reopen)).len();
        let mut arguments = words(&["--attach", "fuse"]);
        arguments.extend(reopen.iter().cloned());
        let open = self.keyway.open(volume, arguments);
        let through = if is_root() { "device" } else { "file" };
        let file = File::options().read(true).write(true).open(open.path(through)).expect("the plain file");
        let plain = self.rng.bytes(len);
        file.write_all_at(&plain, 0).expect("the volume takes its size");
        file.sync_all().expect("the volume flushes");
        drop(file);
        open.close();
        plain
    }

    /// What the guest shall write into the volume.
    fn pattern(&mut self, name: &str) {
        let pattern = self.rng.bytes(PATTERN_BYTES);
        std::fs::write(self.folder.join(format!("pattern-{name}")), pattern).expect("the pattern");
    }

    /// A password's file in the job's folder; its name.
    fn password(&self, name: &str, password: &str) -> String {
        let file = format!("password-{name}");
        std::fs::write(self.folder.join(&file), password).expect("the password's file");
        file
    }
}

/// cryptsetup names a cascade from the innermost cipher on.
fn cipher_there(ours: &str) -> String {
    ours.split('-').rev().collect::<Vec<_>>().join("-")
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn results(path: &Path) -> HashMap<String, Vec<String>> {
    let text = std::fs::read_to_string(path).expect("the guest's results");
    text.lines()
        .map(|line| line.split('\t').map(String::from).collect::<Vec<_>>())
        .map(|fields| (fields[0].clone(), fields))
        .collect()
}
