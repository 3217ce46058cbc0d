//! What others published, beside what was measured, where the test is the same.

use super::words::{cost_words, number};
use crate::result::Metric::{Iops, LatencyUs, MbS, Seconds};
use crate::result::{Comparison, Document, Metric};
use crate::target::Target;
use maud::{Markup, html};

/// What one study says of one drive under one encryption. Costs are relative to the same drive without
/// encryption, unless they say otherwise.
struct Study {
    name: &'static str,
    drive: &'static str,
    by: &'static str,
    rows: &'static [Row],
}

/// Workloads and cell that are the same test, its metric, then as published: plain, encrypted, cost.
type Row = (&'static [&'static str], &'static str, Metric, &'static str, &'static str, &'static str);

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
const X300: &str = "Toshiba X300 12 TB";
const SOFTWARE: &str = "BitLocker, software";
const CDM: &[&str] = &["cdm", "cdm-nvme", "cdm-qd256", "quick"];
const ANAND_4K: &[&str] = &["anand-4k-qd32"];
const TRACES: &[&str] = &["app-traces"];
const DISKBENCH: &[&str] = &["diskbench"];
const TREE: &[&str] = &["tree-trace"];
const IN_PLACE: &[&str] = &["in-place-time", "in-place-used-time"];
const CP: &[&str] = &["cp5g"];
const GNOME: &[&str] = &["gnome-disks"];

const ALL: &[Study] = &[
    Study {
        name: TOMS,
        drive: PRO_990,
        by: SOFTWARE,
        rows: &[
            (CDM, "RND4K Q1T1 read", LatencyUs, "just over 40", "nearly 51", "+25 %"),
            (CDM, "RND4K Q1T1 write", Iops, "", "", "+45 % (against hardware)"),
            (CDM, "SEQ1M Q1T1 read", MbS, "", "", "none (within noise)"),
            (CDM, "SEQ1M Q1T1 write", MbS, "", "", "+20 %"),
            (CDM, "RND4K Q32T8 read", Iops, "", "", "+30 %"),
            (CDM, "RND4K Q32T8 write", Iops, "", "", "best of three: an operating system's cache"),
            (TRACES, "pcmark-like", MbS, "607 (PCMark 10)", "490", "+21 % (against hardware)"),
            (DISKBENCH, "copy of the tree", MbS, "", "", "+11 % (against hardware)"),
            (TREE, "tree-copy", MbS, "", "", "+11 % (against hardware)"),
            (DISKBENCH, "read of one file", MbS, "", "", "+3 % (against hardware)"),
        ],
    },
    Study {
        name: TOMS,
        drive: PRO_990,
        by: "BitLocker, hardware (Opal)",
        rows: &[(TRACES, "pcmark-like", MbS, "607 (PCMark 10)", "620", "none (each ±10)")],
    },
    Study {
        name: ANAND,
        drive: PRO_840,
        by: SOFTWARE,
        rows: &[
            (ANAND_4K, "RND4K Q32T1 write", Iops, "88,911", "63,098", "+29.0 %"),
            (IN_PLACE, "encryption in place", Seconds, "", "about 21 minutes for 107 GB", ""),
        ],
    },
    Study {
        name: ANAND,
        drive: M500,
        by: "BitLocker, the drive's own (eDrive)",
        rows: &[
            (ANAND_4K, "RND4K Q32T1 write", Iops, "63,335", "62,866", "+0.7 %"),
            (IN_PLACE, "encryption in place", Seconds, "", "a couple of seconds", ""),
        ],
    },
    Study {
        name: BY_ALGORITHM,
        drive: PRO_950,
        by: "VeraCrypt, each algorithm",
        rows: &[
            (CP, "copy in", Seconds, "", "8 to 9; Kuznyechik 57", ""),
            (CP, "copy out", Seconds, "", "about 10; Kuznyechik about 12", ""),
        ],
    },
    Study {
        name: BY_ALGORITHM,
        drive: PRO_950,
        by: "VeraCrypt, AES",
        rows: &[(GNOME, "read rate", MbS, "", "2,400, then 4,000", "a page cache answered")],
    },
    Study {
        name: HARD_DISK,
        drive: X300,
        by: "VeraCrypt",
        rows: &[
            (CDM, "SEQ1M Q8T1 read", MbS, "", "", "none"),
            (CDM, "SEQ1M Q8T1 write", MbS, "", "", "none"),
            (CDM, "RND4K Q32T1 read", Iops, "", "", "a large drop"),
            (CDM, "RND4K Q32T1 write", Iops, "", "", "none"),
        ],
    },
    Study {
        name: HARD_DISK,
        drive: X300,
        by: "BitLocker",
        rows: &[
            (CDM, "SEQ1M Q8T1 read", MbS, "", "", "none"),
            (CDM, "SEQ1M Q8T1 write", MbS, "", "", "none"),
            (CDM, "RND4K Q32T1 read", Iops, "", "", "none"),
            (CDM, "RND4K Q32T1 write", Iops, "", "", "none"),
        ],
    },
];

/// A table of what was published for the cells of this workload, and ours.
pub(super) fn beside(document: &Document, workload: &str, rows: &[&Comparison]) -> Markup {
    let bare = Target::Bare.to_string();
    let ours = |cell: &str, metric: Metric| -> Vec<&Comparison> {
        let same = |r: &&&Comparison| r.cell == cell && r.metric == metric && r.target != r.baseline;
        rows.iter().filter(same).copied().collect()
    };
    let found: Vec<(&Study, &Row, Vec<&Comparison>)> = ALL
        .iter()
        .flat_map(|study| study.rows.iter().map(move |row| (study, row)))
        .filter(|(_, row)| row.0.contains(&workload))
        .map(|(study, row)| (study, row, ours(row.1, row.2)))
        .filter(|(_, _, ours)| !ours.is_empty())
        .collect();
    html! {
        @if !found.is_empty() {
            h3 { "Beside what others published" }
            div.scroll { table {
                tr { th { "test" } th { "where" } th { "drive" } th { "encrypted by" } th { "plain" } th { "encrypted" } th { "cost" } }
                @for (study, (_, cell, metric, plain, encrypted, cost), ours) in &found {
                    tr.published { td { (cell) ", " (metric.unit()) } td { (study.name) } td { (study.drive) } td { (study.by) } td { (plain) } td { (encrypted) } td { (cost) } }
                    @for r in ours.iter().filter(|r| r.target != bare) {
                        tr { td {} td { "measured here" } td { (document.drive) } td { (r.target) } td { (number(r.baseline_value)) } td { (number(r.value)) } td { strong { (cost_words(r)) } } }
                    }
                }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{self, Procedure};

    /// A row whose cell is misspelt would be left out in silence.
    #[test]
    fn every_row_is_a_cell_of_one_of_its_workloads() {
        let mut looked_at = 0;
        for (cell, workloads) in ALL.iter().flat_map(|study| study.rows).map(|row| (row.1, row.0)) {
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
        assert!(looked_at >= 19, "{looked_at}");
    }
}
