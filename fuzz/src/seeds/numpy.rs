//! Arrays as NumPy writes them.

pub(crate) fn npy(elements: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
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

pub(crate) fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

pub(crate) fn words(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
