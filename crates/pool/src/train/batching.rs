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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_hold_a_single_graph_only_if_unavoidable() {
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
}
