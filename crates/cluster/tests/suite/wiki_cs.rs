//! Wiki-CS, whose file is not to be had offline: a file of our own of the same shape goes
//! from the registered name to a row of Table 5.

use std::fmt::Write;

use egg_cluster::Silent;
use egg_cluster::egg::EggConfig;
use egg_cluster::pipeline::{Coordinates, NodeClustering, Preset};
use egg_cluster::vgae::Likelihood;
use egg_datasets::DataFolders;
use egg_geometry::RankRule;
use egg_graph::{Cache, ReadOptions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NODES: usize = 400;
const FEATURES: usize = 300;
const CLASSES: usize = 10;

/// Pages of ten subjects: dense features near the mean of their subject, links mostly
/// within it, with a direction.
fn file() -> String {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let subject = |page: usize| page % CLASSES;
    let mut text = String::from("{\"features\": [");
    for page in 0..NODES {
        let row: Vec<String> = (0..FEATURES)
            .map(|column| {
                let mean = if column % CLASSES == subject(page) {
                    0.5
                } else {
                    0.0
                };
                format!("{:.4}", mean + rng.random_range(-0.5..0.5f64))
            })
            .collect();
        let comma = if page == 0 { "" } else { ", " };
        write!(text, "{comma}[{}]", row.join(", ")).unwrap();
    }
    let labels: Vec<String> = (0..NODES).map(|page| subject(page).to_string()).collect();
    write!(text, "], \"labels\": [{}], \"links\": [", labels.join(", ")).unwrap();
    for page in 0..NODES {
        let links: Vec<String> = (0..8)
            .map(|_| match rng.random_range(0.0..1.0f64) < 0.8 {
                true => subject(page) + CLASSES * rng.random_range(0..NODES / CLASSES),
                false => rng.random_range(0..NODES),
            })
            .map(|other| other.to_string())
            .collect();
        let comma = if page == 0 { "" } else { ", " };
        write!(text, "{comma}[{}]", links.join(", ")).unwrap();
    }
    // Three splits that share their test part.
    let mask = |from: usize, to: usize| {
        let inside = (0..NODES).map(|page| (from..to).contains(&page).to_string());
        format!("[{}]", inside.collect::<Vec<_>>().join(", "))
    };
    let masks = |width: usize, start: usize| {
        let each = (0..3).map(|split| mask(start + split * width, start + (split + 1) * width));
        each.collect::<Vec<_>>().join(", ")
    };
    write!(
        text,
        "], \"train_masks\": [{}], \"val_masks\": [{}], \"stopping_masks\": [{}], \"test_mask\": {}}}",
        masks(10, 0),
        masks(20, 100),
        masks(20, 200),
        mask(300, NODES)
    )
    .unwrap();
    text
}

#[test]
fn a_file_of_the_same_shape_is_clustered_by_its_registered_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("wiki_cs")).unwrap();
    std::fs::write(folder.path().join("wiki_cs/data.json"), file()).unwrap();
    let source = DataFolders::only(folder.path()).source("Wiki-CS").unwrap();
    let dataset = source.load(&ReadOptions::default(), &Cache::Off).unwrap().dataset;
    assert_eq!(
        (dataset.node_count(), dataset.features().width()),
        (NODES, FEATURES)
    );

    for likelihood in [Likelihood::Exact, Likelihood::NegativeSampling] {
        let mut config = Preset::Paper.config();
        config.autoencoder_mut().epochs = 40;
        config.autoencoder_mut().likelihood = likelihood;
        let clustering = NodeClustering::new(config).unwrap();
        let embedding = clustering.embed(&dataset, None, &mut Silent).unwrap();
        for coordinates in [
            Coordinates::Plain {
                normalise_rows: false,
            },
            Coordinates::Egg(EggConfig::new(RankRule::Ratio(0.8))),
        ] {
            let (fit, report) = clustering.cluster(&embedding, &coordinates).unwrap();
            assert_eq!(fit.labels.len(), NODES);
            let agreement = report.agreement.unwrap();
            // Chance is about 0.1.
            assert!(
                agreement.normalised_mutual_information > 0.3,
                "{likelihood:?} {agreement:?}"
            );
        }
    }
}
