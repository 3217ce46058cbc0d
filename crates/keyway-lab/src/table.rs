//! Figures side by side, before anybody draws them.

/// Figures side by side. A front draws it: lines up its columns, and lets no name in it steer a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// What each column holds.
    pub header: Vec<String>,
    /// The first column that holds numbers.
    pub numbers_from: usize,
    /// Its rows, as many cells in each as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table of these columns.
    pub(crate) fn new(
        title: impl Into<String>,
        header: &[&str],
        numbers_from: usize,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Self {
        let header = header.iter().map(|column| (*column).to_owned()).collect();
        Self { title: title.into(), header, numbers_from, rows: rows.into_iter().collect() }
    }
}
