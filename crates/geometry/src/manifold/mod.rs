//! The Grassmann manifold Gr(p, m): points, tangent vectors, exponential, logarithm, geodesics and
//! parallel transport, retractions, means and k-means.

pub(crate) mod geodesic;
pub(crate) mod kmeans;
pub(crate) mod mean;
pub(crate) mod point;
mod retraction;
pub(crate) mod tangent;
