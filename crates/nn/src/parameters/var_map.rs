//! Parameters as candle-nn's `VarMap`, and back.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use candle_core::{DType, Device, Var};
use candle_nn::VarMap;

use super::{Entry, Parameters};
use crate::Result;
use crate::check::check_dtype;

/// The names that PyTorch, candle-nn and this crate give to running statistics.
const BUFFERS: [&str; 2] = ["running_mean", "running_var"];

impl Parameters {
    /// The parameters and buffers that are here now as a `VarMap`: the same variables, by
    /// the same names. What is written into one is seen in the other; a layer that is built
    /// on one of them later is not.
    ///
    /// Buffers are in it too, so that `VarMap::save` has all of the model. An optimiser made
    /// of `VarMap::all_vars` does not change them, since no gradient reaches them.
    ///
    /// # Example
    /// A layer of candle-nn on the parameters of one of ours:
    /// ```
    /// use candle_core::{DType, Device, Tensor};
    /// use candle_nn::{Module, VarBuilder};
    /// use egg_nn::{Linear, Parameters};
    /// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
    ///
    /// let mut rng = ChaCha8Rng::seed_from_u64(7);
    /// let mut parameters = Parameters::new(DType::F32, &Device::Cpu)?;
    /// let ours = Linear::new(&mut parameters.root(&mut rng).enter("lin"), 1, 1)?;
    ///
    /// let map = parameters.to_var_map();
    /// let builder = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    /// let theirs = candle_nn::linear(1, 1, builder.pp("lin"))?;
    /// ours.weight().set(&Tensor::new(&[[5f32]], &Device::Cpu)?)?;
    /// assert_eq!(theirs.weight().to_vec2::<f32>()?, [[5.0]]);
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn to_var_map(&self) -> VarMap {
        let map = VarMap::new();
        let vars = self.entries.iter();
        let vars = vars.map(|(name, entry)| (name.clone(), entry.value.clone()));
        map.data()
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(vars);
        map
    }

    /// The variables of a `VarMap`, in the order of their names: the same ones, as in
    /// [`Self::to_var_map`]. `dtype` and `device` are those passed to `VarBuilder::from_varmap`.
    ///
    /// A `VarMap` does not say which of its variables are buffers. Those whose name ends in
    /// `running_mean` or `running_var` are buffers here, all others are trainable.
    ///
    /// # Errors
    /// [`Error::DType`](crate::Error::DType) if `dtype` is neither f32 nor f64, or a
    /// variable is of another, [`Error::Candle`](crate::Error::Candle) if one is on another
    /// device.
    ///
    /// # Example
    /// A checkpoint of a model of candle-nn:
    /// ```
    /// use candle_core::{DType, Device};
    /// use candle_nn::{VarBuilder, VarMap, linear};
    /// use egg_nn::{Adam, AdamConfig, Checkpoint, Decay, Parameters};
    ///
    /// let map = VarMap::new();
    /// let builder = VarBuilder::from_varmap(&map, DType::F32, &Device::Cpu);
    /// let model = linear(3, 2, builder.pp("head"))?;
    ///
    /// let parameters = Parameters::from_var_map(&map, DType::F32, &Device::Cpu)?;
    /// let names: Vec<&str> = parameters.trainable().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["head.bias", "head.weight"]);
    /// let adam = Adam::new(&parameters, AdamConfig::new(1e-3, Decay::L2(0.0)))?;
    ///
    /// let mut checkpoint = Checkpoint::new(1, parameters.snapshot()?);
    /// checkpoint.adam = Some(adam.state()?);
    /// # Ok::<(), egg_nn::Error>(())
    /// ```
    pub fn from_var_map(map: &VarMap, dtype: DType, device: &Device) -> Result<Self> {
        let mut parameters = Self::new(dtype, device)?;
        let vars: BTreeMap<String, Var> = {
            let vars = map.data().lock().unwrap_or_else(PoisonError::into_inner);
            vars.iter()
                .map(|(name, var)| (name.clone(), var.clone()))
                .collect()
        };
        for (name, value) in vars {
            check_dtype(&name, value.dtype(), dtype)?;
            if !value.device().same_device(device) {
                let (found, wanted) = (value.device().location(), device.location());
                return Err(candle_core::Error::msg(format!(
                    "{name} is on {found:?}, expected {wanted:?}; build the model there"
                ))
                .into());
            }
            let last = name.rsplit('.').next().unwrap_or_default();
            let trainable = !BUFFERS.contains(&last);
            parameters.entries.insert(name, Entry { value, trainable });
        }
        Ok(parameters)
    }
}
