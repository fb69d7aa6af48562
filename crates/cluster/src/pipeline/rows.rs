//! What k-means is run on.

use ndarray::{Array2, ArrayView2, Axis};

use super::config::Coordinates;
use crate::error::{Error, Result};

/// The rows that k-means is run on.
pub(super) struct Rows {
    /// If not `H` itself.
    pub(super) own: Option<Array2<f64>>,
    /// The shares that they have of the singular values of `H`, and of the squares.
    pub(super) captured: f64,
    pub(super) captured_squares: f64,
}

impl Rows {
    /// The rows of `H`, which was computed in f32 if it is `single`: then so is its rounding error.
    ///
    /// # Errors
    /// [`Error::ZeroEmbedding`]; those of EGG.
    pub(super) fn new(h: ArrayView2<'_, f64>, single: bool, coordinates: &Coordinates) -> Result<Self> {
        if h.iter().all(|x| *x == 0.0) {
            return Err(Error::ZeroEmbedding { nodes: h.nrows() });
        }
        let whole = |own| Self {
            own,
            captured: 1.0,
            captured_squares: 1.0,
        };
        Ok(match coordinates {
            Coordinates::Plain {
                normalise_rows: false,
            } => whole(None),
            Coordinates::Plain { normalise_rows: true } => {
                let mut rows = h.to_owned();
                for mut row in rows.axis_iter_mut(Axis(0)) {
                    let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                    if length > 0.0 {
                        row /= length;
                    }
                }
                whole(Some(rows))
            }
            Coordinates::Egg(egg) => {
                let egg = egg.check()?;
                #[expect(clippy::cast_possible_truncation, reason = "it was f32 before")]
                let found = match single {
                    true => egg.embed(h.mapv(|x| x as f32).view())?,
                    false => egg.embed(h)?,
                };
                Self {
                    own: Some(found.coordinates),
                    captured: found.choice.captured,
                    captured_squares: found.captured_squares,
                }
            }
        })
    }

    /// The rows, of which `h` is what they were made of.
    pub(super) fn points<'a>(&'a self, h: ArrayView2<'a, f64>) -> ArrayView2<'a, f64> {
        self.own.as_ref().map_or(h, |rows| rows.view())
    }
}
