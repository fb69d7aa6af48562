//! Files made to fill a machine: refused, or read, within so much memory. The readers
//! run in a child, this program once more, of which the system (`ulimit -v`) takes no
//! more than that.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use egg_graph::{Cache, DataSource, GraphBatch, Propagation, ReadOptions, pickle::Pickle, read_npy};
use tempfile::TempDir;

use crate::bomb;

const FILE: &str = "EGG_LIMITS_READS";
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// For what is refused at once, the test program itself included.
const LITTLE: u64 = 256 * MIB;

/// 10 GB, or what does as well in less time.
fn large() -> u64 {
    match std::env::var_os("EGG_TEST_FULL") {
        Some(_) => 10_000_000_000,
        None => 1_000_000_000,
    }
}

/// No test of its own: reads a file and says what came of it.
#[test]
fn child() {
    let Some(path) = std::env::var_os(FILE).map(PathBuf::from) else {
        return;
    };
    let options = ReadOptions::default();
    let ending = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let verdict = match ending.as_str() {
        "pickle" => Pickle::read(&path, &options).map(|pickle| pickle.value().kind().to_owned()),
        "npy" => read_npy(&path, &options).map(|array| format!("{:?}", array.shape())),
        _ => DataSource::detect(&path)
            .and_then(|source| source.load(&options, &Cache::NextToSource))
            .map(|loaded| loaded.dataset)
            .and_then(|dataset| {
                // What is done with any data set.
                let batch = GraphBatch::all(&dataset)?;
                let matrix = Propagation::gcn(&dataset).all()?;
                Ok(format!(
                    "{} nodes, {} edges, {:?}, {}",
                    batch.node_count(),
                    dataset.edge_count(),
                    matrix.shape(),
                    dataset.fingerprint()
                ))
            }),
    };
    let line = match verdict {
        Ok(verdict) => format!("\nread: {verdict}\n"),
        Err(error) => format!("\nrefused: {error}\n"),
    };
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// What the child says, with so many bytes of memory.
fn within(memory: u64, path: &Path) -> String {
    let output = Command::new("sh")
        .args(["-c", "ulimit -v \"$0\" && exec \"$@\""])
        .arg((memory / 1024).to_string())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "limits::child", "--nocapture", "--test-threads", "1"])
        .env(FILE, path)
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let verdict = out
        .lines()
        .find(|line| line.starts_with("read: ") || line.starts_with("refused: "));
    match verdict {
        Some(verdict) if output.status.success() => verdict.to_owned(),
        _ => panic!(
            "{}, with {memory} bytes: {}\n{out}\n{}",
            path.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        ),
    }
}

#[track_caller]
fn refused(memory: u64, path: &Path, word: &str) {
    let verdict = within(memory, path);
    assert!(
        verdict.starts_with("refused: ") && verdict.contains(word),
        "{}: {verdict}",
        path.display()
    );
}

/// A folder with files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// The beginning of an array of zeros.
fn npy(elements: &str, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '{elements}', 'fortran_order': False, 'shape': ({shape},), }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes()].concat()
}

/// 10 GB of zeros in 10 MB. (Of what is not looked at unless it is allowed for, the
/// size is no matter.)
#[test]
fn declared_zip_bomb_is_refused() {
    const BYTES: u64 = 10_000_000_000;
    let place = folder(&[]);
    for (name, member, head, line) in [
        ("zeros.zip", "B_graph_indicator.txt", &b""[..], &b"\0"[..]),
        ("lines.zip", "B_graph_indicator.txt", b"", b"1\n"),
        ("array.npz", "labels.npy", &npy("<i8", "1250000000"), b"\0"),
    ] {
        let path = place.path().join(name);
        bomb::zip(&path, member, head, line, BYTES, None);
        assert!(fs::metadata(&path).unwrap().len() < 11_000_000, "{name}");
        refused(LITTLE, &path, "unpack it first");
    }
}

#[test]
fn undeclared_zip_bomb_stops_at_its_declared_size() {
    let place = folder(&[]);
    let claim = Some(60 * MIB);
    let lines = place.path().join("lines.zip");
    bomb::zip(&lines, "B_graph_indicator.txt", b"", b"1\n", large(), claim);
    refused(GIB, &lines, "larger than its declared");
    let array = place.path().join("array.npz");
    bomb::zip(
        &array,
        "adj_data.npy",
        &npy("<i8", "125000000"),
        b"\0",
        large(),
        claim,
    );
    // Whatever is asked for first, nothing of it is read that is not there.
    refused(LITTLE, &array, "array.npz");
    let mut archive = egg_graph::Npz::open(&array, &ReadOptions::default()).unwrap();
    let error = archive.array("adj_data").unwrap_err().to_string();
    assert!(error.contains("larger than its declared"), "{error}");
}

/// Of a gzip file the size is not known before it is unpacked.
#[test]
fn a_gzip_bomb_is_stopped_at_a_hundred_times_its_size() {
    let ogb = |edges: &str| folder(&[("raw/num-node-list.csv", "2\n"), ("raw/num-edge-list.csv", edges)]);
    let place = ogb("4294967295\n");
    bomb::gzip(&place.path().join("raw/edge.csv.gz"), b"0,1\n", large());
    // Twelve bytes for a line of four, and room to grow.
    refused(4 * large() / 10 + LITTLE, place.path(), "unpack it first");
    bomb::gzip(&place.path().join("raw/edge.csv.gz"), b"\0", large());
    refused(LITTLE, place.path(), "longer than 1048576 bytes");
    let place = ogb("0\n");
    bomb::gzip(&place.path().join("raw/edge.csv.gz"), b"\n", large());
    refused(LITTLE, place.path(), "unpack it first");
}

#[test]
fn declared_rows_are_allocated_only_as_read() {
    let place = folder(&[]);
    let path = place.path().join("rows.npy");
    for (elements, shape, word) in [
        ("<f4", "1000000000000", "over the limit of 17179869184"),
        ("<f4", "1000000000000, 1000000000000", "over the limit"),
        ("|b1", "18446744073709551615", "over the limit"),
        // Less than the limit, and not there.
        ("<f4", "4000000000", "ends 15999999999 bytes too early"),
        ("<U1000000000", "4", "ends 15999999999 bytes too early"),
        ("<f4", "0, 1000000000000", "the header"),
    ] {
        fs::write(&path, [npy(elements, shape), vec![0]].concat()).unwrap();
        let verdict = within(LITTLE, &path);
        assert!(verdict.starts_with("refused"), "{shape}: {verdict}");
        if word != "the header" {
            assert!(verdict.contains(word), "{elements} {shape}: {verdict}");
        }
    }
    // In an archive that is as large as it says.
    let path = place.path().join("rows.npz");
    bomb::zip(
        &path,
        "adj_data.npy",
        &npy("<f4", "1000000000000"),
        b"\0",
        1,
        None,
    );
    refused(LITTLE, &path, "rows.npz");
    let mut archive = egg_graph::Npz::open(&path, &ReadOptions::default()).unwrap();
    let error = archive.array("adj_data").unwrap_err().to_string();
    assert!(error.contains("over the limit"), "{error}");
}

#[test]
fn pickle_claiming_a_string_of_4_gigabytes_is_refused() {
    let place = folder(&[]);
    let path = place.path().join("text.pickle");
    // Opcode, length, nothing.
    for claim in [
        &b"\x80\x04T\xff\xff\xff\x7f"[..],
        b"\x80\x04X\0\x28\x6b\xee",
        b"\x80\x04\x8d\0\x28\x6b\xee\0\0\0\0",
        b"\x80\x04\x8e\0\x28\x6b\xee\0\0\0\0",
        b"\x80\x04\x8b\xff\xff\xff\x7f",
        b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f",
    ] {
        fs::write(&path, claim).unwrap();
        refused(LITTLE, &path, "byte 2");
    }
    // One that is there, in a file that takes no room: most of it is a hole.
    fs::write(&path, b"\x80\x04\x8d\0\x28\x6b\xee\0\0\0\0").unwrap();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(11 + 4_000_000_000 + 1).unwrap();
    refused(LITTLE, &path, "over the limit of 1073741824");
    // The largest that may be has to be in memory, and its text once more.
    if std::env::var_os("EGG_TEST_FULL").is_none() {
        return;
    }
    file.set_len(0).unwrap();
    let length = 1_000_000_000u64;
    file.write_all_at(b"\x80\x04\x8d", 0).unwrap();
    file.write_all_at(&length.to_le_bytes(), 3).unwrap();
    file.write_all_at(b".", 11 + length).unwrap();
    assert_eq!(within(3 * GIB, &path), "read: text");
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let place = folder(&[]);
    let at = |name: &str| place.path().join(name);
    let deep = 1_000_000;
    for open in ["[", "{\"features\":", "{\"a\":["] {
        fs::write(at("deep.json"), open.repeat(deep)).unwrap();
        refused(LITTLE, &at("deep.json"), "line 1");
    }
    fs::write(at("marks.pickle"), b"(".repeat(deep)).unwrap();
    refused(LITTLE, &at("marks.pickle"), "nested more than 4096 deep");
    // Lists in lists need no marks.
    let lists = [b"]".repeat(deep), b"a".repeat(deep - 1), b".".to_vec()].concat();
    fs::write(at("lists.pickle"), lists).unwrap();
    assert!(within(GIB, &at("lists.pickle")).starts_with("read: "));
}

/// 9223372036854775808: one more than 64 bits hold with a sign.
#[test]
fn huge_node_id_is_refused_or_a_name() {
    const ID: &str = "9223372036854775808";
    let edge = format!("1, {ID}\n");
    let tu = folder(&[("T_A.txt", &edge), ("T_graph_indicator.txt", "1\n1\n")]);
    refused(LITTLE, tu.path(), ID);
    let tu = folder(&[
        ("T_A.txt", "1, 2\n"),
        ("T_graph_indicator.txt", &format!("1\n{ID}\n")),
    ]);
    refused(LITTLE, tu.path(), ID);
    let edge = format!("0,{ID}\n");
    let ogb = folder(&[
        ("raw/num-node-list.csv", "2\n"),
        ("raw/num-edge-list.csv", "1\n"),
        ("raw/edge.csv", &edge),
    ]);
    refused(LITTLE, ogb.path(), ID);
    let ogb = folder(&[
        ("raw/num-node-list.csv", &format!("{ID}\n")),
        ("raw/num-edge-list.csv", "0\n"),
        ("raw/edge.csv", ""),
    ]);
    refused(LITTLE, ogb.path(), ID);
    let wiki = format!("{{\"features\":[[1],[2]],\"labels\":[0,1],\"links\":[[{ID}],[0]]}}");
    let wiki = folder(&[("data.json", &wiki)]);
    refused(LITTLE, &wiki.path().join("data.json"), ID);
    // In a list of edges it may be what a node is called.
    let list = folder(&[("net.csv", &format!("source,target\n1,{ID}\n{ID},2\n"))]);
    let verdict = within(LITTLE, &list.path().join("net.csv"));
    assert!(verdict.starts_with("read: 3 nodes, 2 edges"), "{verdict}");
    // And one below, which does fit.
    let near = folder(&[("net.csv", "1,0\n1,9223372036854775807\n")]);
    let verdict = within(LITTLE, &near.path().join("net.csv"));
    assert!(verdict.starts_with("read: 3 nodes, 2 edges"), "{verdict}");
}

/// 10^7 nodes that are there are read; 10^7 that are only said to be are not.
#[test]
fn ten_million_nodes_without_edges_fit_in_memory() {
    let lines = "1\n".repeat(10_000_000);
    let tu = folder(&[("T_A.txt", ""), ("T_graph_indicator.txt", &lines)]);
    let verdict = within(GIB, tu.path());
    assert!(
        verdict.starts_with("read: 10000000 nodes, 0 edges, (10000000, 10000000)"),
        "{verdict}"
    );
    let ogb = folder(&[
        ("raw/num-node-list.csv", "10000000\n"),
        ("raw/num-edge-list.csv", "0\n"),
        ("raw/edge.csv", ""),
    ]);
    refused(LITTLE, ogb.path(), "is said to be 10000000");
    for (nodes, word) in [
        ("10000000", "is said to be 10000000"),
        ("9223372036854775808", "is not between"),
    ] {
        let text = format!("# nodes: {nodes}\nsource,target\n0,1\n");
        let list = folder(&[("net.csv", &text)]);
        refused(LITTLE, &list.path().join("net.csv"), word);
    }
}
