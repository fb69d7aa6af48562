//! Pickles in the instructions that Python 2 writes.

use super::numpy::{floats, words};

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

pub(crate) fn array(shape: &[i64], values: &[i32]) -> Vec<u8> {
    [b"\x80\x02", &body(shape, b"i4", &words(values))[..], b"."].concat()
}

pub(crate) fn csr(shape: [i64; 2], offsets: &[i32], ids: &[i32], values: &[f32]) -> Vec<u8> {
    let list = |length: usize, elements, data: &[u8]| {
        body(&[i64::try_from(length).unwrap_or(i64::MAX)], elements, data)
    };
    [
        b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81}(U\x06_shape",
        &number(shape[0])[..],
        &number(shape[1]),
        b"\x86U\x06indptr",
        &list(offsets.len(), b"i4", &words(offsets)),
        b"U\x07indices",
        &list(ids.len(), b"i4", &words(ids)),
        b"U\x04data",
        &list(values.len(), b"f4", &floats(values)),
        b"ub.",
    ]
    .concat()
}

pub(crate) fn graph(lists: &[(u8, &[u8])]) -> Vec<u8> {
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
