//! Results are bit-identical on any number of threads.

use candle_core::{DType, Device, Tensor, Var};
use egg_nn::{Mlp, MlpConfig, Parameters, Pass};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::fixture::flat;
use crate::gradient::normal;

/// Runs `work` in pools of 1, 2 and 4 threads and compares every bit.
pub(crate) fn assert_same_bits(work: impl Fn() -> Vec<Tensor> + Sync) {
    let in_pool = |threads: usize| -> Vec<Vec<u64>> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let tensors = pool.install(&work);
        let bits = |tensor: &Tensor| flat(tensor).iter().map(|v| v.to_bits()).collect();
        tensors.iter().map(bits).collect()
    };
    let one = in_pool(1);
    assert!(one.iter().any(|values| !values.is_empty()));
    assert!(in_pool(2) == one, "2 threads differ from 1");
    assert!(in_pool(4) == one, "4 threads differ from 1");
}

#[test]
fn mlp_training_step_is_bit_identical_on_any_number_of_threads() {
    // Many rows, and few long ones.
    let shapes = [(4321, 33), (32, 2080)];
    let dtypes = [DType::F32, DType::F64];
    for (shape, dtype) in shapes
        .into_iter()
        .flat_map(|shape| dtypes.map(|dtype| (shape, dtype)))
    {
        assert_same_bits(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(4);
            let mut parameters = Parameters::new(dtype, &Device::Cpu).unwrap();
            let config = MlpConfig {
                output_norm: true,
                output_relu: true,
                ..MlpConfig::new(&[shape.1, 64, 17])
            };
            let mlp = Mlp::new(&mut parameters.root(&mut rng), &config).unwrap();
            let x = Var::from_tensor(&normal(shape, 5).to_dtype(dtype).unwrap()).unwrap();
            let y = mlp.forward(&x, &mut Pass::Training(&mut rng)).unwrap();
            let gradients = y.sqr().unwrap().sum_all().unwrap().backward().unwrap();
            let mut all = vec![y.detach(), gradients.get(&x).unwrap().clone()];
            all.extend(
                parameters
                    .trainable()
                    .map(|(_, var)| gradients.get(var).unwrap().clone()),
            );
            all.extend(parameters.buffers().map(|(_, var)| var.as_detached_tensor()));
            all
        });
    }
}
