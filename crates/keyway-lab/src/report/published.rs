//! What others published, beside what was measured, where the test is the same.

use super::words::{cost_words, number};
use crate::{BARE_DRIVE, Comparison, Document, Metric};
use maud::{Markup, html};

/// One published result. Costs are relative to the same drive without encryption.
struct Published {
    /// Workloads and cell that are the same test.
    workloads: &'static [&'static str],
    cell: &'static str,
    metric: Metric,
    study: &'static str,
    drive: &'static str,
    by: &'static str,
    plain: &'static str,
    encrypted: &'static str,
    cost: &'static str,
}

/// Tom's Hardware, 2023, "Windows 11 Pro's on-by-default encryption slows SSDs".
const TOMS: &str = "Tom's Hardware 2023";
/// AnandTech, 2013, Crucial M500 and eDrive.
const ANAND: &str = "AnandTech 2013";
/// VeraCrypt 1.19 by algorithm on Linux, 2017.
const BY_ALGORITHM: &str = "VeraCrypt by algorithm 2017";
/// VeraCrypt 1.25.9 against BitLocker on a hard disk, 2023.
const HARD_DISK: &str = "VeraCrypt and BitLocker on a hard disk 2023";
const PRO_990: &str = "Samsung 990 Pro 4 TB";
const PRO_840: &str = "Samsung 840 Pro 256 GB";
const M500: &str = "Crucial M500 240 GB";
const SOFTWARE: &str = "BitLocker, software";
const EDRIVE: &str = "BitLocker, the drive's own (eDrive)";
const CDM: &[&str] = &["cdm", "cdm-nvme", "cdm-qd256", "quick"];

const ALL: &[Published] = &[
    Published {
        workloads: CDM,
        cell: "RND4K Q1T1 read",
        metric: Metric::LatencyUs,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "just over 40",
        encrypted: "nearly 51",
        cost: "+25 %",
    },
    Published {
        workloads: CDM,
        cell: "RND4K Q1T1 write",
        metric: Metric::Iops,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "+45 % (against hardware)",
    },
    Published {
        workloads: CDM,
        cell: "SEQ1M Q1T1 write",
        metric: Metric::MbS,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "+20 %",
    },
    Published {
        workloads: CDM,
        cell: "SEQ1M Q1T1 read",
        metric: Metric::MbS,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "none (within noise)",
    },
    Published {
        workloads: CDM,
        cell: "RND4K Q32T8 read",
        metric: Metric::Iops,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "+30 %",
    },
    Published {
        workloads: CDM,
        cell: "RND4K Q32T8 write",
        metric: Metric::Iops,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "best of three: an operating system's cache",
    },
    Published {
        workloads: &["anand-4k-qd32"],
        cell: "RND4K Q32T1 write",
        metric: Metric::Iops,
        study: ANAND,
        drive: PRO_840,
        by: SOFTWARE,
        plain: "88,911",
        encrypted: "63,098",
        cost: "+29.0 %",
    },
    Published {
        workloads: &["anand-4k-qd32"],
        cell: "RND4K Q32T1 write",
        metric: Metric::Iops,
        study: ANAND,
        drive: M500,
        by: EDRIVE,
        plain: "63,335",
        encrypted: "62,866",
        cost: "+0.7 %",
    },
    Published {
        workloads: &["app-traces"],
        cell: "pcmark-like",
        metric: Metric::MbS,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "607 (PCMark 10)",
        encrypted: "490",
        cost: "+21 % (against hardware)",
    },
    Published {
        workloads: &["app-traces"],
        cell: "pcmark-like",
        metric: Metric::MbS,
        study: TOMS,
        drive: PRO_990,
        by: "BitLocker, hardware (Opal)",
        plain: "607 (PCMark 10)",
        encrypted: "620",
        cost: "none (each ±10)",
    },
    Published {
        workloads: &["diskbench"],
        cell: "copy of the tree",
        metric: Metric::MbS,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "+11 % (against hardware)",
    },
    Published {
        workloads: &["tree-trace"],
        cell: "tree-copy",
        metric: Metric::MbS,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "+11 % (against hardware)",
    },
    Published {
        workloads: &["diskbench"],
        cell: "read of one file",
        metric: Metric::MbS,
        study: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        plain: "",
        encrypted: "",
        cost: "+3 % (against hardware)",
    },
    Published {
        workloads: &["in-place-time"],
        cell: "encryption in place",
        metric: Metric::Seconds,
        study: ANAND,
        drive: M500,
        by: EDRIVE,
        plain: "",
        encrypted: "a couple of seconds",
        cost: "",
    },
    Published {
        workloads: &["in-place-time"],
        cell: "encryption in place",
        metric: Metric::Seconds,
        study: ANAND,
        drive: PRO_840,
        by: SOFTWARE,
        plain: "",
        encrypted: "about 21 minutes for 107 GB",
        cost: "",
    },
    Published {
        workloads: &["cp5g"],
        cell: "copy in",
        metric: Metric::Seconds,
        study: BY_ALGORITHM,
        drive: "Samsung 950 Pro",
        by: "VeraCrypt, each algorithm",
        plain: "",
        encrypted: "8 to 9; Kuznyechik 57",
        cost: "",
    },
    Published {
        workloads: &["cp5g"],
        cell: "copy out",
        metric: Metric::Seconds,
        study: BY_ALGORITHM,
        drive: "Samsung 950 Pro",
        by: "VeraCrypt, each algorithm",
        plain: "",
        encrypted: "about 10; Kuznyechik about 12",
        cost: "",
    },
    Published {
        workloads: &["gnome-disks"],
        cell: "read rate",
        metric: Metric::MbS,
        study: BY_ALGORITHM,
        drive: "Samsung 950 Pro",
        by: "VeraCrypt, AES",
        plain: "",
        encrypted: "2,400, then 4,000",
        cost: "a page cache answered",
    },
    Published {
        workloads: &["cdm", "quick"],
        cell: "RND4K Q32T1 read",
        metric: Metric::Iops,
        study: HARD_DISK,
        drive: "Toshiba X300 12 TB",
        by: "VeraCrypt",
        plain: "",
        encrypted: "",
        cost: "a large drop",
    },
    Published {
        workloads: &["cdm", "quick"],
        cell: "RND4K Q32T1 read",
        metric: Metric::Iops,
        study: HARD_DISK,
        drive: "Toshiba X300 12 TB",
        by: "BitLocker",
        plain: "",
        encrypted: "",
        cost: "none",
    },
];

/// A table of what was published for the cells of this workload, and ours.
pub(super) fn beside(document: &Document, workload: &str, rows: &[&Comparison]) -> Markup {
    let found: Vec<(&Published, Vec<&Comparison>)> = ALL
        .iter()
        .filter(|p| p.workloads.contains(&workload))
        .map(|p| {
            let same = |r: &&&Comparison| r.cell == p.cell && r.metric == p.metric && r.target != r.baseline;
            (p, rows.iter().filter(same).copied().collect::<Vec<_>>())
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    html! {
        @if !found.is_empty() {
            h3 { "Beside what others published" }
            div.scroll { table {
                tr { th { "test" } th { "where" } th { "drive" } th { "encrypted by" } th { "plain" } th { "encrypted" } th { "cost" } }
                @for (p, rows) in &found {
                    tr.published { td { (p.cell) ", " (p.metric.unit()) } td { (p.study) } td { (p.drive) } td { (p.by) } td { (p.plain) } td { (p.encrypted) } td { (p.cost) } }
                    @for r in rows.iter().filter(|r| r.target != BARE_DRIVE) {
                        tr { td {} td { "measured here" } td { (document.drive) } td { (r.target) } td { (number(r.baseline_value)) } td { (number(r.value)) } td { strong { (cost_words(r)) } } }
                    }
                }
            } }
        }
    }
}
