//! The ways to attach a volume where nobody asked for one: what each needs, and what it costs.

use super::plan::{Attachment, NbdAddress};
use super::reason::{Need, Reason};
use crate::mount::NO_RIGHTS;
use crate::{DmCryptError, UblkError, dmcrypt, mountd, ublk};
use keyway_error::explain;
use keyway_sys::is_confined_root;
use std::fmt;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A way to attach a volume that can be chosen by itself.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// Its word.
    pub name: &'static str,
    /// The way.
    pub attachment: Attachment,
    /// All that it needs, the likeliest to be missing first.
    pub needs: &'static [Need],
    /// What each request passes between whoever makes it and our cipher; nothing where the kernel decrypts.
    pub costs: &'static [Layer],
    /// Only the open volume shows whether it can be had: another one must stand by.
    pub depends_on_volume: bool,
}

/// Every candidate, the best first.
pub static CANDIDATES: [Candidate; 7] = [
    Candidate {
        name: "dm-crypt",
        attachment: Attachment::DmCrypt,
        needs: &[Need::NothingProtected, Need::DmCrypt],
        costs: &[],
        depends_on_volume: true,
    },
    Candidate {
        name: "ublk",
        attachment: Attachment::Ublk,
        needs: &[Need::Ublk, Need::OutlivesServer],
        costs: &[Layer::Ublk],
        depends_on_volume: false,
    },
    Candidate {
        name: "fuse+loop",
        attachment: Attachment::Fuse { loop_device: true },
        needs: &[Need::LoopDevice, Need::Fuse],
        costs: &[Layer::LoopDevice, Layer::FileSystem],
        depends_on_volume: false,
    },
    Candidate {
        name: "mountd",
        attachment: Attachment::Mountd,
        needs: &[Need::NothingMounted, Need::Mountd, Need::Fuse],
        costs: &[Layer::LoopDevice, Layer::FileSystem],
        depends_on_volume: false,
    },
    Candidate {
        name: "files",
        attachment: Attachment::Files,
        needs: &[Need::Mounted, Need::NothingProtected, Need::Fuse],
        costs: &[Layer::FileSystem],
        depends_on_volume: false,
    },
    Candidate {
        name: "fuse",
        attachment: Attachment::Fuse { loop_device: false },
        needs: &[Need::NothingMounted, Need::Fuse],
        costs: &[Layer::FileSystem],
        depends_on_volume: false,
    },
    Candidate {
        name: "nbd",
        attachment: Attachment::Nbd(NbdAddress::Session),
        needs: &[Need::NothingMounted],
        costs: &[Layer::Socket],
        depends_on_volume: false,
    },
];

/// Something that a request passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layer {
    /// The kernel's ublk driver, and a switch to our process.
    Ublk,
    /// A loop device.
    LoopDevice,
    /// A file system of ours, and a switch to our process.
    FileSystem,
    /// A socket, with a copy on each side.
    Socket,
}

/// What is wanted of the attached volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wish {
    /// The file system inside is mounted.
    pub mount: bool,
    /// A hidden volume is protected.
    pub protect_hidden: bool,
}

/// A need that isn't met, and why; its text says why alone.
#[derive(Debug)]
pub struct Lack {
    /// The need.
    pub need: Need,
    /// Why it isn't met.
    pub reason: LackReason,
}

/// Why a need isn't met.
#[derive(Debug)]
#[non_exhaustive]
pub enum LackReason {
    /// Only root may.
    NotRoot,
    /// Root may not either, who has no `CAP_SYS_ADMIN` here, as in a container.
    NoRights,
    /// Only root may open this device, and this group, where there is one.
    NotYours(&'static Path, Option<String>),
    /// This device can't be opened.
    Device(&'static Path, io::Error),
    /// The program that mounts FUSE file systems for users is missing.
    NoFusermount,
    /// The helper on the system bus can't be asked, and why.
    NoHelper(String),
    /// A part of the kernel can't be used, as it says itself.
    Kernel(String),
    /// It is wanted otherwise.
    Wish,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            LackReason::NotRoot if self.need == Need::LoopDevice => {
                f.write_str("only root may make loop devices")
            }
            LackReason::NotRoot => f.write_str("only root may do that"),
            LackReason::NoRights => f.write_str(NO_RIGHTS),
            LackReason::NotYours(path, Some(group)) => {
                write!(f, "only root and the group {group} may open {}", path.display())
            }
            LackReason::NotYours(path, None) => write!(f, "only root may open {}", path.display()),
            LackReason::Device(path, e) => write!(f, "{}: {e}", path.display()),
            LackReason::NoFusermount => f.write_str("fusermount3 is missing"),
            LackReason::NoHelper(why) | LackReason::Kernel(why) => f.write_str(why),
            LackReason::Wish => f.write_str("it is wanted otherwise"),
        }
    }
}

impl std::error::Error for Lack {}

explain! { Lack {
    Self { reason: LackReason::NoFusermount, .. } => [Missing Machine, InstallFuse],
    Self { reason: LackReason::NotYours(_, Some(group)), .. } => [NotPermitted Machine, JoinGroup { group: group.clone() }],
    Self { reason: LackReason::NotYours(path, None), .. } => [NotPermitted Machine, LetUsersOpen { device: path.display().to_string() }],
    Self { reason: LackReason::NoRights, .. } => [NotPermitted Machine, GiveCapability { to_open: true }],
    Self { reason: LackReason::NotRoot, .. } => [NotPermitted Machine],
    Self { need: Need::Fuse, reason: LackReason::Device(..) } => [Missing Machine, LoadFuse],
    Self { need: Need::LoopDevice, reason: LackReason::Device(..) } => [Missing Machine, LoadLoop],
    Self { reason: LackReason::Device(..) | LackReason::NoHelper(_) | LackReason::Kernel(_), .. } => [Missing Machine],
    Self { reason: LackReason::Wish, .. } => [Usage Request],
} }

impl Need {
    /// Whether this machine and this user have it, and the wish allows it.
    pub fn check(self, wish: Wish) -> Result<(), Lack> {
        let root = rustix::process::geteuid().is_root();
        let unless = |met: bool, reason| if met { Ok(()) } else { Err(reason) };
        let met = match self {
            // Their devices open, and their work is refused.
            Self::DmCrypt | Self::Ublk | Self::OutlivesServer if is_confined_root() => {
                Err(LackReason::NoRights)
            }
            Self::DmCrypt => dmcrypt::available().map_err(|e| match e {
                DmCryptError::Missing(why) => LackReason::Kernel(why),
                other => LackReason::Kernel(other.to_string()),
            }),
            Self::Ublk => ublk::available().map_err(|e| match e {
                UblkError::Missing(why) => LackReason::Kernel(why),
                other => LackReason::Kernel(other.to_string()),
            }),
            Self::OutlivesServer => unless(ublk::outlives_its_server(), LackReason::NotRoot),
            Self::Fuse => can_open("/dev/fuse").and_then(|()| {
                let helper =
                    || ["fusermount3", "fusermount"].into_iter().any(|name| find_program(name).is_some());
                self.by_root(root, !is_confined_root())?;
                unless(root || helper(), LackReason::NoFusermount)
            }),
            Self::LoopDevice => {
                let may = self.by_root(root, !is_confined_root());
                may.and_then(|()| can_open("/dev/loop-control"))
            }
            Self::Mountd if root => Err(LackReason::NoHelper("root needs no help".to_owned())),
            Self::Mountd => mountd::available().map_err(LackReason::NoHelper),
            Self::NothingProtected => unless(!wish.protect_hidden, LackReason::Wish),
            Self::NothingMounted => unless(!wish.mount, LackReason::Wish),
            Self::Mounted => unless(wish.mount, LackReason::Wish),
        };
        met.map_err(|reason| Lack { need: self, reason })
    }

    /// What root is asked for by FUSE, where it is root who mounts, and by a loop device.
    fn by_root(self, root: bool, has_rights: bool) -> Result<(), LackReason> {
        match (root, self) {
            (true, _) if !has_rights => Err(LackReason::NoRights),
            (false, Self::LoopDevice) => Err(LackReason::NotRoot),
            _ => Ok(()),
        }
    }
}

impl Candidate {
    /// Whether all is there that it needs.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self, wish: Wish) -> Result<(), Lack> {
        self.needs.iter().try_for_each(|need| need.check(wish))
    }
}

/// What was chosen, and what was not.
#[derive(Debug)]
pub struct Choice {
    /// The way.
    pub candidate: &'static Candidate,
    /// The next best, where the first depends on the volume.
    pub otherwise: Option<&'static Candidate>,
    /// Better ones that lack something.
    pub passed_over: Vec<(&'static Candidate, Lack)>,
}

impl Choice {
    /// Why a candidate is taken: its merit, and what the better ones lack, the nearest first.
    pub fn reasons(&self, candidate: &Candidate) -> Vec<Reason> {
        let lacks = self.passed_over.iter().rev().map(|(other, lack)| Reason::Lacks {
            way: other.name.to_owned(),
            need: lack.need,
            why: lack.to_string(),
        });
        std::iter::once(Reason::Best { way: candidate.name.to_owned() }).chain(lacks).collect()
    }
}

/// Chooses the best candidate among those that are allowed.
///
/// # Errors
/// What the last one lacks that would do if it were there.
pub fn choose(wish: Wish, allowed: impl Fn(&Attachment) -> bool) -> Result<Choice, Lack> {
    let (mut chosen, mut passed_over) = (None::<&'static Candidate>, Vec::new());
    let found = |candidate, otherwise, passed_over| Ok(Choice { candidate, otherwise, passed_over });
    for candidate in CANDIDATES.iter().filter(|candidate| allowed(&candidate.attachment)) {
        match (candidate.check(wish), chosen) {
            (Err(lack), _) => passed_over.push((candidate, lack)),
            (Ok(()), Some(first)) => return found(first, Some(candidate), passed_over),
            (Ok(()), None) if candidate.depends_on_volume => chosen = Some(candidate),
            (Ok(()), None) => return found(candidate, None, passed_over),
        }
    }
    match chosen {
        Some(candidate) => found(candidate, None, passed_over),
        None => {
            let lacks = passed_over.into_iter().map(|(_, lack)| lack);
            let wanted = Lack { need: Need::NothingMounted, reason: LackReason::Wish };
            let other = |lack: &Lack| !matches!(lack.need, Need::NothingMounted | Need::Mounted);
            Err(lacks.filter(other).last().unwrap_or(wanted))
        }
    }
}

fn can_open(device: &'static str) -> Result<(), LackReason> {
    let path = Path::new(device);
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.map(drop).map_err(|e| match path.metadata() {
        Ok(node) if e.kind() == io::ErrorKind::PermissionDenied => {
            LackReason::NotYours(path, group_of(node.mode(), node.gid()))
        }
        _ => LackReason::Device(path, e),
    })
}

/// The group, other than root's, whose members may read and write what has this mode.
fn group_of(mode: u32, group: u32) -> Option<String> {
    let may = group != 0 && mode & 0o060 == 0o060;
    let groups = std::fs::read_to_string("/etc/group").unwrap_or_default();
    let named = groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == group.to_string()).then(|| name.to_owned())
    });
    may.then(|| named.unwrap_or_else(|| group.to_string()))
}

/// Where a program is, in `PATH` and the folders for root's programs.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&own).filter(|f| f.is_absolute()).collect();
    folders.extend(["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(PathBuf::from));
    folders.into_iter().map(|f| f.join(name)).find(|p| p.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyway_error::{Advice, Explain};

    #[test]
    fn without_a_wish_there_is_always_a_way_and_each_has_a_word_of_its_own() {
        let choice = choose(Wish::default(), |_| true).expect("NBD needs nothing");
        assert!(choice.passed_over.iter().all(|(better, lack)| better.needs.contains(&lack.need)));
        assert_eq!(choice.candidate.depends_on_volume, choice.otherwise.is_some());
        let mut names = CANDIDATES.each_ref().map(|candidate| candidate.name);
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair.first() != pair.last()));
    }

    #[test]
    fn the_group_that_may_is_named() {
        // Debian's, on every machine.
        assert_eq!(group_of(0o20_660, 6).as_deref(), Some("disk"));
        assert_eq!(group_of(0o20_660, 4_000_000_000).as_deref(), Some("4000000000"));
        assert_eq!(group_of(0o20_600, 6), None);
        assert_eq!(group_of(0o20_660, 0), None);
        let reason = LackReason::NotYours(Path::new("/dev/fuse"), group_of(0o660, 6));
        let lack = Lack { need: Need::Fuse, reason };
        assert_eq!(lack.to_string(), "only root and the group disk may open /dev/fuse");
        assert_eq!(lack.advice(), [Advice::JoinGroup { group: "disk".to_owned() }]);
    }

    #[test]
    fn root_without_rights_is_told_what_lacks() {
        let has =
            |root, rights| [Need::Fuse, Need::LoopDevice].map(|need| need.by_root(root, rights).is_ok());
        assert_eq!(has(true, true), [true, true]);
        assert_eq!(has(true, false), [false, false]);
        // A user's are another program's business, and nobody's.
        assert_eq!(has(false, false), [true, false]);
        let lack = Lack { need: Need::Fuse, reason: LackReason::NoRights };
        assert_eq!(lack.advice(), [Advice::GiveCapability { to_open: true }]);
    }

    #[test]
    fn what_is_wanted_rules_ways_out() {
        let wish = Wish { mount: true, protect_hidden: true };
        let nbd = |attachment: &Attachment| matches!(attachment, Attachment::Nbd(_));
        let lack = choose(wish, nbd).expect_err("a socket can't be mounted");
        assert_eq!(lack.need, Need::NothingMounted);
        let kernel = choose(wish, |attachment| *attachment == Attachment::DmCrypt);
        assert_eq!(kernel.expect_err("it would not protect").need, Need::NothingProtected);
    }
}
