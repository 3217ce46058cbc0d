//! What a run depended on: with it, the command and the figures, somebody else can repeat it and see why theirs differ.

use crate::other_program::OtherProgram;
use crate::plan::ExperimentPlan;
use crate::rig::Drive;
use crate::sysfs::{device_folder, text};
use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// What a run depended on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Circumstances {
    /// The workloads, whole, as they were run.
    pub workloads: Vec<Workload>,
    /// Bytes of a volume that could be touched.
    pub span_bytes: u64,
    /// Whether requests went through the page cache where a file was read.
    pub buffered: bool,
    /// Whether everything that writes was left out.
    pub reads_only: bool,
    /// Other programs that were measured as well, and their commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherProgram>,
    /// The commit that the program was built from, where its builder told it (`KEYWAY_COMMIT`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// How the kernel sets the processor's clock; several where the cores differ.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub governors: Vec<String>,
    /// Whether the processor may go beyond its nominal clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
    /// Runnable tasks of the last minute, before anything was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The file system that the drive's file is on, and its options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// The drive's firmware, as it calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The kernel's scheduler of requests to the drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
}

impl Circumstances {
    /// Those of a plan, here and now.
    pub(crate) fn of(plan: &ExperimentPlan) -> Self {
        let path = match &plan.drive {
            Drive::Path(path) => Some(path.as_path()),
            Drive::Model(_) => None,
        };
        let device = path.and_then(device_folder);
        let of_device = |names: &[&str]| names.iter().find_map(|name| text(&device.as_ref()?.join(name)));
        Self {
            workloads: plan.workloads.clone(),
            span_bytes: plan.span_bytes,
            buffered: plan.buffered,
            reads_only: plan.reads_only,
            others: plan.others.clone(),
            commit: option_env!("KEYWAY_COMMIT").map(str::to_owned),
            governors: governors(),
            boost: boost(),
            load: text(Path::new("/proc/loadavg"))
                .and_then(|line| line.split_whitespace().next()?.parse().ok()),
            filesystem: path.and_then(filesystem),
            // NVMe drives have the first, SCSI and SATA ones the second.
            firmware: of_device(&["device/firmware_rev", "device/rev"]),
            scheduler: of_device(&["queue/scheduler"]).map(|all| chosen(&all).to_owned()),
        }
    }
}

/// Of "none [mq-deadline] kyber" the one in brackets.
fn chosen(all: &str) -> &str {
    all.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or(all, |(name, _)| name)
}

fn governors() -> Vec<String> {
    let cores = fs::read_dir("/sys/devices/system/cpu/cpufreq").into_iter().flatten().flatten();
    let all: BTreeSet<String> =
        cores.filter_map(|core| text(&core.path().join("scaling_governor"))).collect();
    all.into_iter().collect()
}

fn boost() -> Option<bool> {
    let cpu = Path::new("/sys/devices/system/cpu");
    let no_turbo = text(&cpu.join("intel_pstate/no_turbo")).map(|flag| flag == "0");
    no_turbo.or_else(|| text(&cpu.join("cpufreq/boost")).map(|flag| flag == "1"))
}

/// The file system that a file or folder is on; a device is on none.
fn filesystem(path: &Path) -> Option<String> {
    let kind = path.metadata().ok()?.file_type();
    if kind.is_block_device() {
        return None;
    }
    let path = fs::canonicalize(path).ok()?;
    mounted_at(&fs::read_to_string("/proc/self/mountinfo").ok()?, &path)
}

/// Type and options of the mount that a path is on: the one with the longest name that leads there, of several the last
/// (proc(5): "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue").
fn mounted_at(mountinfo: &str, path: &Path) -> Option<String> {
    let parse = |line: &str| {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(4);
        let (at, options) = (mount.next()?, mount.next()?);
        let mut system = system.split(' ');
        let (kind, all) = (system.next()?, system.nth(1)?);
        path.starts_with(at).then(|| (at.len(), format!("{kind} ({options}; {all})")))
    };
    mountinfo.lines().filter_map(parse).max_by_key(|(len, _)| *len).map(|(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mount_with_the_longest_name_counts() {
        let table = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n\
                     30 22 0:25 / /mnt rw,noatime shared:2 master:1 - btrfs /dev/sdb rw,ssd\n\
                     31 22 0:26 / /mnt rw - xfs /dev/sdc rw,attr2\n";
        let at = |path: &str| mounted_at(table, Path::new(path)).expect("a mount");
        assert_eq!(at("/home/x"), "ext4 (rw,relatime; rw,errors=remount-ro)");
        assert_eq!(at("/mnt/x"), "xfs (rw; rw,attr2)", "the last one covers the other");
        assert_eq!(at("/mnter"), "ext4 (rw,relatime; rw,errors=remount-ro)");
        for broken in ["", "1 2 3", "1 2 3 4 / rw - ext4"] {
            assert_eq!(mounted_at(broken, Path::new("/")), None);
        }
    }

    #[test]
    fn the_scheduler_in_brackets_is_the_one() {
        assert_eq!(
            ["none [mq-deadline] kyber", "[none]", "none"].map(chosen),
            ["mq-deadline", "none", "none"]
        );
    }
}
