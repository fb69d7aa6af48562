//! Reads the values that PyTorch computed, and compares.

use std::collections::BTreeMap;

use approx::abs_diff_eq;
use candle_core::{DType, Device, Tensor};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct Stored {
    shape: Vec<usize>,
    values: Vec<f64>,
}

impl Stored {
    /// The largest absolute value.
    pub(crate) fn largest(&self) -> f64 {
        self.values.iter().fold(0.0, |most, v| most.max(v.abs()))
    }

    pub(crate) fn tensor(&self, dtype: DType) -> Tensor {
        let tensor = Tensor::from_slice(&self.values, self.shape.as_slice(), &Device::Cpu).unwrap();
        tensor.to_dtype(dtype).unwrap()
    }
}

#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) x: Stored,
    pub(crate) g: Stored,
    pub(crate) y: Stored,
    pub(crate) state: BTreeMap<String, Stored>,
    pub(crate) gradients: BTreeMap<String, Stored>,
    pub(crate) buffers: BTreeMap<String, Stored>,
}

#[derive(Deserialize)]
struct Layers {
    cases: BTreeMap<String, Case>,
}

pub(crate) fn layer_case(name: &str) -> Case {
    let mut layers: Layers = serde_json::from_str(include_str!("../fixtures/layers.json")).unwrap();
    layers.cases.remove(name).unwrap()
}

/// What `training.py` computed.
#[derive(Deserialize)]
pub(crate) struct Training {
    pub(crate) adam: BTreeMap<String, AdamCase>,
    pub(crate) losses: BTreeMap<String, LossCase>,
    pub(crate) segments: BTreeMap<String, SegmentCase>,
    pub(crate) plateau: Vec<PlateauCase>,
    pub(crate) clip: Vec<ClipCase>,
}

#[derive(Deserialize)]
pub(crate) struct LossCase {
    pub(crate) x: Stored,
    pub(crate) target: Stored,
    pub(crate) loss: f64,
    pub(crate) gradient: Stored,
}

#[derive(Deserialize)]
pub(crate) struct SegmentCase {
    pub(crate) offsets: Vec<usize>,
    pub(crate) x: Stored,
    pub(crate) g: Stored,
    pub(crate) y: Stored,
    pub(crate) gradient: Stored,
}

#[derive(Deserialize)]
pub(crate) struct PlateauCase {
    pub(crate) factor: f64,
    pub(crate) patience: u64,
    pub(crate) threshold: f64,
    pub(crate) min_lr: f64,
    pub(crate) metrics: Vec<f64>,
    pub(crate) rates: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct ClipCase {
    pub(crate) greatest: f64,
    pub(crate) norm: f64,
    pub(crate) before: BTreeMap<String, Option<Stored>>,
    pub(crate) after: BTreeMap<String, Stored>,
}

#[derive(Deserialize)]
pub(crate) struct AdamCase {
    pub(crate) first: BTreeMap<String, Stored>,
    pub(crate) steps: Vec<AdamStep>,
    pub(crate) moments: BTreeMap<String, StoredMoments>,
}

#[derive(Deserialize)]
pub(crate) struct AdamStep {
    pub(crate) rate: f64,
    pub(crate) gradients: BTreeMap<String, Option<Stored>>,
    pub(crate) after: BTreeMap<String, Stored>,
}

#[derive(Deserialize)]
pub(crate) struct StoredMoments {
    pub(crate) steps: u64,
    pub(crate) first: Stored,
    pub(crate) second: Stored,
}

pub(crate) fn training() -> Training {
    serde_json::from_str(include_str!("../fixtures/training.json")).unwrap()
}

pub(crate) fn tolerance(dtype: DType) -> f64 {
    if dtype == DType::F32 { 1e-5 } else { 1e-12 }
}

pub(crate) fn flat(tensor: &Tensor) -> Vec<f64> {
    let tensor = tensor.detach().to_dtype(DType::F64).unwrap();
    tensor.flatten_all().unwrap().to_vec1().unwrap()
}

/// Compares to `tolerance`, relative to the largest value (at least 1): sums
/// round in proportion to their largest term.
#[track_caller]
pub(crate) fn assert_close(what: &str, found: &Tensor, expected: &Stored, tolerance: f64) {
    assert_close_at(what, found, expected, tolerance, 1.0);
}

/// [`assert_close`] for sums whose terms are as large as `scale` and may cancel.
#[track_caller]
pub(crate) fn assert_close_at(what: &str, found: &Tensor, expected: &Stored, tolerance: f64, scale: f64) {
    assert_eq!(found.dims(), expected.shape, "shape of {what}");
    let allowed = tolerance * expected.largest().max(scale);
    for (i, (found, expected)) in flat(found).iter().zip(&expected.values).enumerate() {
        assert!(
            abs_diff_eq!(found, expected, epsilon = allowed),
            "{what}[{i}] = {found}, PyTorch has {expected}"
        );
    }
}
