//! A report of made-up runs, to inspect the page:
//!
//! ```text
//! cargo run -p egg-report --example gallery -- target/gallery.html
//! ```
//!
//! No number in it was measured. Apart from the page it writes one chart as a standalone file.

use std::error::Error;
use std::path::PathBuf;

use egg_report::svg;

#[path = "../tests/suite/made_up.rs"]
mod made_up;

#[expect(clippy::print_stdout, reason = "an example says where its file is")]
fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os()
        .nth(1)
        .map_or_else(|| PathBuf::from("target/gallery.html"), PathBuf::from);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let records = made_up::records();
    egg_report::write_html(&path, &records)?;
    let methods: Vec<_> = records[0].methods.iter().collect();
    let colours: Vec<usize> = (0..methods.len()).collect();
    let charts = [
        svg::loss_curves(&methods, &colours)?,
        svg::metric_curves(&methods, &colours)?,
    ];
    let charts: Vec<_> = charts.iter().flatten().collect();
    std::fs::write(path.with_extension("svg"), svg::side_by_side(&charts, 2))?;
    println!("{}", path.display());
    Ok(())
}
