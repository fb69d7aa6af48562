//! The Grassmann manifold itself: points, tangents, geodesics, means and clusters.

pub(crate) mod geodesic;
pub(crate) mod kmeans;
pub(crate) mod mean;
pub(crate) mod point;
mod retraction;
pub(crate) mod tangent;
