//! What was measured, as tables.

use super::ciphers::CipherRow;
use super::document::{BenchDocument, Point, point_words};
use crate::table::Table;

/// The ciphers kernel by kernel, the chosen kernel by buffers and threads, copying memory, key derivations.
pub fn tables(document: &BenchDocument) -> Vec<Table> {
    let compared = document.points_of_comparison();
    let mut all: Vec<Table> = compared.into_iter().map(|point| comparison(document, point)).collect();
    if document.points().len() > 1 {
        all.push(chosen(document));
    }
    let memory = |row: &super::document::MemoryRow| {
        let speed = format!("{:.0}", row.memcpy_mb_s);
        vec![point_words((row.buffer_bytes, row.threads)), speed, spread(row.memcpy_spread_percent)]
    };
    all.push(Table::new("Copying memory", &["buffer", "MB/s", "±"], 1, document.memory.iter().map(memory)));
    if !document.kdfs.is_empty() {
        let rows = document.kdfs.iter().map(|row| {
            let kernel = row.kernel.unwrap_or_default().to_owned();
            let around = row.spread_percent.map(spread).unwrap_or_default();
            vec![row.kdf.clone(), kernel, row.iterations.to_string(), format!("{:.0}", row.ms), around]
        });
        all.push(Table::new(
            "Key derivations on one core",
            &["", "kernel", "iterations", "ms", "±"],
            2,
            rows,
        ));
    }
    all
}

/// How far turns lie from their median.
fn spread(percent: f64) -> String {
    format!("{percent:.1} %")
}

/// The kernel that would be chosen, a column for each setting.
fn chosen(document: &BenchDocument) -> Table {
    let points = document.points();
    let headings: Vec<String> = points.iter().map(|&point| point_words(point)).collect();
    let mut header = vec!["cipher"];
    header.extend(headings.iter().map(String::as_str));
    let row = |name: &str, value: &dyn Fn(Point) -> Option<f64>| -> Vec<String> {
        let cells = points.iter().map(|&point| value(point).map_or_else(String::new, |v| format!("{v:.0}")));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let cipher = |name| row(name, &|point| document.best_row(name, point).map(CipherRow::mb_s));
    let mut rows: Vec<_> = document.names().into_iter().map(cipher).collect();
    rows.push(row("copying memory", &|point| document.memory_at(point)));
    let title = "The kernel that would be chosen, the slower of encrypt and decrypt in MB/s";
    Table::new(title, &header, 1, rows)
}

/// A line for each cipher, a column for each kernel.
fn comparison(document: &BenchDocument, point: Point) -> Table {
    let kernels = document.kernels_at(point);
    let with_cycles =
        document.ciphers.iter().any(|row| row.point() == point && row.cycles_per_byte().is_some());
    let mut header = vec!["cipher"];
    header.extend(&kernels);
    header.extend(["mean", "±"]);
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
        let best = document.best_row(name, point);
        cells.push(best.map_or_else(String::new, |row| format!("{:.0}", row.mean_mb_s())));
        cells.push(best.map_or_else(String::new, |row| spread(row.spread_percent())));
        if with_cycles {
            let best = best.and_then(CipherRow::cycles_per_byte);
            cells.push(best.map_or_else(String::new, |cycles| format!("{cycles:.2}")));
        }
        cells
    };
    let title = format!("{}: encrypt / decrypt in MB/s", point_words(point));
    Table::new(title, &header, 1, document.names().into_iter().map(row))
}
