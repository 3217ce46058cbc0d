//! The `INDEX.tsv` files beside the foreign volumes: a header line, then tab-separated fields.

use std::collections::HashMap;
use std::path::Path;

/// A table with named columns.
pub struct Table {
    rows: Vec<Row>,
}

/// One line of a table.
#[derive(Clone)]
pub struct Row {
    fields: HashMap<String, String>,
}

impl Table {
    /// Reads a table.
    ///
    /// # Panics
    /// When the file can't be read or has no header line.
    pub fn read(path: &Path) -> Self {
        let text =
            std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{} can't be read: {e}", path.display()));
        Self::parse(&text)
    }

    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let names: Vec<&str> =
            lines.next().expect("a table starts with its columns' names").split('\t').collect();
        let row = |line: &str| Row {
            fields: names.iter().map(ToString::to_string).zip(line.split('\t').map(String::from)).collect(),
        };
        Self { rows: lines.filter(|line| !line.is_empty()).map(row).collect() }
    }

    /// The lines below the header.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

impl Row {
    /// A field by its column's name; a field cut off at the line's end is empty.
    pub fn get(&self, column: &str) -> &str {
        self.fields.get(column).map_or("", String::as_str)
    }

    /// A comma-separated field, without empty entries.
    pub fn list(&self, column: &str) -> Vec<&str> {
        self.get(column).split(',').filter(|entry| !entry.is_empty()).collect()
    }

    /// A number, where the field holds one.
    pub fn number(&self, column: &str) -> Option<u64> {
        self.get(column).parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name_and_short_lines_end_in_empty_fields() {
        let table = Table::parse("file\tpim\tkeyfiles\na.hc\t5\tk1,k2\nb.hc\n");
        let [a, b] = table.rows() else { panic!("two rows") };
        assert_eq!((a.get("file"), a.number("pim")), ("a.hc", Some(5)));
        assert_eq!(a.list("keyfiles"), ["k1", "k2"]);
        assert_eq!((b.get("pim"), b.number("pim"), b.list("keyfiles").len()), ("", None, 0));
    }
}
