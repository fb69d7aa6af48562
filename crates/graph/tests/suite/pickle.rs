//! The closed pickle reader.

use std::path::{Path, PathBuf};

use egg_graph::pickle::{Entries, Pickle, Value};
use egg_graph::{Error, ReadOptions};
use ndarray::array;

fn load(bytes: &[u8]) -> Result<Pickle, Error> {
    Pickle::from_bytes(bytes.to_vec(), Path::new("test.pickle"), &ReadOptions::default())
}

fn fixture(protocol: u8) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/numpy");
    Path::new(folder).join(format!("content.{protocol}.pickle"))
}

fn entries(pickle: &Pickle) -> Entries<'_> {
    match pickle.value() {
        Value::Dict(entries) => entries,
        other => panic!("{}", other.kind()),
    }
}

/// The fixtures are written by `fixtures/numpy/make.py`, in Python 3.
#[test]
fn all_pickle_protocols_give_the_same_value() {
    for protocol in 0..=4 {
        let pickle = Pickle::read(&fixture(protocol), &ReadOptions::default()).unwrap();
        let content = entries(&pickle);
        let matrix = |name| match content.get(name) {
            Some(Value::Array(array)) => array.to_matrix().unwrap(),
            other => panic!("{name} in protocol {protocol}: {other:?}"),
        };
        assert_eq!(matrix("ints"), array![[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]);
        assert_eq!(matrix("fortran"), array![[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]);
        assert_eq!(matrix("empty").dim(), (0, 2));
        let integers = |name| match content.get(name) {
            Some(Value::Array(array)) => array.to_integers().unwrap(),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(integers("big_endian"), [0, 1, 2]);
        assert_eq!(integers("bools"), [1, 0]);
        match content.get("csr") {
            // Sorted, and column 2 of row 0 added up, as `sum_duplicates` does.
            Some(Value::Csr(matrix)) => assert_eq!(
                matrix.to_matrix().unwrap().to_dense(),
                array![[2.0, 0.0, 4.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 4.0, 0.0, 0.0]]
            ),
            other => panic!("{other:?}"),
        }
        assert!(matches!(content.get("float"), Some(Value::Float(0.1))));
        assert!(matches!(content.get("int"), Some(Value::Int(-7))));
        assert!(matches!(content.get("large"), Some(Value::Int(0x100_0000_0000))));
        assert!(matches!(
            content.get("negative"),
            Some(Value::Int(-0x100_0000_0000))
        ));
        assert!(matches!(content.get("text"), Some(Value::Text("é€"))));
        assert!(matches!(content.get("bytes"), Some(Value::Bytes(b"\0\xff\n'"))));
        assert!(content.get("nothing").is_none());
        let Some(Value::List(nested)) = content.get("nested") else {
            panic!("not a list")
        };
        let kinds: Vec<&str> = nested.iter().map(|value| value.kind()).collect();
        assert_eq!(
            kinds,
            ["a tuple", "a tuple", "a tuple", "a dict", "None", "a truth value"]
        );
        assert!(matches!(nested.get(2), Some(Value::Tuple(pair)) if pair.len() == 2 && !pair.is_empty()));
        let Some(Value::Dict(ordered)) = content.get("ordered") else {
            panic!("not a dict")
        };
        assert!(matches!(ordered.get("b"), Some(Value::Int(2))));
        assert!(matches!(content.get("lists"), Some(Value::Dict(lists)) if lists.len() == 1));
    }
}

#[test]
fn names_other_than_data_are_refused() {
    for (bytes, name) in [
        (&b"cos\nsystem\n(S'echo'\ntR."[..], "os.system"),
        (b"\x80\x02cposix\nsystem\nU\x04echo\x85R.", "posix.system"),
        (
            b"\x80\x03cbuiltins\neval\nX\x01\x00\x00\x001\x85R.",
            "builtins.eval",
        ),
        (b"\x80\x04\x8c\x08builtins\x8c\x04exec\x93.", "builtins.exec"),
        (b"(ios\nsystem\n.", "os.system"),
        (b"c__builtin__\ngetattr\n.", "__builtin__.getattr"),
        (b"cnumpy\nload\n.", "numpy.load"),
        (b"cscipy.sparse.csr\nsystem\n.", "scipy.sparse.csr.system"),
        (b"c numpy\nndarray\n.", " numpy.ndarray"),
        (
            b"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR.",
            "an array with elements of type O8",
        ),
        (
            b"cnumpy\ndtype\n(S'V8'\nI0\nI1\ntR.",
            "an array with elements of type V8",
        ),
        (
            b"cnumpy\ndtype\n(S'i4'\nI0\nI1\ntR(I3\nS'|'\nN(S'a'\nt}I4\nI1\nI0\ntb.",
            "an array with elements of a structured type",
        ),
    ] {
        match load(bytes) {
            Err(Error::Refused {
                name: found, file, ..
            }) => {
                assert_eq!(found, name);
                assert_eq!(file, Path::new("test.pickle"));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn invalid_opcode_is_refused_with_its_offset() {
    for (bytes, at, words) in [
        (&b""[..], 0, "ends"),
        (b".", 0, "empty stack"),
        (b"N.N", 2, "ends before"),
        (b"N", 1, "ends"),
        (b"\x80\x05N.", 0, "protocol 5"),
        (b"N0.", 2, "empty stack"),
        (b"(.", 1, "empty stack"),
        (b"t.", 0, "mark"),
        (b"](e", 3, "ends"),
        (b"}Na.", 2, "not a list"),
        (b"]NNs.", 3, "not a dict"),
        (b"}(Nu.", 3, "key without a value"),
        (b"h\x07.", 0, "key 7"),
        (b"gx\n.", 0, "not a key"),
        (b"I12x\n.", 0, "whole number"),
        (b"I9223372036854775808\n.", 0, "whole number of 64 bits"),
        (b"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x80\x00.", 0, "64 bits"),
        (b"Fx\n.", 0, "not a number"),
        (b"Sx\n.", 0, "quoted"),
        (b"V\\u12\n.", 0, "not text"),
        (b"X\x01\x00\x00\x00\xff.", 0, "UTF-8"),
        (b"T\xff\xff\xff\xff.", 0, "negative length"),
        (b"T\xff\xff\xff\x7f.", 6, "ends"),
        (b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff.", 10, "ends"),
        (b"\x95\xff\x00\x00\x00\x00\x00\x00\x00N.", 0, "frame"),
        (b"N)R.", 2, "not a name"),
        (b"cnumpy\ndtype\nNR.", 14, "tuple"),
        (b"cnumpy\nndarray\n)R.", 16, "NdArray"),
        (b"cnumpy\nndarray\n)\x81.", 16, "NdArray"),
        (b"c_codecs\nencode\n(VA\nS'rot13'\ntR.", 30, "Latin-1"),
        (b"NNb.", 2, "has none"),
        (b"cscipy.sparse.csr\ncsr_matrix\n)\x81Nb.", 32, "dict"),
        (b"Pabc\n.", 0, "0x50"),
        (b"N\x82\x01.", 1, "0x82"),
        (b"\x8f.", 0, "0x8f"),
    ] {
        match load(bytes) {
            Err(Error::Binary { offset, problem, .. }) => {
                assert!(problem.contains(words), "{bytes:?}: {problem}");
                assert_eq!(offset, at, "{bytes:?}: {problem}");
            }
            other => panic!("{bytes:?}: {other:?}"),
        }
    }
}

#[test]
fn truncations_and_bit_flips_do_not_panic() {
    for protocol in 0..=4 {
        let whole = std::fs::read(fixture(protocol)).unwrap();
        for length in 0..whole.len() {
            match load(&whole[..length]) {
                Err(Error::Binary { offset, .. }) => assert!(offset <= length as u64),
                Err(Error::Refused { .. }) => {}
                other => panic!("cut at {length}: {other:?}"),
            }
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x20, 0x80] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                let Ok(pickle) = load(&bytes) else { continue };
                if let Value::Dict(content) = pickle.value() {
                    for (_, value) in content.iter() {
                        match value {
                            Value::Array(array) => {
                                let _ = (array.to_matrix(), array.to_integers(), array.to_texts());
                            }
                            Value::Csr(matrix) => drop(matrix.to_matrix()),
                            _ => {}
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn depth_and_memory_are_limited_and_shared_content_costs_nothing() {
    let marks = vec![b'('; 10_000];
    assert!(matches!(load(&marks), Err(Error::Binary { offset: 4096, .. })));

    let lists = [vec![b']'; 1000], vec![b'.']].concat();
    let limited = ReadOptions {
        max_bytes: 10_000,
        ..ReadOptions::default()
    };
    let refused = Pickle::from_bytes(lists, Path::new("lists"), &limited).unwrap_err();
    assert!(refused.to_string().contains("higher limit"), "{refused}");

    // Each list holds the one before ten times: 10^30 items if written out.
    let mut laughs = b"]q\x00".to_vec();
    for level in 0..30 {
        laughs.extend(b"](");
        laughs.extend([b'h', level].repeat(10));
        laughs.extend([b'e', b'q', level + 1]);
    }
    laughs.push(b'.');
    assert!(load(&laughs).is_ok());

    // A list that holds itself, and a hundred thousand lists in each other.
    let pickle = load(b"]q\x00h\x00a.").unwrap();
    assert!(matches!(pickle.value(), Value::List(items) if items.len() == 1));
    let deep = [vec![b']'; 100_000], vec![b'a'; 99_999], vec![b'.']].concat();
    drop(load(&deep).unwrap());
}
