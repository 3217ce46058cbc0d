//! What was measured, as tables.

use crate::output::table;
use keyway_lab::bench::{CipherRow, Document, Point, point_words};

/// Tables for people.
pub(super) fn words(document: &Document) -> String {
    let mut text = String::new();
    for point in document.points_of_comparison() {
        text.push_str(&format!("{}: encrypt / decrypt in MB/s\n", point_words(point)));
        text.push_str(&comparison(document, point));
        text.push('\n');
    }
    let points = document.points();
    if points.len() > 1 {
        text.push_str("The kernel that would be chosen, the slower of encrypt and decrypt in MB/s\n");
        let headings: Vec<String> = points.iter().map(|&point| point_words(point)).collect();
        let mut header = vec!["cipher"];
        header.extend(headings.iter().map(String::as_str));
        let speed = |value: Option<f64>| value.map_or_else(String::new, |v| format!("{v:.0}"));
        let row = |name: &str, value: &dyn Fn(Point) -> Option<f64>| -> Vec<String> {
            let cells = points.iter().map(|&point| speed(value(point)));
            std::iter::once(name.to_owned()).chain(cells).collect()
        };
        let mut rows: Vec<_> = document
            .names()
            .into_iter()
            .map(|name| row(name, &|point| document.best_row(name, point).map(CipherRow::mb_s)))
            .collect();
        rows.push(row("copying memory", &|point| document.memory_at(point)));
        text.push_str(&table(&header, 1, rows));
        text.push('\n');
    }
    text.push_str("Copying memory\n");
    let rows = document
        .memory
        .iter()
        .map(|row| vec![point_words((row.buffer_bytes, row.threads)), format!("{:.0}", row.memcpy_mb_s)]);
    text.push_str(&table(&["buffer", "MB/s"], 1, rows));
    if !document.kdfs.is_empty() {
        text.push_str("\nKey derivations on one core\n");
        let rows = document.kdfs.iter().map(|row| {
            vec![
                row.kdf.clone(),
                row.kernel.unwrap_or_default().to_owned(),
                row.iterations.to_string(),
                format!("{:.0}", row.ms),
            ]
        });
        text.push_str(&table(&["", "kernel", "iterations", "ms"], 2, rows));
    }
    let machine = &document.machine;
    text.push_str(&format!(
        "\n{}, {} cores; 512-byte sectors, MB = 10^6 bytes, * the kernel that would be chosen.\n",
        machine.processor, machine.cores
    ));
    if let (Some(mhz), Some(how)) = (machine.clock_mhz, machine.clock_known_by) {
        text.push_str(&format!("Cycles per byte at about {mhz:.0} MHz: {how}.\n"));
    }
    text
}

/// A line for each cipher, a column for each kernel.
fn comparison(document: &Document, point: Point) -> String {
    let kernels = document.kernels_at(point);
    let with_cycles =
        document.ciphers.iter().any(|row| row.point() == point && row.cycles_per_byte().is_some());
    let mut header = vec!["cipher"];
    header.extend(&kernels);
    if with_cycles {
        header.push("cycles/byte");
    }
    let row = |name: &str| {
        let cell = |kernel: &&str| {
            document.row(name, kernel, point).map_or_else(String::new, |row| {
                let mark = if row.chosen { "*" } else { " " };
                format!("{:.0} /{:>6.0}{mark}", row.encrypt_mb_s, row.decrypt_mb_s)
            })
        };
        let mut cells = vec![name.to_owned()];
        cells.extend(kernels.iter().map(cell));
        if with_cycles {
            let best = document.best_row(name, point).and_then(CipherRow::cycles_per_byte);
            cells.push(best.map_or_else(String::new, |cycles| format!("{cycles:.2}")));
        }
        cells
    };
    table(&header, 1, document.names().into_iter().map(row))
}
