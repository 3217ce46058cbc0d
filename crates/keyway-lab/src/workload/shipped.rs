//! The workloads that come with the program.

use super::definition::Workload;
use super::parse::parse;
use crate::error::LabError;
use std::path::Path;

/// File name and text of each.
const SHIPPED: &[(&str, &str)] = &[
    ("cdm.toml", include_str!("../../workloads/cdm.toml")),
    ("cdm-nvme.toml", include_str!("../../workloads/cdm-nvme.toml")),
    ("cdm-qd256.toml", include_str!("../../workloads/cdm-qd256.toml")),
    ("quick.toml", include_str!("../../workloads/quick.toml")),
    ("atto.toml", include_str!("../../workloads/atto.toml")),
    ("foreground.toml", include_str!("../../workloads/foreground.toml")),
    ("gnome-disks.toml", include_str!("../../workloads/gnome-disks.toml")),
    ("iometer-condition.toml", include_str!("../../workloads/iometer-condition.toml")),
    ("diskbench.toml", include_str!("../../workloads/diskbench.toml")),
    ("tree-trace.toml", include_str!("../../workloads/tree-trace.toml")),
    ("cp5g.toml", include_str!("../../workloads/cp5g.toml")),
    ("app-traces.toml", include_str!("../../workloads/app-traces.toml")),
    ("app-start.toml", include_str!("../../workloads/app-start.toml")),
    ("format-time.toml", include_str!("../../workloads/format-time.toml")),
    ("in-place-time.toml", include_str!("../../workloads/in-place-time.toml")),
    ("in-place-used-time.toml", include_str!("../../workloads/in-place-used-time.toml")),
    ("unlock-time.toml", include_str!("../../workloads/unlock-time.toml")),
    ("anand-4k-qd32.toml", include_str!("../../workloads/anand-4k-qd32.toml")),
];

/// Longest workload file that is read, in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// Every shipped workload.
///
/// # Errors
/// None in a program whose tests have passed.
pub fn shipped() -> Result<Vec<Workload>, LabError> {
    SHIPPED.iter().map(|(file, text)| parse(file, text)).collect()
}

/// The shipped workload of that name, or the one in the file of that path.
///
/// # Errors
/// There is neither; the file can't be read or makes no sense.
pub fn find(name: &str) -> Result<Workload, LabError> {
    let own = SHIPPED.iter().find(|(file, _)| file.strip_suffix(".toml") == Some(name));
    if let Some((file, text)) = own {
        return parse(file, text);
    }
    let path = Path::new(name);
    let Ok(meta) = path.metadata() else { return Err(LabError::NoSuchWorkload(name.to_owned())) };
    if !meta.is_file() || meta.len() > FILE_LIMIT {
        return Err(LabError::NoSuchWorkload(name.to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(|e| LabError::io("read", path, e))?;
    parse(name, &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shipped_workload_is_named_as_its_file_and_says_where_it_is_from() {
        for ((file, _), workload) in SHIPPED.iter().zip(shipped().expect("they parse")) {
            assert_eq!(format!("{}.toml", workload.name), *file);
            assert!(!workload.source.is_empty() && !workload.title.is_empty(), "{file}");
        }
    }

    #[test]
    fn an_unknown_name_is_told() {
        assert!(matches!(find("cdmm"), Err(LabError::NoSuchWorkload(_))));
    }
}
