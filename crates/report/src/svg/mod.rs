//! Charts as SVG, one function for each kind; `None` if there is nothing to draw.

mod bars;
mod chart;
mod confusion;
mod curves;
mod ink;
mod legend;
mod lines;
mod map;
mod marker;
mod pixels;
mod scale;
mod strip;
mod sweep;

pub use bars::ranks;
pub use chart::{Chart, side_by_side};
pub use confusion::confusion;
pub(crate) use curves::unit;
pub use curves::{clustering_losses, loss_curves, metric_curves};
pub(crate) use ink::style_sheet;
pub use map::map;
pub(crate) use scale::Unit;
pub(crate) use strip::scores;
pub use strip::test_scores;
pub use sweep::sweep;
