//! What the people of the guide have when they begin: a stick, a container, a password on paper.

use crate::cli_support::{Cli, checked, damage};
use keyway_testkit::{unpack_xz, volumes, wait_until};
use std::cell::RefCell;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const HIDDEN: &str = "another one, for what is hidden";
const PASSWORD: &str = "a password that is long enough";

/// The label of the guide's virtual drive.
pub(crate) const PSID: &str = "MDQSQ553X9T3T8XSQKBFB27RXKT8ZB8R";

/// Volumes that have a PIM here which the pages don't speak of.
const QUICK: [&str; 3] = ["secret.hc", "broken.hc", "copy.hc"];

/// Somebody's folder, devices and answers.
pub(crate) struct World {
    pub(crate) cli: Cli,
    pub(crate) names: &'static [&'static str],
    /// What is on the label of a virtual drive that was made.
    psid: RefCell<String>,
    /// A conversion that goes on beside what the page does.
    converting: RefCell<Option<Child>>,
}

impl World {
    fn new(names: &'static [&'static str]) -> Self {
        let cli = Cli::new();
        for folder in ["dev", "mnt", "bin", "etc/keyway"] {
            std::fs::create_dir_all(cli.path(folder)).expect("made");
        }
        symlink(env!("CARGO_BIN_EXE_keyway"), cli.path("bin/keyway")).expect("linked");
        cli.keyway.secret("pw", PASSWORD);
        Self { cli, names, psid: RefCell::default(), converting: RefCell::default() }
    }

    /// Makes a volume with these files in it, all from the same hour.
    fn fill(&self, volume: &str, secret: &str, files: &[(&str, &[u8])]) {
        let folder = self.cli.path("mnt/fill");
        std::fs::create_dir_all(&folder).expect("made");
        self.cli.ends(0, &format!("open @{volume} @mnt/fill {secret}"));
        for (name, bytes) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, bytes).expect("written");
        }
        let all =
            format!("find '{}' -mindepth 1 -exec touch -d 2026-06-14T10:02:00Z {{}} +", folder.display());
        checked(Command::new("sh").args(["-c", &all]));
        self.cli.ends(0, &format!("close @{volume}"));
    }

    /// A photographer: a stick with photos, a recovery password on paper, a volume that Windows made.
    pub(crate) fn with_a_stick() -> Self {
        let world = Self::new(&["/dev/sdb", "/mnt/usb"]);
        let cli = &world.cli;
        cli.ends(
            0,
            "create @part --size 100M --format bitlocker --filesystem ntfs --password-file @pw --recovery-file @paper.txt",
        );
        let photos: [(&str, &[u8]); 3] = [
            ("DCIM/100CANON/IMG_0001.JPG", &[1; 300_000]),
            ("DCIM/100CANON/IMG_0002.JPG", &[2; 200_000]),
            ("letters/agency.txt", b"Dear Charles,"),
        ];
        world.fill("part", "--password-file @pw", &photos);
        on_a_disk(&cli.path("part"), &cli.path("dev/sdb"));
        std::fs::write(cli.path("contact-sheet.pdf"), "a sheet").expect("written");
        // Without the foreign volumes only this one is missing.
        if let Some(image) =
            volumes().and_then(|folder| unpack_xz(&folder.join("bitlocker/bitlk-aes-xts-128.img.xz")))
        {
            std::fs::copy(image.path(), cli.path("usb.img")).expect("copied");
        }
        world
    }

    /// Somebody with a container of VeraCrypt's, and one with a hidden volume.
    pub(crate) fn with_containers() -> Self {
        let world = Self::new(&["/mnt/holiday"]);
        let (cli, with) = (&world.cli, "--password-file @pw --pim 7");
        cli.keyway.secret("hidden", HIDDEN);
        cli.ends(0, &format!("create @holiday.hc --size 32M --cipher aes-twofish --filesystem ext4 {with}"));
        world.fill("holiday.hc", with, &[("letters/first", b"Dear Charles,")]);
        cli.ends(
            0,
            &format!(
                "create @both.hc --size 16M --filesystem fat --hidden 4M --hidden-password-file @hidden --hidden-pim 7 {with}"
            ),
        );
        world
    }

    /// An administrator, who has something to back up.
    pub(crate) fn with_letters() -> Self {
        let world = Self::new(&[]);
        std::fs::create_dir(world.cli.path("letters")).expect("made");
        world.cli.keyway.secret("letters/first", "Dear Charles,");
        world
    }

    /// Somebody with partitions that have files on them, and one that is encrypted already.
    pub(crate) fn with_drives() -> Option<Self> {
        let world = Self::new(&["/dev/sdb"]);
        let cli = &world.cli;
        cli.make("dev/sdb2", 64 << 20, "mkfs.ext4", &["-q"])?;
        cli.make("dev/sdb3", 64 << 20, "mkfs.ntfs", &["-F", "-Q", "-q"])?;
        let bitlocker = "--format bitlocker --filesystem fat --quick --password-file @pw";
        cli.ends(0, &format!("create @dev/sdb1 --size 64M {bitlocker} --recovery-file @paper.txt"));
        Some(world)
    }

    /// Somebody whose volumes are damaged, each in another way.
    pub(crate) fn with_damage() -> Self {
        let world = Self::new(&["/dev/sdb", "/dev/sdc"]);
        let cli = &world.cli;
        cli.keyway.secret("letter", "Dear Charles,");
        let (whole, with) = ("--filesystem fat --quick --password-file @pw", "--password-file @pw --pim 7");
        cli.ends(0, &format!("create @secret.hc --size 16M --filesystem fat --quick {with}"));
        cli.ends(0, &format!("put @secret.hc @letter /letter {with}"));
        let image = std::fs::read(cli.path("secret.hc")).expect("the volume");
        std::fs::write(cli.path("broken.hc"), &image[..10 << 20]).expect("written");
        damage(&cli.path("secret.hc"), 0..512);
        cli.ends(
            0,
            &format!("create @dev/sdb1 --size 100M --format bitlocker --no-recovery-password {whole}"),
        );
        cli.ends(0, "put @dev/sdb1 @letter /letter --password-file @pw");
        let mut image = std::fs::read(cli.path("dev/sdb1")).expect("the volume");
        image[..512].fill(0);
        std::fs::write(cli.path("dev/sdc1"), &image).expect("written");
        damage(&cli.path("dev/sdb1"), 34_603_008..34_603_520);
        world
    }

    /// Somebody with a volume for a machine.
    pub(crate) fn with_a_machine() -> Self {
        let world = Self::new(&["/run/user/1000"]);
        std::fs::create_dir_all(world.cli.path("run/user/1000")).expect("made");
        world
            .cli
            .ends(0, "create @secret.hc --size 16M --quick --filesystem none --password-file @pw --pim 7");
        world
    }

    /// Somebody who has nothing yet.
    pub(crate) fn empty() -> Self {
        Self::new(&[])
    }

    /// Whether what it names is here.
    pub(crate) fn can_be_run(&self, command: &str) -> bool {
        let foreign = ["usb.img"];
        !foreign
            .iter()
            .any(|name| command.split(' ').any(|word| word == *name) && !self.cli.path(name).exists())
    }

    /// The command as it is run here, where everything is smaller, volumes have a PIM that opens them at once, and the laboratory's
    /// turns are short unless `KEYWAY_SLOW` is set.
    pub(crate) fn shorter(&self, command: &str) -> String {
        let measures = command.contains("keyway lab compare ") && std::env::var_os("KEYWAY_SLOW").is_none();
        let command = command.replace(PSID, &self.psid.borrow());
        let command = command.replace("10G", "48M").replace("20G", "80M");
        let opens = QUICK.iter().any(|volume| command.contains(volume)) && command.contains("keyway ");
        let quickly = opens && !command.contains("--pim") && !command.contains("keyway close");
        match (measures, quickly) {
            (true, _) => format!("{command} --seconds 0.1 --runs 2"),
            // There are no PIMs in that format.
            (_, true) if command.contains("--format bitlocker") => {
                format!("{command} --pim 7 --new-password-file pw")
            }
            (_, true) => format!("{command} --pim 7"),
            _ => command,
        }
    }

    /// What has happened in somebody's life before a command.
    pub(crate) fn prepare(&self, command: &str) {
        if command == "keyway status /dev/sdb2" {
            self.cli.make("dev/sdb2", 64 << 20, "mkfs.ext4", &["-q", "-F"]).expect("made before");
            let words = self.cli.words("encrypt @dev/sdb2 --limit 4M --yes --password-file @pw");
            let mut converting = self.cli.command(words);
            let child = converting.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
            *self.converting.borrow_mut() = Some(child);
            wait_until("the conversion is under way", || {
                let status = String::from_utf8(self.cli.run("status @dev/sdb2").stdout).expect("text");
                status.contains("Encryption in Progress")
            });
        }
    }

    /// What is answered to a question for a password: the owner's is on the sheet.
    pub(crate) fn answer(&self, question: &str) -> String {
        if question.contains("admin1") {
            let sheet = std::fs::read_to_string(self.cli.path("sheet.txt")).expect("a sheet");
            let secret = |line: &&str| line.len() == 29 && line.split('-').all(|group| group.len() == 5);
            return sheet.lines().map(str::trim).find(secret).expect("the owner's secret").to_owned();
        }
        if question.contains("hidden") { HIDDEN } else { PASSWORD }.to_owned()
    }

    /// What came of a command, beside what was shown.
    pub(crate) fn tidy(&self, command: &str, shown: &[String]) {
        if command.contains("drive emulate") {
            let label = shown.iter().find_map(|line| line.split_once("PSID ")?.1.split(' ').next());
            label.expect("a label").clone_into(&mut self.psid.borrow_mut());
        }
        if command.contains("keyway pause") {
            let mut converting = self.converting.borrow_mut().take().expect("it was under way");
            assert!(!converting.wait().expect("it ends").success(), "it was paused");
        }
        if command.ends_with(" /DCIM ./photos") {
            let photo = std::fs::read(self.cli.path("photos/100CANON/IMG_0002.JPG")).expect("it was copied");
            assert!(photo == [2; 200_000]);
        }
    }
}

/// A disk with an MBR and that volume as its one partition, at 1 MiB.
fn on_a_disk(volume: &Path, disk: &Path) {
    let bytes = std::fs::read(volume).expect("the volume");
    let mut file = std::fs::File::create(disk).expect("made");
    file.write_all(&vec![0; 1 << 20]).and_then(|()| file.write_all(&bytes)).expect("written");
    let table =
        format!("printf 'start=2048,size={},type=7\\n' | sfdisk -q '{}'", bytes.len() / 512, disk.display());
    checked(Command::new("sh").args(["-c", &table]));
}
