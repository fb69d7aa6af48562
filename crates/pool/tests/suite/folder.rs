//! Trained models on disk.

use approx::assert_abs_diff_eq;
use egg_graph::{Graph, GraphDataset};
use egg_pool::Error;
use egg_pool::convolution::Gcn;
use egg_pool::data::InputFeatures;
use egg_pool::folder::{Prediction, TrainedModel};
use egg_pool::metrics::Metric;
use egg_pool::protocol::{Experiment, Protocol, RunOptions};
use egg_pool::train::Silent;

use crate::small;

fn trained(experiment: &Experiment, dataset: GraphDataset) -> TrainedModel {
    let graphs = experiment.prepare(dataset).unwrap();
    TrainedModel::train(experiment, &graphs, 0, &RunOptions::default(), &mut Silent).unwrap()
}

#[test]
fn a_model_is_saved_and_predicts_the_same() {
    let dataset = small::dataset(60);
    for (convolution, pooling) in [("gcn", "egg"), ("gin", "egg"), ("gin", "topk"), ("blind", "sum")] {
        let experiment = small::experiment(&dataset, convolution, pooling);
        let model = trained(&experiment, dataset.clone());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("some/model");
        model.save(&path).unwrap();
        let mut names: Vec<_> = std::fs::read_dir(&path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["README.md", "config.json", "metrics.json", "model.safetensors"]
        );
        // Nothing is left next to it.
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        model.save(&path).unwrap(); // in its place

        let loaded = TrainedModel::load(&path).unwrap();
        assert_eq!(loaded.config(), model.config());
        assert_eq!(loaded.outcome(), model.outcome());
        assert_eq!(loaded.config().data.fingerprint, dataset.fingerprint());
        let predictions = loaded.predict(dataset.clone()).unwrap();
        assert_eq!(predictions, model.predict(dataset.clone()).unwrap());

        // They are the predictions that were reported.
        let split = &experiment.splits(&dataset).unwrap()[0];
        let mut right = 0;
        for &graph in &split.test {
            let Prediction::Class {
                class,
                label,
                probabilities,
            } = &predictions[graph]
            else {
                panic!("{:?}", predictions[graph]);
            };
            assert_abs_diff_eq!(probabilities.iter().sum::<f64>(), 1.0, epsilon = 1e-12);
            let labels = dataset.classes().unwrap();
            assert_eq!(*label, labels.names()[*class as usize]);
            right += usize::from(labels.get(graph) == Some(*class));
        }
        let accuracy = model
            .outcome()
            .test
            .as_ref()
            .unwrap()
            .scores
            .get(Metric::ACCURACY);
        assert_eq!(accuracy, Some(right as f64 / split.test.len() as f64));

        // New graphs come without targets.
        let one = dataset.graph(3).unwrap().to_graph();
        let new = GraphDataset::from_graphs("new", &[one]).unwrap();
        let prediction = loaded.predict(new).unwrap().remove(0);
        let (Prediction::Class { class: a, .. }, Prediction::Class { class: b, .. }) =
            (&prediction, &predictions[3])
        else {
            panic!("{prediction:?}");
        };
        assert_eq!(a, b);

        let card = std::fs::read_to_string(path.join("README.md")).unwrap();
        assert!(
            card.contains(&dataset.fingerprint()) && card.contains("protocol `paper`"),
            "{card}"
        );
    }
}

#[test]
fn wrong_feature_widths_are_refused() {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gcn", "egg");
    experiment.training.max_epochs = 1;
    let model = trained(&experiment, dataset);
    let graph = Graph::from_edges(3, &[(0, 1)]).unwrap();
    let bare = GraphDataset::single("bare", graph);
    let error = model.predict(bare.clone()).unwrap_err();
    assert!(matches!(
        error,
        Error::FeatureWidth {
            expected: 6,
            found: 0
        }
    ));
    assert!(
        error
            .to_string()
            .contains("6 node features, but these graphs have 0")
    );
    let degrees = InputFeatures::Degree { most: 9 }.apply(bare).unwrap();
    assert!(matches!(
        model.predict(degrees),
        Err(Error::FeatureWidth {
            expected: 6,
            found: 10
        })
    ));
    let none = GraphDataset::from_graphs("none", &[]).unwrap();
    assert!(model.predict(none).unwrap().is_empty());
}

#[test]
fn degree_features_are_computed_for_new_graphs() {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gin", "sum");
    experiment.training.max_epochs = 1;
    experiment.model.features = InputFeatures::Degree { most: 12 };
    let model = trained(&experiment, dataset);
    let graph = Graph::from_edges(3, &[(0, 1)]).unwrap();
    assert_eq!(
        model.predict(GraphDataset::single("bare", graph)).unwrap().len(),
        1
    );
    let edges: Vec<(usize, usize)> = (1..15).map(|leaf| (0, leaf)).collect();
    let star = |leaves: usize| {
        let star = Graph::from_edges(leaves + 1, &edges[..leaves]).unwrap();
        GraphDataset::single("star", star)
    };
    // Degree 14 is taken for 12, though there are more leaves.
    assert_eq!(experiment.model.features.unseen(&star(14)), 1);
    assert_eq!(experiment.model.features.unseen(&star(12)), 0);
    assert_eq!(model.predict(star(14)).unwrap().len(), 1);
    assert_eq!(model.embed(star(14)).unwrap().graphs.nrows(), 1);
}

#[test]
fn regression_values_are_predicted() {
    let dataset = small::dataset(40);
    let values = ndarray::Array2::from_shape_fn((40, 2), |(row, column)| (row + column) as f32);
    let dataset = dataset.with_targets(egg_graph::Targets::Values(values)).unwrap();
    let mut experiment = Experiment::new(&dataset, Protocol::Paper, Gcn, "sum".parse().unwrap()).unwrap();
    experiment.training.max_epochs = 1;
    let model = trained(&experiment, dataset.clone());
    let folder = tempfile::tempdir().unwrap();
    model.save(folder.path().join("m")).unwrap();
    let loaded = TrainedModel::load(folder.path().join("m")).unwrap();
    let predictions = loaded.predict(dataset).unwrap();
    assert!(matches!(&predictions[0], Prediction::Numbers(numbers) if numbers.len() == 2));
}

#[test]
fn folders_without_a_model_are_refused() {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gcn", "sum");
    experiment.training.max_epochs = 1;
    let model = trained(&experiment, dataset);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    assert!(matches!(TrainedModel::load(&path), Err(Error::File { .. })));

    // Somebody's folder is not written over.
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("thesis.txt"), "years of work").unwrap();
    assert!(matches!(model.save(&path), Err(Error::Format { .. })));
    assert!(path.join("thesis.txt").exists());
    std::fs::remove_dir_all(&path).unwrap();

    model.save(&path).unwrap();
    let config = path.join("config.json");
    let text = std::fs::read_to_string(&config).unwrap();
    for other in [0, 4] {
        std::fs::write(
            &config,
            text.replace("\"format\": 3", &format!("\"format\": {other}")),
        )
        .unwrap();
        let error = TrainedModel::load(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("format {other}")), "{error}");
    }
    std::fs::write(&config, &text).unwrap();
    std::fs::write(path.join("model.safetensors"), "0123456789").unwrap();
    assert!(matches!(TrainedModel::load(&path), Err(Error::Layer(_))));
}

/// Whatever is changed by hand in `config.json` would change what a model says.
#[test]
fn an_edited_config_is_refused_and_another_layout_is_not() {
    let dataset = small::dataset(40);
    let mut experiment = small::experiment(&dataset, "gcn", "egg");
    experiment.training.max_epochs = 1;
    let model = trained(&experiment, dataset.clone());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model.save(&path).unwrap();
    let config = path.join("config.json");
    let text = std::fs::read_to_string(&config).unwrap();
    for (good, edited) in [
        // Classes that change places, another cut, another width, other data.
        ("\"0\",\n      \"1\"", "\"1\",\n      \"0\""),
        ("\"threshold\": 0.5", "\"threshold\": 0.8"),
        ("\"hidden\": 8", "\"hidden\": 7"),
        ("\"activation\": true", "\"activation\": false"),
        ("\"name\": \"COVARIANCE\"", "\"name\": \"PROTEINS\""),
        ("\"metric\": \"accuracy\"", "\"metric\": \"roc-auc\""),
    ] {
        assert!(text.contains(good), "{good} in {text}");
        std::fs::write(&config, text.replace(good, edited)).unwrap();
        let error = TrainedModel::load(&path).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{edited}: {error}");
        assert!(error.to_string().contains("config.json"), "{error}");
    }
    // The same on one line.
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    std::fs::write(&config, value.to_string()).unwrap();
    let loaded = TrainedModel::load(&path).unwrap();
    assert_eq!(
        loaded.predict(dataset.clone()).unwrap(),
        model.predict(dataset).unwrap()
    );
}

/// A folder from elsewhere must not be able to ask for terabytes.
#[test]
fn configs_larger_than_their_parameters_are_refused() {
    let dataset = small::dataset(40);
    for pooling in ["egg", "sum"] {
        let mut experiment = small::experiment(&dataset, "gin", pooling);
        experiment.training.max_epochs = 1;
        let model = trained(&experiment, dataset.clone());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        model.save(&path).unwrap();
        let config = path.join("config.json");
        let text = std::fs::read_to_string(&config).unwrap();
        for (good, hostile) in [
            ("\"hidden\": 8", "\"hidden\": 100000000"),
            ("\"hidden\": 8", "\"hidden\": 18446744073709551615"),
            ("\"layers\": 4", "\"layers\": 1000000000000"),
            ("\"inputs\": 6", "\"inputs\": 1000000000000"),
            ("\"outputs\": 2", "\"outputs\": 1000000000000"),
            (
                "\"widths\": [\n        8,",
                "\"widths\": [\n        1000000000000,",
            ),
        ] {
            assert!(text.contains(good), "{good} in {text}");
            std::fs::write(&config, text.replace(good, hostile)).unwrap();
            let error = TrainedModel::load(&path).unwrap_err();
            assert!(
                matches!(&error, Error::Format { reason, .. } if reason.contains("model.safetensors has")),
                "{hostile}: {error}"
            );
        }
        std::fs::write(&config, text).unwrap();
        assert!(TrainedModel::load(&path).is_ok());
    }
}
