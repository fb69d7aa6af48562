//! The named parameters and buffers of a model.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Shape, Tensor, Var};
use rand_chacha::ChaCha8Rng;

use crate::check::check_float;
use crate::{Error, Init, Result};

#[cfg(feature = "candle-nn")]
mod var_map;

/// Parameters (trained) and buffers (saved but not trained, such as running statistics) by name,
/// in the order of their names.
///
/// Layers register themselves through a [`Scope`]; names read as in PyTorch's
/// checkpoints (`conv1.lin.weight`). The store and the layer share the numbers:
/// what an optimiser or [`Parameters::load`] writes, the layer uses.
///
/// # Example
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::{Linear, Parameters};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let mut root = parameters.root(&mut rng);
/// let layer = Linear::new(&mut root.enter("conv1").enter("lin"), 3, 5)?;
///
/// let names: Vec<&str> = parameters.trainable().map(|(name, _)| name).collect();
/// assert_eq!(names, ["conv1.lin.bias", "conv1.lin.weight"]);
/// assert_eq!(parameters.trainable_count(), 20);
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Parameters {
    dtype: DType,
    device: Device,
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    value: Var,
    trainable: bool,
}

impl Parameters {
    /// An empty store for a model in f32 or f64.
    ///
    /// # Errors
    /// [`Error::DType`] for any other type.
    ///
    /// # Example
    /// ```
    /// use candle_core::{DType, Device};
    /// assert_eq!(egg_nn::Parameters::new(DType::F64, &Device::Cpu)?.dtype(), DType::F64);
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn new(dtype: DType, device: &Device) -> Result<Self> {
        check_float("a model", dtype)?;
        Ok(Self {
            dtype,
            device: device.clone(),
            entries: BTreeMap::new(),
        })
    }

    /// The element type of every parameter.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the parameters are.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The root scope, to build a model in. All initial values are drawn from `rng`, in the order
    /// in which layers are built.
    pub fn root<'a>(&'a mut self, rng: &'a mut ChaCha8Rng) -> Scope<'a> {
        Scope {
            parameters: self,
            rng,
            prefix: String::new(),
        }
    }

    /// The parameters an optimiser should change, in the order of their names.
    pub fn trainable(&self) -> impl Iterator<Item = (&str, &Var)> {
        self.of_kind(true)
    }

    /// The buffers, in the order of their names.
    pub fn buffers(&self) -> impl Iterator<Item = (&str, &Var)> {
        self.of_kind(false)
    }

    fn of_kind(&self, trainable: bool) -> impl Iterator<Item = (&str, &Var)> {
        let entries = self.entries.iter();
        entries.filter_map(move |(name, entry)| {
            (entry.trainable == trainable).then_some((name.as_str(), &entry.value))
        })
    }

    /// A parameter or buffer by its full name.
    pub fn get(&self, name: &str) -> Option<&Var> {
        self.entries.get(name).map(|entry| &entry.value)
    }

    /// How many numbers are trained.
    pub fn trainable_count(&self) -> usize {
        self.trainable().map(|(_, value)| value.elem_count()).sum()
    }

    /// A copy of every parameter and buffer, by name. Later training does not
    /// change it.
    ///
    /// # Errors
    /// [`Error::Candle`] if a copy fails.
    ///
    /// # Example
    /// ```
    /// # use candle_core::{DType, Device};
    /// # use egg_nn::{Init, Parameters};
    /// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// # let mut rng = ChaCha8Rng::seed_from_u64(7);
    /// # let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
    /// parameters.root(&mut rng).parameter("scale", 3, Init::Ones)?;
    /// let best = parameters.snapshot()?;
    /// // ... training continues, and gets worse ...
    /// parameters.load(&best)?;
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn snapshot(&self) -> Result<BTreeMap<String, Tensor>> {
        let entries = self.entries.iter();
        entries
            .map(|(name, entry)| Ok((name.clone(), entry.value.as_detached_tensor().copy()?)))
            .collect()
    }

    /// Copies `values` into the parameters and buffers of the same names, converted to the model's
    /// type. Nothing is changed unless all of them fit.
    ///
    /// # Errors
    /// [`Error::MissingName`] and [`Error::UnexpectedName`] if the names are
    /// not the same on both sides, [`Error::Shape`] if a shape differs.
    ///
    /// # Example
    /// ```
    /// # use std::collections::BTreeMap;
    /// # use candle_core::{DType, Device, Tensor};
    /// # use egg_nn::{Error, Init, Parameters};
    /// # use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    /// # let mut rng = ChaCha8Rng::seed_from_u64(7);
    /// # let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
    /// let scale = parameters.root(&mut rng).parameter("scale", 2, Init::Ones)?;
    /// let values = BTreeMap::from([("scale".to_owned(), Tensor::new(&[2f32, 3.0], &Device::Cpu)?)]);
    /// parameters.load(&values)?;
    /// assert_eq!(scale.to_vec1::<f32>()?, [2.0, 3.0]);
    ///
    /// let refused = parameters.load(&BTreeMap::new());
    /// assert!(matches!(refused, Err(Error::MissingName { .. })));
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn load(&self, values: &BTreeMap<String, Tensor>) -> Result<()> {
        if let Some(name) = values.keys().find(|name| !self.entries.contains_key(*name)) {
            return Err(Error::UnexpectedName { name: name.clone() });
        }
        let mut pairs = Vec::with_capacity(self.entries.len());
        for (name, entry) in &self.entries {
            let value = values
                .get(name)
                .ok_or_else(|| Error::MissingName { name: name.clone() })?;
            if value.dims() != entry.value.dims() {
                return Err(Error::Shape {
                    what: name.clone(),
                    found: value.dims().to_vec(),
                    expected: format!("{:?}", entry.value.dims()),
                });
            }
            // A copy: candle refuses to set a variable from its own storage.
            let value = value
                .detach()
                .to_dtype(self.dtype)?
                .to_device(&self.device)?
                .copy()?;
            pairs.push((&entry.value, value));
        }
        for (target, value) in pairs {
            target.set(&value)?;
        }
        Ok(())
    }
}

/// A prefix in a model's tree of names, under which a layer registers its parameters.
///
/// # Example
/// ```
/// use candle_core::{DType, Device};
/// use egg_nn::{Error, Init, Parameters};
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(7);
/// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
/// let mut root = parameters.root(&mut rng);
/// let mut norm = root.enter("norm");
/// norm.parameter("weight", 4, Init::Ones)?;
/// norm.buffer("running_mean", 4, Init::Zeros)?;
/// let again = norm.parameter("weight", 4, Init::Ones);
/// assert!(matches!(again, Err(Error::DuplicateName { name }) if name == "norm.weight"));
/// # Ok::<(), egg_nn::Error>(())
/// ```
#[derive(Debug)]
pub struct Scope<'a> {
    parameters: &'a mut Parameters,
    rng: &'a mut ChaCha8Rng,
    prefix: String,
}

impl Scope<'_> {
    /// The scope `name` inside this one.
    pub fn enter(&mut self, name: impl std::fmt::Display) -> Scope<'_> {
        Scope {
            prefix: format!("{}{name}.", self.prefix),
            parameters: &mut *self.parameters,
            rng: &mut *self.rng,
        }
    }

    /// The element type of the model.
    pub fn dtype(&self) -> DType {
        self.parameters.dtype
    }

    /// Where the model is.
    pub fn device(&self) -> &Device {
        &self.parameters.device
    }

    /// The generator of initial values.
    pub fn rng(&mut self) -> &mut ChaCha8Rng {
        self.rng
    }

    /// Registers a parameter that optimisers change.
    ///
    /// # Errors
    /// [`Error::DuplicateName`] if the name is taken, and those of
    /// [`Init::tensor`].
    pub fn parameter(&mut self, name: &str, shape: impl Into<Shape>, init: Init) -> Result<Var> {
        self.register(name, shape.into(), init, true)
    }

    /// Registers a buffer: saved with the parameters, but not trained.
    ///
    /// # Errors
    /// As [`Scope::parameter`].
    pub fn buffer(&mut self, name: &str, shape: impl Into<Shape>, init: Init) -> Result<Var> {
        self.register(name, shape.into(), init, false)
    }

    fn register(&mut self, name: &str, shape: Shape, init: Init, trainable: bool) -> Result<Var> {
        let name = format!("{}{name}", self.prefix);
        let parameters = &mut *self.parameters;
        if parameters.entries.contains_key(&name) {
            return Err(Error::DuplicateName { name });
        }
        let first = init.tensor(shape, parameters.dtype, &parameters.device, self.rng)?;
        let value = Var::from_tensor(&first)?;
        let entry = Entry {
            value: value.clone(),
            trainable,
        };
        parameters.entries.insert(name, entry);
        Ok(value)
    }
}
