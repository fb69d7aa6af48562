//! Coauthor-CS, and small archives of the same layout.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use egg_graph::{Error, GraphDataset, ReadOptions, read_gnn_benchmark};
use zip::write::SimpleFileOptions;

use crate::real_data;

/// The sums were made with NumPy and SciPy: `np.load`, `csr_matrix` from the
/// parts, then `(arange(n) * A.sum(1)).sum()`, `(arange(n) * labels).sum()`,
/// `F.indices.sum()` and `F.data.sum()`.
#[test]
fn coauthor_cs_is_what_scipy_reads() {
    let Some(path) = real_data::find("coauthor_cs/ms_academic_cs.npz") else {
        return;
    };
    let dataset = read_gnn_benchmark(&path, &ReadOptions::default()).unwrap();
    assert_eq!(dataset.name(), "ms_academic_cs");
    assert_eq!((dataset.len(), dataset.node_count()), (1, 18_333));
    assert_eq!(dataset.edge_count(), 81_894);
    let notes = dataset.notes();
    assert_eq!(
        (notes.listed, notes.self_loops, notes.duplicates, notes.one_way),
        (163_788, 0, 0, 0)
    );
    let features = dataset.features().as_sparse().unwrap();
    assert_eq!(features.shape(), (18_333, 6805));
    assert_eq!(dataset.features().nonzeros(), 1_092_079);
    let labels = dataset.node_labels().unwrap();
    assert_eq!(
        labels.class_sizes(),
        [
            708, 462, 2050, 429, 1394, 2193, 371, 924, 775, 118, 1444, 2033, 420, 4136, 876
        ]
    );
    let view = dataset.graph(0).unwrap();
    let (mut degrees, mut classes) = (0, 0);
    for node in 0..18_333 {
        degrees += node * view.degree(node);
        classes += node * labels.get(node).unwrap() as usize;
    }
    assert_eq!((degrees, classes), (1_500_089_782, 1_335_866_392));
    let columns: u64 = features.columns().iter().map(|column| u64::from(*column)).sum();
    let values: f64 = features.values().iter().map(|value| f64::from(*value)).sum();
    assert_eq!((columns, values), (3_720_414_181, 1_741_991.0));
    assert_eq!(view.neighbours(1000), [1808, 10_963]);
    let row: Vec<_> = features.row(1000).take(3).collect();
    assert_eq!(row, [(318, 2.0), (450, 7.0), (740, 1.0)]);
    assert!(dataset.split().is_none());
}

fn npy(notation: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{notation}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn ints(values: &[i64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i8", &format!("({},)", values.len()), &data)
}

fn floats(values: &[f32]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f4", &format!("({},)", values.len()), &data)
}

/// Three nodes: 0 - 1 in both directions, 1 - 2 in one, 2 - 2.
fn small() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("adj_data", floats(&[1.0; 4])),
        ("adj_indices", ints(&[1, 0, 1, 2])),
        ("adj_indptr", ints(&[0, 1, 2, 4])),
        ("adj_shape", ints(&[3, 3])),
        ("attr_data", floats(&[2.0, 3.0])),
        ("attr_indices", ints(&[1, 0])),
        ("attr_indptr", ints(&[0, 2, 2, 2])),
        ("attr_shape", ints(&[3, 2])),
        ("labels", ints(&[4, 9, 4])),
        ("class_names", npy("|O", "(1,)", b"cos\nsystem\n.")),
    ]
}

fn read(members: &[(&str, Vec<u8>)]) -> Result<GraphDataset, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.npz");
    write(&path, members);
    read_gnn_benchmark(&path, &ReadOptions::default())
}

fn write(path: &Path, members: &[(&str, Vec<u8>)]) {
    let mut archive = zip::ZipWriter::new(File::create(path).unwrap());
    for (name, bytes) in members {
        archive
            .start_file(format!("{name}.npy"), SimpleFileOptions::default())
            .unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap();
}

#[test]
fn every_variant_of_a_small_archive_is_read() {
    let dataset = read(&small()).unwrap();
    assert_eq!(
        dataset.graph(0).unwrap().edges().collect::<Vec<_>>(),
        [(0, 1), (1, 2)]
    );
    assert_eq!((dataset.notes().self_loops, dataset.notes().one_way), (1, 1));
    let expected = ndarray::array![[3.0, 2.0], [0.0, 0.0], [0.0, 0.0]];
    assert_eq!(dataset.features().to_dense(), expected);
    assert_eq!(dataset.node_labels().unwrap().names(), ["4", "9"]);

    // The order of the members does not matter.
    let mut reversed = small();
    reversed.reverse();
    assert_eq!(read(&reversed).unwrap().fingerprint(), dataset.fingerprint());

    let mut dense: Vec<_> = small()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("attr"))
        .collect();
    assert_eq!(read(&dense).unwrap().features().width(), 0);
    let data: Vec<u8> = [3.0f32, 2.0, 0.0, 0.0, 0.0, 0.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    dense.push(("attr_matrix", npy("<f4", "(3, 2)", &data)));
    let dense = read(&dense).unwrap();
    assert_eq!(dense.features().to_dense(), expected);
    assert!(dense.features().as_dense().is_some());
}

#[test]
fn contradictory_content_is_refused_with_the_file() {
    for (name, bytes, words) in [
        ("adj_shape", ints(&[3, 4]), "not square"),
        ("adj_shape", ints(&[3]), "shape"),
        ("adj_shape", ints(&[i64::MAX, i64::MAX]), "row positions"),
        ("adj_shape", ints(&[-1, -1]), "row positions"),
        ("adj_shape", floats(&[3.0, 3.0]), "whole numbers"),
        ("adj_indptr", ints(&[0, 1, 2, 5]), "span"),
        ("adj_indptr", ints(&[0, 3, 2, 4]), "row 1"),
        ("adj_indptr", ints(&[0, -1, 2, 4]), "negative"),
        ("adj_indices", ints(&[1, 0, 1, 3]), "column 3"),
        ("adj_indices", ints(&[1, 0, 1, -3]), "negative"),
        ("adj_indices", ints(&[1, 0, 1]), "values"),
        ("attr_shape", ints(&[3, 1 << 40]), "columns"),
        ("attr_data", floats(&[f32::INFINITY, 1.0]), "finite"),
        ("attr_data", floats(&[]), "values"),
        ("labels", ints(&[1, 2]), "rows"),
        ("labels", Vec::new(), "too early"),
        ("labels", b"no array".to_vec(), "not an .npy"),
    ] {
        let mut members = small();
        for member in &mut members {
            if member.0 == name {
                member.1.clone_from(&bytes);
            }
        }
        let error = read(&members).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
        assert!(error.contains("small.npz"), "{error}");
    }
    let lacking: Vec<_> = small()
        .into_iter()
        .filter(|(name, _)| *name != "adj_indptr")
        .collect();
    assert!(
        read(&lacking)
            .unwrap_err()
            .to_string()
            .contains("no array `adj_indptr`")
    );
}

#[test]
fn every_truncation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("small.npz");
    write(&path, &small());
    let whole = std::fs::read(&path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let refused = read_gnn_benchmark(&path, &ReadOptions::default());
        assert!(
            matches!(refused, Err(Error::File { .. } | Error::Io { .. })),
            "{length}: {refused:?}"
        );
    }
}
