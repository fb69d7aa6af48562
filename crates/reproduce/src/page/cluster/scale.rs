//! Time and memory of clustering, as `egg-reproduce cluster-scale` recorded them.

use std::fmt::Write;
use std::path::Path;

use crate::cluster::scale::{ScaleRecord, number};
use crate::error::Result;
use crate::files;

/// The table of a record.
pub(super) fn table(page: &mut String, path: &Path) -> Result<()> {
    let Some(record) = files::find::<ScaleRecord>(path)? else {
        page.push_str("\nmissing\n");
        return Ok(());
    };
    page.push_str(
        "\n| graph | nodes | edges | s an epoch | CPU s an epoch | epochs | s in all | peak MB | p | NMI | ACC |\n\
         |---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for line in &record.graphs {
        let agreement = line.agreement;
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {} | {:.3} | {} | {} | {} | {} |",
            line.graph,
            line.nodes,
            line.edges,
            number(line.epoch_seconds),
            number(line.epoch_cpu_seconds),
            line.epochs,
            line.total_seconds,
            line.peak_megabytes
                .map_or("-".into(), |peak| format!("{peak:.0}")),
            line.dimension,
            number(agreement.map(|agreement| agreement.normalised_mutual_information)),
            number(agreement.map(|agreement| agreement.accuracy)),
        );
    }
    let _ = write!(
        page,
        "\nRevision {}, {} threads.",
        record.revision, record.threads
    );
    if let (Some(clock), Some(cpu)) = (record.exponent, record.cpu_exponent) {
        let _ = write!(
            page,
            " Fitted: an epoch takes c nodes^{clock:.3} seconds by the clock, c nodes^{cpu:.3} of computing."
        );
    }
    page.push('\n');
    Ok(())
}
