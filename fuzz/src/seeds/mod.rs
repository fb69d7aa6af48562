//! Small sound inputs, which the drivers begin with. `corpus/` has them as
//! files: `cargo test -p egg-fuzz --test fuzz -- --write-seeds` wrote those.

#[cfg(feature = "models")]
mod models;

use std::io::{Cursor, Write};
use std::path::Path;

use egg_graph::{Cache, DataSource, Layout, ReadOptions};

use crate::files::{Folder, Sections};

/// A seed: its target, its file's name, its bytes.
pub type Seed = (&'static str, &'static str, Vec<u8>);

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// All of them.
///
/// # Errors
/// Those of the writers that make them.
pub fn all() -> Result<Vec<Seed>> {
    let mut seeds = texts();
    seeds.extend(tables());
    seeds.extend(arrays()?);
    seeds.extend(pickles());
    #[cfg(feature = "geometry")]
    seeds.extend(matrices());
    seeds.extend(lists());
    seeds.extend(caches()?);
    #[cfg(feature = "models")]
    seeds.extend(models::all()?);
    Ok(seeds)
}

fn text(files: &[(&str, &str)]) -> Vec<u8> {
    Sections::join(files.iter().map(|(name, text)| (*name, text.as_bytes())))
}

/// The benchmark formats that are text.
fn texts() -> Vec<Seed> {
    let tu = text(&[
        ("DS_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n"),
        ("DS_graph_indicator.txt", "1\n1\n2\n2\n2\n"),
        ("DS_graph_labels.txt", "1\n-1\n"),
        ("DS_node_labels.txt", "0\n1\n1\n0\n4\n"),
        ("DS_node_attributes.txt", "0.5, 1\n1e-3, 2\n3, 3\n-4, 4\n5, 5\n"),
        ("DS_edge_labels.txt", "0\n0\n1\n1\n"),
        ("DS_edge_attributes.txt", "0.5\n0.5\n1.5\n1.5\n"),
    ]);
    let shuffled = text(&[
        ("DS_A.txt", "1, 3\n2,2\n"),
        ("DS_graph_indicator.txt", "2\n1\n2\n"),
        ("DS_graph_attributes.txt", "1.5, 2\n-1, 0\n"),
        ("DS_node_labels.txt", "1, 0\n2, 0\n3, 1\n"),
    ]);
    let wiki = br#"{"features":[[0.5,1],[-2e-3,0],[0,0],[1,1]],"labels":[3,0,3,1],"links":[[1,2,1],[0],[],[3,0]],
"train_masks":[[true,false,false,false],[0,1,0,0]],"val_masks":[[false,true,false,false],[true,false,false,false]],
"stopping_masks":[[false,false,true,false],[false,false,true,false]],"test_mask":[false,false,false,true]}"#;
    let ogb = [
        ("raw/num-node-list.csv", "3\n1\n2\n"),
        ("raw/num-edge-list.csv", "2\n0\n1\n"),
        ("raw/edge.csv", "1,0\n1,2\n0,1\n"),
        ("raw/node-feat.csv", "1,10\n2,0\n3,0\n4,0\n5,0\n6,7.5\n"),
        ("raw/edge-feat.csv", "1,2\n3,4\n5,6\n"),
        ("raw/graph-label.csv", "7\n-1\n7\n"),
        ("split/scaffold/train.csv", "2\n"),
        ("split/scaffold/valid.csv", "1\n"),
        ("split/scaffold/test.csv", "0\n"),
    ];
    let packed = gzip(b"1,0\n1,2\n0,1\n");
    let gzipped = Sections::join(
        ogb[..2]
            .iter()
            .map(|(name, text)| (*name, text.as_bytes()))
            .chain([
                ("raw/edge.csv.gz", &packed[..]),
                ("raw/graph-label.csv", &b"0.5,1\nnan,2\n,3\n"[..]),
            ]),
    );
    vec![
        ("tu", "two-graphs", tu),
        ("tu", "shuffled", shuffled),
        ("tu", "zip", archive()),
        ("wiki_cs", "four-nodes", wiki.to_vec()),
        ("ogb", "three-graphs", text(&ogb)),
        ("ogb", "gzip", gzipped),
    ]
}

/// Stored, not deflated: a gzip file as small as it can be, by hand.
fn gzip(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap_or(u16::MAX);
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1];
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend_from_slice(content);
    packed.extend(checksum(content).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    packed
}

/// CRC-32.
fn checksum(content: &[u8]) -> u32 {
    !content.iter().fold(!0, |mut sum: u32, byte| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                sum >> 1 ^ 0xedb8_8320
            } else {
                sum >> 1
            };
        }
        sum
    })
}

fn archive() -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [("DS/DS_A.txt", "1, 2\n"), ("DS/DS_graph_indicator.txt", "1\n1\n")] {
        let begun = writer.start_file(name, zip::write::SimpleFileOptions::default());
        let written = begun.is_ok() && writer.write_all(content.as_bytes()).is_ok();
        assert!(written, "a small archive in memory");
    }
    writer.finish().map(Cursor::into_inner).unwrap_or_default()
}

/// Tables as spreadsheets write them.
fn tables() -> Vec<Seed> {
    let plain = text(&[
        ("edges.csv", "source,target,weight\n0,1,0.5\n1,2,1\n2,2,3\n"),
        ("features.csv", "1,2\n3,4\n5,6\n"),
        ("labels.csv", "label\n1\n0\n1\n"),
    ]);
    let named = text(&[
        (
            "edges.csv",
            "\u{feff}Source;Target\r\n\"Ada \"\"L\"\"\";Grace\r\n% comment\r\nGrace;Emmy\r\n",
        ),
        ("labels.csv", "node,label\nEmmy,x\nGrace,\n"),
        ("ids", "named"),
    ]);
    let bare = text(&[
        ("edges.csv", "# nodes: 6\n1 2\n2 3\n5 5\n"),
        ("ids", "zero"),
        ("header", "no"),
    ]);
    let graphs = text(&[
        (
            "edges.csv",
            "graph,source,target,weight\nwater,O,H1,1\nwater,O,H2,1\noxygen,a,b,2\n",
        ),
        (
            "nodes.csv",
            "graph,node,x,y\nwater,O,1,2\nwater,H1,0,1\nwater,H2,0,1\noxygen,a,1,1\noxygen,b,2,2\n",
        ),
        ("graphs.csv", "graph,label\nwater,wet\noxygen,dry\n"),
    ]);
    let few = text(&[
        ("edges.csv", "gid\tfrom\tto\n1\t1\t2\n2\t1\t1\n"),
        ("graphs.csv", "graph\tlabel\n1\t0,5\n2\t\n"),
    ]);
    vec![
        ("edge_list", "numbers", plain),
        ("edge_list", "names", named),
        ("edge_list", "declared", bare),
        ("graph_tables", "three-tables", graphs),
        ("graph_tables", "tabs", few),
    ]
}

fn npy(elements: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{elements}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap_or(u16::MAX);
    [
        b"\x93NUMPY\x01\x00",
        &length.to_le_bytes()[..],
        header.as_bytes(),
        data,
    ]
    .concat()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn words(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn arrays() -> Result<Vec<Seed>> {
    let list = |values: &[i32]| npy("<i4", "False", &format!("({},)", values.len()), &words(values));
    let data = npy("<f4", "False", "(3,)", &floats(&[1.0, 2.0, 0.5]));
    let members = [
        ("adj_data.npy", data.clone()),
        ("adj_indices.npy", list(&[1, 2, 0])),
        ("adj_indptr.npy", list(&[0, 2, 2, 3])),
        ("adj_shape.npy", list(&[3, 3])),
        ("attr_data.npy", data),
        ("attr_indices.npy", list(&[0, 1, 1])),
        ("attr_indptr.npy", list(&[0, 1, 2, 3])),
        ("attr_shape.npy", list(&[3, 2])),
        ("labels.npy", list(&[0, 2, 0])),
    ];
    let dense = [
        &members[..4],
        &[(
            "attr_matrix.npy",
            npy(
                "<f8",
                "True",
                "(3, 1)",
                &[0.5f64, 1.0, -1.0].map(f64::to_le_bytes).concat(),
            ),
        )],
    ]
    .concat();
    let join = |members: &[(&'static str, Vec<u8>)]| {
        Sections::join(members.iter().map(|(name, bytes)| (*name, &bytes[..])))
    };
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in &members {
        writer.start_file(*name, zip::write::SimpleFileOptions::default())?;
        writer.write_all(bytes)?;
    }
    Ok(vec![
        (
            "npy",
            "matrix",
            npy(
                "<f4",
                "False",
                "(2, 3)",
                &floats(&[1.0, 2.0, 3.0, -4.0, 0.5, 1e-40]),
            ),
        ),
        (
            "npy",
            "fortran",
            npy(
                ">f8",
                "True",
                "(1, 2)",
                &[1.5f64, -2.0].map(f64::to_be_bytes).concat(),
            ),
        ),
        ("npy", "integers", list(&[3, -1, 7])),
        (
            "npy",
            "text",
            npy("<U2", "False", "(2,)", &words(&[97, 98, 228, 0])),
        ),
        ("npy", "empty", npy("|b1", "False", "(0, 5)", &[])),
        ("npz", "sparse", join(&members)),
        ("npz", "dense", join(&dense)),
        ("npz", "zip", writer.finish()?.into_inner()),
    ])
}

/// In the instructions that Python 2 writes.
mod python {
    const RECONSTRUCT: &[u8] = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R";

    fn number(value: i64) -> Vec<u8> {
        [&[0x8a, 8][..], &value.to_le_bytes()].concat()
    }

    fn body(shape: &[i64], elements: &[u8; 2], data: &[u8]) -> Vec<u8> {
        let mut bytes = [RECONSTRUCT, b"(K\x01("].concat();
        for length in shape {
            bytes.extend(number(*length));
        }
        bytes.extend(b"tcnumpy\ndtype\nU\x02");
        bytes.extend(elements);
        bytes.extend(b"K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U");
        bytes.push(u8::try_from(data.len()).unwrap_or(u8::MAX));
        bytes.extend(data);
        bytes.extend(b"tb");
        bytes
    }

    pub(super) fn array(shape: &[i64], values: &[i32]) -> Vec<u8> {
        [b"\x80\x02", &body(shape, b"i4", &super::words(values))[..], b"."].concat()
    }

    pub(super) fn csr(shape: [i64; 2], offsets: &[i32], ids: &[i32], values: &[f32]) -> Vec<u8> {
        let list = |length: usize, elements, data: &[u8]| {
            body(&[i64::try_from(length).unwrap_or(i64::MAX)], elements, data)
        };
        [
            b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shape",
            &number(shape[0])[..],
            &number(shape[1]),
            b"\x86U\x06indptr",
            &list(offsets.len(), b"i4", &super::words(offsets)),
            b"U\x07indices",
            &list(ids.len(), b"i4", &super::words(ids)),
            b"U\x04data",
            &list(values.len(), b"f4", &super::floats(values)),
            b"ub.",
        ]
        .concat()
    }

    pub(super) fn graph(lists: &[(u8, &[u8])]) -> Vec<u8> {
        let mut bytes = b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(".to_vec();
        for (node, neighbours) in lists {
            bytes.extend([b'K', *node, b']', b'(']);
            for neighbour in *neighbours {
                bytes.extend([b'K', *neighbour]);
            }
            bytes.push(b'e');
        }
        bytes.extend(b"u.");
        bytes
    }
}

fn pickles() -> Vec<Seed> {
    use python::{array, csr, graph};
    let allx = csr([3, 2], &[0, 1, 1, 3], &[0, 1, 0], &[1.0, 3.0, 2.0]);
    let lists = graph(&[(2, &[1, 4]), (0, &[1, 1]), (4, &[2, 4]), (1, &[0, 2]), (3, &[])]);
    let parts = [
        ("ind.ds.x", csr([1, 2], &[0, 1], &[0], &[1.0])),
        ("ind.ds.allx", allx.clone()),
        ("ind.ds.tx", csr([1, 2], &[0, 1], &[1], &[5.0])),
        ("ind.ds.y", array(&[1, 2], &[1, 0])),
        ("ind.ds.ally", array(&[3, 2], &[1, 0, 0, 1, 1, 0])),
        ("ind.ds.ty", array(&[1, 2], &[0, 1])),
        ("ind.ds.graph", lists.clone()),
        ("ind.ds.test.index", b"4\n".to_vec()),
    ];
    let whole = Sections::join(parts.iter().map(|(name, bytes)| (*name, &bytes[..])));
    vec![
        ("pickle", "csr", allx),
        ("pickle", "lists", lists),
        ("pickle", "array", array(&[3, 2], &[1, 0, 0, 1, 1, 0])),
        ("pickle", "text", b"(dp0\nS'a\\x41'\np1\n(lp2\nI1\naL2L\naF0.5\nasVtext\\u00e4\n(I01\nNtp3\ns.".to_vec()),
        (
            "pickle",
            "frames",
            b"\x80\x04\x95\x14\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x01a\x94]\x94(K\x01\x88Gu\0\0\0\0\0\0\0eu.".to_vec(),
        ),
        ("planetoid", "five-nodes", whole),
    ]
}

/// Sizes, rule and entries; see the targets.
#[cfg(feature = "geometry")]
fn matrices() -> Vec<Seed> {
    let seed = |head: &[u8], values: &[f32]| [head, &floats(values)].concat();
    let double = |head: &[u8], values: &[f64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        [head, &bytes].concat()
    };
    let tied = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let mixed = [f32::MAX, 1e-45, -1.0, 0.25, f32::MIN_POSITIVE, -f32::MAX, 3.5];
    vec![
        ("decomposition", "tied", seed(&[2, 2, 1], &tied)),
        ("decomposition", "mixed", seed(&[4, 2, 8], &mixed)),
        (
            "decomposition",
            "wide",
            seed(&[1, 7, 3], &[0.5, 2.0, -1.5, 3.0, 0.125]),
        ),
        (
            "decomposition",
            "double",
            double(&[3, 3, 130], &[1.0, 1e-200, -2.5, 1e200, 0.0]),
        ),
        (
            "decomposition",
            "large",
            seed(&[244, 243, 9], &[0.5, 2.0, -1.5, 3.0, 0.125, -0.75, 1.0]),
        ),
        (
            "decomposition",
            "not-finite",
            seed(&[1, 1, 0], &[1.0, f32::NAN, f32::INFINITY]),
        ),
        (
            "subspaces",
            "planes",
            seed(&[1, 1, 3, 1], &[1.0, 0.0, 0.5, 0.25, 0.0, 1.0, 2.0, 0.0]),
        ),
        (
            "subspaces",
            "lines",
            double(&[0, 0, 2, 130], &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0]),
        ),
        ("subspaces", "mixed", seed(&[4, 3, 5, 10], &mixed)),
    ]
}

fn lists() -> Vec<Seed> {
    let registry = r#"format = 1

[[dataset]]
name = "TINY"
aliases = ["small-one"]
task = "graph-classification"
layout = "tu"
path = "TINY"
stem = "TINY"
licence = "none"
citations = ["Nobody"]

[dataset.counts]
graphs = 2
nodes = 5
edges = 2
features = 3
classes = 2

[[dataset.file]]
path = "TINY/TINY_A.txt"
url = "https://example.org/TINY_A.txt"
size = 12
"#;
    vec![("registry", "one", registry.as_bytes().to_vec())]
}

fn first_file(folder: &Path) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.is_file())
}

/// The content of cache files, behind their header.
fn caches() -> Result<Vec<Seed>> {
    let header = 48;
    let folder = Folder::new("seeds-of-caches");
    let mut seeds = Vec::new();
    for (target, seed, name, layout) in [
        ("tu", "two-graphs", "tu", Layout::Tu),
        ("edge_list", "numbers", "edge-list", Layout::EdgeList),
        ("ogb", "three-graphs", "ogb", Layout::Ogb),
    ] {
        let all = texts().into_iter().chain(tables());
        let mut input = all
            .filter(|(of, known, _)| (*of, *known) == (target, seed))
            .map(|(.., bytes)| bytes);
        let input = input.next_back().unwrap_or_default();
        let source = folder.emptied("source");
        for (file, content) in Sections::everything(&input) {
            let path = source.join(file);
            std::fs::create_dir_all(path.parent().unwrap_or(&source))?;
            std::fs::write(path, content)?;
        }
        let caches = folder.emptied("caches");
        let source = DataSource::new(source, layout, "DS");
        source.load(&ReadOptions::default(), &Cache::In(caches.clone()))?;
        let file = first_file(&caches).ok_or("no cache was written")?;
        seeds.push(("cache", name, std::fs::read(file)?.split_off(header)));
    }
    Ok(seeds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::TARGETS;

    /// A seed that is refused at once leads nowhere.
    #[test]
    fn every_target_has_seeds_and_they_are_read() {
        let seeds = all().unwrap();
        for target in TARGETS {
            assert!(
                seeds.iter().any(|(name, ..)| *name == target.name),
                "{}",
                target.name
            );
        }
        for (name, seed, bytes) in seeds {
            let told = (crate::target(name).unwrap().run)(&bytes).to_string();
            let read = match (name, seed) {
                ("decomposition", "not-finite") => told == "not finite",
                ("pickle", _) => ["an array", "a CSR matrix", "a dict"]
                    .iter()
                    .any(|kind| told.contains(kind)),
                // One of several kinds, or the text of a rank rule.
                ("settings", _) => told.contains("read") || seed == "rank",
                _ => told.starts_with("read"),
            };
            assert!(read, "{name}/{seed}: {told}");
            assert!(bytes.len() <= crate::mutate::LONGEST, "{name}/{seed}");
        }
    }
}
