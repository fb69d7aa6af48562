//! The batch norm before a pooling.

use egg_pool::protocol::RunOptions;

use crate::small;

#[test]
fn node_norm_has_parameters_and_trains() {
    let dataset = small::dataset(40);
    for (convolution, names) in [
        ("gcn", vec!["norm.weight"]),
        ("gin", vec!["layers.0.norm.weight", "layers.3.norm.weight"]),
    ] {
        for pooling in ["egg", "topk"] {
            let mut experiment = small::experiment(&dataset, convolution, pooling);
            experiment.training.max_epochs = 2;
            experiment.repetitions = 1;
            let graphs = experiment.prepare(dataset.clone()).unwrap();
            let run = |experiment: &egg_pool::protocol::Experiment| {
                let split = &experiment.splits(&dataset).unwrap()[0];
                let options = RunOptions::default();
                experiment
                    .repetition(&graphs, split, 0, &options, &mut egg_pool::train::Silent)
                    .unwrap()
            };
            let (plain, without) = run(&experiment);
            experiment.model.node_norm = true;
            let (model, with) = run(&experiment);
            for name in &names {
                assert!(plain.parameters().get(name).is_none());
                assert!(model.parameters().get(name).is_some(), "{convolution} {name}");
            }
            assert_ne!(with.history[1].train_loss, without.history[1].train_loss);
            assert!(with.history.iter().all(|epoch| epoch.validation_loss.is_finite()));
        }
    }
}
