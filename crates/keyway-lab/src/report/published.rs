//! What others published, beside what was measured, where the test is the same.

use super::words::{cost_words, number};
use crate::{Comparison, Document, Metric};
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
const CDM: &[&str] = &["cdm", "cdm-nvme", "cdm-qd256", "quick"];

const ALL: &[Published] = &[
    Published {
        workloads: CDM,
        cell: "RND4K Q1T1 read",
        metric: Metric::LatencyUs,
        study: TOMS,
        drive: "Samsung 990 Pro 4 TB",
        by: "BitLocker, software",
        plain: "just over 40",
        encrypted: "nearly 51",
        cost: "+25 %",
    },
    Published {
        workloads: CDM,
        cell: "RND4K Q1T1 write",
        metric: Metric::Iops,
        study: TOMS,
        drive: "Samsung 990 Pro 4 TB",
        by: "BitLocker, software",
        plain: "",
        encrypted: "",
        cost: "+45 % (against hardware)",
    },
    Published {
        workloads: CDM,
        cell: "SEQ1M Q1T1 write",
        metric: Metric::MbS,
        study: TOMS,
        drive: "Samsung 990 Pro 4 TB",
        by: "BitLocker, software",
        plain: "",
        encrypted: "",
        cost: "+20 %",
    },
    Published {
        workloads: CDM,
        cell: "SEQ1M Q1T1 read",
        metric: Metric::MbS,
        study: TOMS,
        drive: "Samsung 990 Pro 4 TB",
        by: "BitLocker, software",
        plain: "",
        encrypted: "",
        cost: "none (within noise)",
    },
    Published {
        workloads: CDM,
        cell: "RND4K Q32T8 read",
        metric: Metric::Iops,
        study: TOMS,
        drive: "Samsung 990 Pro 4 TB",
        by: "BitLocker, software",
        plain: "",
        encrypted: "",
        cost: "+30 %",
    },
    Published {
        workloads: CDM,
        cell: "RND4K Q32T8 write",
        metric: Metric::Iops,
        study: TOMS,
        drive: "Samsung 990 Pro 4 TB",
        by: "BitLocker, software",
        plain: "",
        encrypted: "",
        cost: "best of three: an operating system's cache",
    },
    Published {
        workloads: &["anand-4k-qd32"],
        cell: "RND4K Q32T1 write",
        metric: Metric::Iops,
        study: ANAND,
        drive: "Samsung 840 Pro 256 GB",
        by: "BitLocker, software",
        plain: "88,911",
        encrypted: "63,098",
        cost: "+29.0 %",
    },
    Published {
        workloads: &["anand-4k-qd32"],
        cell: "RND4K Q32T1 write",
        metric: Metric::Iops,
        study: ANAND,
        drive: "Crucial M500 240 GB",
        by: "BitLocker, the drive's own (eDrive)",
        plain: "63,335",
        encrypted: "62,866",
        cost: "+0.7 %",
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
                    @for r in rows.iter().filter(|r| r.target.contains(':')) {
                        tr { td {} td { "measured here" } td { (document.drive) } td { (r.target) } td { (number(r.baseline_value)) } td { (number(r.value)) } td { strong { (cost_words(r)) } } }
                    }
                }
            } }
        }
    }
}
