//! What others published, beside what was measured, where the test is the same: the same requests at the same depth, over
//! as many bytes, held against the same thing.

use super::words::{cost_words, number};
use crate::result::Metric::{Iops, LatencyUs, MbS, Seconds};
use crate::result::{Comparison, Document, Metric};
use crate::target::{Target, is_hardware, is_unencrypted};
use crate::workload::{Procedure, Workload};
use maud::{Markup, html};

/// What one study says of one drive under one encryption.
struct Study {
    name: &'static str,
    drive: &'static str,
    by: &'static str,
    rows: &'static [Row],
}

/// One of its figures.
struct Row {
    /// Workloads and cell that are the same test.
    workloads: &'static [&'static str],
    cell: &'static str,
    metric: Metric,
    /// Bytes that the test touches.
    bytes: u64,
    /// As published: unencrypted, encrypted, cost.
    plain: &'static str,
    encrypted: &'static str,
    cost: &'static str,
    /// What the cost is held against.
    against: Against,
}

/// What a published cost is held against.
#[derive(Clone, Copy, PartialEq)]
enum Against {
    /// The same drive without encryption.
    None,
    /// The same drive encrypting by itself.
    Hardware,
}

impl Against {
    fn words(self) -> &'static str {
        match self {
            Self::None => "no encryption",
            Self::Hardware => "hardware",
        }
    }

    /// Whether a baseline of ours is the same thing.
    fn is(self, baseline: &str) -> bool {
        match self {
            Self::None => is_unencrypted(baseline),
            Self::Hardware => is_hardware(baseline),
        }
    }
}

/// A cost against no encryption, or a time that nothing stands beside.
const fn row(
    workloads: &'static [&'static str],
    cell: &'static str,
    metric: Metric,
    bytes: u64,
    [plain, encrypted, cost]: [&'static str; 3],
) -> Row {
    Row { workloads, cell, metric, bytes, plain, encrypted, cost, against: Against::None }
}

/// A cost against hardware.
const fn against_hardware(
    workloads: &'static [&'static str],
    cell: &'static str,
    metric: Metric,
    bytes: u64,
    cost: &'static str,
) -> Row {
    let (plain, encrypted) = ("", "");
    Row { workloads, cell, metric, bytes, plain, encrypted, cost, against: Against::Hardware }
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
const PRO_950: &str = "Samsung 950 Pro";
const ULTRA_SLIM: &str = "Seagate Ultra Slim+ (USB)";
const X300: &str = "Toshiba X300 12 TB";
const SOFTWARE: &str = "BitLocker, software";
const CDM: &[&str] = &["cdm", "cdm-nvme", "cdm-qd256"];
const ANAND_4K: &[&str] = &["anand-4k-qd32"];
const DISKBENCH: &[&str] = &["diskbench"];
const IN_PLACE: &[&str] = &["in-place-time", "in-place-used-time"];
const CP: &[&str] = &["cp5g"];
const GNOME: &[&str] = &["gnome-disks"];
const ATTO: &[&str] = &["atto"];
const FORMAT: &[&str] = &["format-time"];
/// CrystalDiskMark's own file, where an article names no other.
const CDM_FILE: u64 = 1 << 30;
/// The hard disk's study says 4 GB.
const CDM_4G: u64 = 4 << 30;
/// ATTO's file, in both articles.
const ATTO_FILE: u64 = 256 << 20;
/// AnandTech's 8 GB of addresses, and what was encrypted in place.
const ANAND_SPAN: u64 = 8_000_000_000;
const IN_USE: u64 = 107_000_000_000;
/// The DiskBench tree.
const TREE: u64 = 53_738_970_410;
/// The file that was copied, and the container, in 2017.
const COPIED: u64 = 5_000_000_000;
const CONTAINER: u64 = 7_000_000_000;
/// Two sizes are the same where one is told in powers of 1000 and the other in powers of 1024.
const SAME_SIZE: f64 = 0.08;

const ALL: &[Study] = &[
    Study {
        name: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        rows: &[
            row(CDM, "RND4K Q1T1 read", LatencyUs, CDM_FILE, ["just over 40", "nearly 51", "+25 %"]),
            row(CDM, "RND4K Q1T1 read", Iops, CDM_FILE, ["", "", "+20 %"]),
            against_hardware(CDM, "RND4K Q1T1 write", Iops, CDM_FILE, "+45 %"),
            row(CDM, "SEQ1M Q1T1 read", MbS, CDM_FILE, ["", "", "none: fastest of the three"]),
            row(CDM, "SEQ1M Q1T1 write", MbS, CDM_FILE, ["", "", "+20 %"]),
            row(CDM, "RND4K Q32T8 read", Iops, CDM_FILE, ["", "", "+30 %"]),
            row(
                CDM,
                "RND4K Q32T8 write",
                Iops,
                CDM_FILE,
                ["", "", "none: best of the three; a cache of the system's may be why"],
            ),
            against_hardware(DISKBENCH, "copy of the tree", MbS, TREE, "+11 %"),
            row(DISKBENCH, "read of one file", MbS, TREE, ["", "", "+3 %"]),
            row(ATTO, "SEQ4K Q4T1 read", MbS, ATTO_FILE, ["", "", "some, on small sizes"]),
            row(ATTO, "SEQ4K Q4T1 write", MbS, ATTO_FILE, ["", "", "some, on small sizes"]),
            row(ATTO, "SEQ256K Q4T1 write", MbS, ATTO_FILE, ["", "", "none from here on"]),
            row(ATTO, "SEQ1M Q4T1 read", MbS, ATTO_FILE, ["", "", "none"]),
            row(ATTO, "SEQ1M Q4T1 write", MbS, ATTO_FILE, ["", "", "none"]),
        ],
    },
    Study {
        name: ANAND,
        drive: PRO_840,
        by: SOFTWARE,
        rows: &[
            row(
                ANAND_4K,
                "RND4K Q32T1 write",
                Iops,
                ANAND_SPAN,
                ["88,911", "63,098", "+29.0 %; the author blames a drive that looks full, not the cipher"],
            ),
            row(IN_PLACE, "encryption in place", Seconds, IN_USE, ["", "about 21 minutes for 107 GB", ""]),
        ],
    },
    Study {
        name: ANAND,
        drive: M500,
        by: "BitLocker, the drive's own (eDrive)",
        rows: &[
            row(ANAND_4K, "RND4K Q32T1 write", Iops, ANAND_SPAN, ["63,335", "62,866", "+0.7 %"]),
            row(IN_PLACE, "encryption in place", Seconds, IN_USE, ["", "a couple of seconds", ""]),
        ],
    },
    Study {
        name: BY_ALGORITHM,
        drive: PRO_950,
        by: "VeraCrypt, each algorithm",
        rows: &[
            row(CP, "copy in", Seconds, COPIED, ["", "8 to 9; Kuznyechik, over FUSE, 57", ""]),
            row(CP, "copy out", Seconds, COPIED, ["", "about 10; Kuznyechik about 12", ""]),
            row(FORMAT, "format", Seconds, CONTAINER, ["", "depends on the algorithm: no figure", ""]),
        ],
    },
    Study {
        name: BY_ALGORITHM,
        drive: PRO_950,
        by: "VeraCrypt, Kuznyechik",
        rows: &[row(
            GNOME,
            "read rate",
            MbS,
            CONTAINER,
            ["", "4,400 to 5,000", "a page cache answered: it decrypts 560 MB/s at most"],
        )],
    },
    Study {
        name: BY_ALGORITHM,
        drive: ULTRA_SLIM,
        by: "VeraCrypt, each algorithm",
        rows: &[
            row(CP, "copy in", Seconds, COPIED, ["longer than some encrypted", "", "less than the noise"]),
            row(
                CP,
                "copy out",
                Seconds,
                COPIED,
                ["", "about 10, from a page cache; Kuznyechik about 12", ""],
            ),
        ],
    },
    Study {
        name: BY_ALGORITHM,
        drive: PRO_950,
        by: "VeraCrypt, AES",
        rows: &[row(GNOME, "read rate", MbS, CONTAINER, ["", "2,400, then 4,000", "a page cache answered"])],
    },
    Study {
        name: HARD_DISK,
        drive: X300,
        by: "VeraCrypt",
        rows: &[
            row(CDM, "SEQ1M Q8T1 read", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "SEQ1M Q8T1 write", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "SEQ1M Q1T1 read", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "SEQ1M Q1T1 write", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "RND4K Q32T1 read", Iops, CDM_4G, ["", "", "a large drop"]),
            row(CDM, "RND4K Q32T1 write", Iops, CDM_4G, ["", "", "none"]),
            row(CDM, "RND4K Q1T1 read", Iops, CDM_4G, ["", "", "none"]),
            row(CDM, "RND4K Q1T1 write", Iops, CDM_4G, ["", "", "none"]),
            row(ATTO, "SEQ4K Q1T1 write", MbS, ATTO_FILE, ["", "", "some, below 64 KB"]),
            row(ATTO, "SEQ64K Q1T1 write", MbS, ATTO_FILE, ["", "", "none from here on"]),
            row(ATTO, "SEQ4K Q4T1 read", MbS, ATTO_FILE, ["", "", "more than at QD1, below 32 KB"]),
            row(ATTO, "SEQ4K Q4T1 write", MbS, ATTO_FILE, ["", "", "more than at QD1, below 32 KB"]),
        ],
    },
    Study {
        name: HARD_DISK,
        drive: X300,
        by: "BitLocker",
        rows: &[
            row(CDM, "SEQ1M Q8T1 read", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "SEQ1M Q8T1 write", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "SEQ1M Q1T1 read", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "SEQ1M Q1T1 write", MbS, CDM_4G, ["", "", "none"]),
            row(CDM, "RND4K Q32T1 read", Iops, CDM_4G, ["", "", "none"]),
            row(CDM, "RND4K Q32T1 write", Iops, CDM_4G, ["", "", "none"]),
            row(CDM, "RND4K Q1T1 read", Iops, CDM_4G, ["", "", "none"]),
            row(CDM, "RND4K Q1T1 write", Iops, CDM_4G, ["", "", "none"]),
            row(ATTO, "SEQ64K Q1T1 write", MbS, ATTO_FILE, ["", "", "little, above 16 KB"]),
            row(ATTO, "SEQ4M Q4T1 write", MbS, ATTO_FILE, ["about 220", "about 150", "+31.8 %, above 2 MB"]),
        ],
    },
];

/// Bytes that a workload touches, as a study would tell them.
fn touched(workload: &Workload, span_bytes: u64) -> u64 {
    match &workload.kind {
        Procedure::Requests(requests) => requests.span_bytes,
        Procedure::Tree(tree) => tree.files.iter().map(|group| group.bytes).sum(),
        Procedure::Copy(copy) => copy.bytes,
        Procedure::Timed(timed) => timed.used_bytes.unwrap_or(timed.bytes),
        Procedure::Positions(_) | Procedure::Condition(_) | Procedure::Traces(_) => span_bytes,
    }
}

/// Published figures that are of the test which a row of ours is of. A document that doesn't say how it was run has none.
fn same_test<'a>(
    document: &'a Document,
    workload: &'a str,
) -> impl Iterator<Item = (&'static Study, &'static Row)> {
    let own = &document.circumstances;
    let bytes = own.workloads.iter().find(|w| w.name == workload).map(|w| touched(w, own.span_bytes));
    let is_same = move |row: &Row| {
        let near = |bytes: u64| (bytes as f64 / row.bytes as f64 - 1.0).abs() < SAME_SIZE;
        bytes.is_some_and(near)
    };
    let workload = workload.to_owned();
    ALL.iter()
        .flat_map(|study| study.rows.iter().map(move |row| (study, row)))
        .filter(move |(_, row)| row.workloads.contains(&workload.as_str()) && is_same(row))
}

/// A table of what was published for the cells of this workload, and ours.
pub(super) fn beside(document: &Document, workload: &str, rows: &[&Comparison]) -> Markup {
    let bare = Target::Bare.to_string();
    let ours = |row: &Row| -> Vec<&Comparison> {
        let same = |r: &&&Comparison| {
            let other = r.target != r.baseline && r.target != bare;
            r.cell == row.cell && r.metric == row.metric && other && row.against.is(&r.baseline)
        };
        rows.iter().filter(same).copied().collect()
    };
    let found: Vec<(&Study, &Row, Vec<&Comparison>)> = same_test(document, workload)
        .map(|(study, row)| (study, row, ours(row)))
        .filter(|(_, _, ours)| !ours.is_empty())
        .collect();
    html! {
        @if !found.is_empty() {
            h3 { "Beside what others published" }
            div.scroll tabindex="0" role="group" aria-label="Beside what others published" { table {
                tr { th scope="col" { "test" } th scope="col" { "where" } th scope="col" { "drive" } th scope="col" { "encrypted by" } th scope="col" { "plain" } th scope="col" { "encrypted" } th scope="col" { "cost" } th scope="col" { "against" } }
                @for (study, row, ours) in &found {
                    tr.published { th scope="row" { (row.cell) ", " (row.metric.unit()) } td { (study.name) } td { (study.drive) } td { (study.by) } td { (row.plain) } td { (row.encrypted) } td { (row.cost) } td { (row.against.words()) } }
                    @for r in ours {
                        tr { td {} td { "measured here" } td { (document.drive) } td { (r.target) } td { (number(r.baseline_value)) } td { (number(r.value)) } td { strong { (cost_words(r)) } } td { (r.baseline) } }
                    }
                }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::Changes;
    use crate::workload;

    /// A row whose cell is misspelt would be left out in silence.
    #[test]
    fn every_row_is_a_cell_of_one_of_its_workloads() {
        let mut looked_at = 0;
        for (cell, workloads) in ALL.iter().flat_map(|study| study.rows).map(|row| (row.cell, row.workloads))
        {
            let kinds = workloads.iter().map(|name| workload::find(name).unwrap().kind);
            let has = |kind: Procedure| match kind {
                Procedure::Requests(requests) => Some(requests.cells.iter().any(|c| c.name == cell)),
                Procedure::Traces(traces) => Some(traces.traces.iter().any(|t| t == cell)),
                _ => None,
            };
            let told: Vec<bool> = kinds.filter_map(has).collect();
            assert!(told.is_empty() || told.contains(&true), "{cell} of {workloads:?}");
            looked_at += usize::from(!told.is_empty());
        }
        assert!(looked_at >= 36, "{looked_at}");
    }

    /// The studies whose figures stand beside this workload with these changes.
    fn beside_whom(name: &str, changes: Changes) -> Vec<&'static str> {
        let workload = changes.apply(&workload::find(name).unwrap()).unwrap();
        let text = serde_json::json!({
            "cells": [], "series": [], "drive": "", "path": "in-process", "date": "", "command": "", "missing": [],
            "notes": [], "machine": {"processor": "", "cores": 2, "memory_bytes": 0, "kernel": "", "keyway": ""},
            "circumstances": {"workloads": [workload], "span_bytes": 0},
        });
        let document: Document = serde_json::from_value(text).unwrap();
        let mut studies: Vec<_> = same_test(&document, name).map(|(study, _)| study.name).collect();
        studies.dedup();
        studies
    }

    #[test]
    fn figures_stand_beside_the_same_test_only() {
        let size = |gib: u64| Changes { span_bytes: Some(gib << 30), ..Changes::default() };
        assert_eq!(beside_whom("cdm", Changes::default()), [TOMS]);
        assert_eq!(beside_whom("cdm", size(4)), [HARD_DISK]);
        assert_eq!(beside_whom("cdm", size(2)), [""; 0]);
        assert_eq!(beside_whom("atto", Changes::default()), [TOMS, HARD_DISK]);
        assert_eq!(beside_whom("atto", size(1)), [""; 0]);
        assert_eq!(beside_whom("quick", Changes::default()), [""; 0]);
        assert_eq!(beside_whom("tree-trace", Changes::default()), [""; 0], "a fiftieth, and recorded");
        assert_eq!(beside_whom("anand-4k-qd32", Changes::default()), [ANAND]);
        assert_eq!(beside_whom("diskbench", Changes { scale: Some(0.02), ..Changes::default() }), [""; 0]);
        assert_eq!(beside_whom("diskbench", Changes::default()), [TOMS]);
    }

    #[test]
    fn a_cost_against_hardware_stands_beside_ours_against_hardware() {
        for (baseline, none, hardware) in [
            ("bare", true, false),
            ("plain", true, false),
            ("hardware", false, true),
            ("/mnt/x", false, false),
        ] {
            assert_eq!(
                (Against::None.is(baseline), Against::Hardware.is(baseline)),
                (none, hardware),
                "{baseline}"
            );
        }
    }
}
