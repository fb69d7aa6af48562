//! The order in which graphs are seen.

/// Cuts an order into batches of `size`. A single graph that would be left over
/// joins the batch before: batch normalisation of one row gives its bias, and
/// so no gradient to anything below.
pub(super) fn batches(order: &[usize], size: usize) -> Vec<&[usize]> {
    let mut parts: Vec<&[usize]> = order.chunks(size.max(1)).collect();
    if size > 1 && parts.len() > 1 && parts.last().is_some_and(|last| last.len() == 1) {
        parts.pop();
        let start = (parts.len() - 1) * size;
        parts.pop();
        parts.push(&order[start..]);
    }
    parts
}

/// A number that stands for lists of indices: FNV-1a, the same everywhere.
pub(crate) fn digest(lists: &[&[usize]]) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |number: usize| {
        for byte in (number as u64).to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for list in lists {
        add(list.len());
        list.iter().copied().for_each(&mut add);
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_batch_of_one_unless_there_is_but_one() {
        let order: Vec<usize> = (0..70).collect();
        for size in 1..70 {
            for count in 1..70 {
                let parts = batches(&order[..count], size);
                assert_eq!(parts.concat(), order[..count], "{count} by {size}");
                let single = parts.iter().any(|part| part.len() == 1);
                assert_eq!(single, count == 1 || size == 1, "{count} by {size}");
                assert!(parts.iter().all(|part| part.len() <= size + 1));
            }
        }
    }

    #[test]
    fn a_digest_tells_lists_apart() {
        assert_eq!(digest(&[&[1, 2], &[3]]), digest(&[&[1, 2], &[3]]));
        assert_ne!(digest(&[&[1, 2], &[3]]), digest(&[&[1], &[2, 3]]));
        assert_ne!(digest(&[&[1, 2]]), digest(&[&[2, 1]]));
    }
}
