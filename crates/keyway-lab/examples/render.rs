//! Draws saved documents: `cargo run -p keyway-lab --example render -- A.json [B.json …] > report.html`.

use keyway_lab::{Document, report};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let read = |path: String| -> Result<Document, Box<dyn std::error::Error>> {
        Ok(serde_json::from_slice(&std::fs::read(path)?)?)
    };
    let documents = std::env::args().skip(1).map(read).collect::<Result<Vec<_>, _>>()?;
    println!("{}", report::html(&documents));
    Ok(())
}
