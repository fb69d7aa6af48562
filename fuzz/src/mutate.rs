//! Inputs that are nearly like others.

use rand::{Rng, RngExt};

/// No input is longer: what goes wrong in long files goes wrong in short ones.
pub const LONGEST: usize = 1 << 14;

/// Numbers that are at an end of something, as text.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "65535",
    "65536",
    "1048576",
    "1048577",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "1000000000000",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "-0",
    "+1",
    "00",
    "0.5",
    "1e-45",
    "3.4028235e38",
    "1e39",
    "1e308",
    "1e999",
    "-1e-400",
    "nan",
    "inf",
    "-inf",
    "NaN",
    "",
];

/// The same as bits.
const BITS: &[u64] = &[
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x10_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
    // f32: one, the largest, the least, infinity, not a number, minus zero.
    0x3f80_0000,
    0x7f7f_ffff,
    0x0000_0001,
    0x7f80_0000,
    0x7fc0_0000,
    // f64: one, the largest, infinity.
    0x3ff0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
];

/// Makes a new input of one of `pool` (which must not be empty) and perhaps a
/// second one; `words` are what the format is made of. The same generator gives
/// the same inputs.
///
/// ```
/// use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
/// let pool = [b"1,2\n".to_vec()];
/// let input = |seed| egg_fuzz::mutate::mutated(&pool, &["nan"], &mut ChaCha8Rng::seed_from_u64(seed));
/// assert_eq!(input(7), input(7));
/// assert!((0..100).any(|seed| input(seed) != pool[0]));
/// ```
pub fn mutated<R: Rng>(pool: &[Vec<u8>], words: &[&str], rng: &mut R) -> Vec<u8> {
    let pick = |rng: &mut R| {
        pool.get(rng.random_range(0..pool.len().max(1)))
            .cloned()
            .unwrap_or_default()
    };
    let mut input = pick(rng);
    // Mostly one or two changes: more, and hardly anything gets far.
    let changes = 1 << rng.random_range(0..5).min(rng.random_range(0..5));
    for _ in 0..changes {
        change(&mut input, words, rng, &pick);
    }
    input.truncate(LONGEST);
    input
}

fn change<R: Rng>(input: &mut Vec<u8>, words: &[&str], rng: &mut R, pick: &dyn Fn(&mut R) -> Vec<u8>) {
    let place = rng.random_range(0..=input.len());
    match rng.random_range(0..15) {
        0 => {
            if let Some(byte) = input.get_mut(place) {
                *byte ^= 1 << rng.random_range(0..8);
            }
        }
        1 => {
            if let Some(byte) = input.get_mut(place) {
                *byte = rng.random();
            }
        }
        2 => drop(input.drain(range(input.len(), 16, rng))),
        3 => drop(input.drain(range(input.len(), usize::MAX, rng))),
        4 => {
            let part = input[range(input.len(), 64, rng)].to_vec();
            input.splice(place..place, part);
        }
        5 => {
            let part = input[range(input.len(), 32, rng)].to_vec();
            let end = (place + part.len()).min(input.len());
            input.splice(place..end, part);
        }
        6 => input.insert(place, rng.random()),
        7 | 8 if !words.is_empty() => {
            let word = words[rng.random_range(0..words.len())].as_bytes();
            let over = if rng.random() {
                (place + word.len()).min(input.len())
            } else {
                place
            };
            input.splice(place..over, word.iter().copied());
        }
        9 | 10 => number(input, place, rng),
        11 => {
            let bits = BITS[rng.random_range(0..BITS.len())];
            let bits = bits.wrapping_add(rng.random_range(0..3)).wrapping_sub(1);
            let width = [1, 2, 4, 8][rng.random_range(0..4)];
            let end = (place + width).min(input.len());
            input.splice(place..end, bits.to_le_bytes().into_iter().take(width));
        }
        12 => {
            let other = pick(rng);
            let from = rng.random_range(0..=other.len());
            input.truncate(place);
            input.extend_from_slice(&other[from..]);
        }
        13 => lines(input, rng),
        _ => input.truncate(place),
    }
}

/// Some of `length` places, `most` at most.
fn range<R: Rng>(length: usize, most: usize, rng: &mut R) -> std::ops::Range<usize> {
    let start = rng.random_range(0..=length);
    let end = start + rng.random_range(0..=most.min(length - start));
    start..end
}

/// Puts another number in the place of the one that is at or behind a place.
fn number<R: Rng>(input: &mut Vec<u8>, place: usize, rng: &mut R) {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'-' || *byte == b'.';
    let Some(start) = input.iter().skip(place).position(is_part) else {
        return;
    };
    let start = place + start;
    let length = input[start..].iter().take_while(|byte| is_part(byte)).count();
    let new = match rng.random_range(0..3) {
        0 => rng.random_range(-3i64..10).to_string(),
        _ => NUMBERS[rng.random_range(0..NUMBERS.len())].to_owned(),
    };
    input.splice(start..start + length, new.bytes());
}

/// Drops, repeats or swaps lines.
fn lines<R: Rng>(input: &mut Vec<u8>, rng: &mut R) {
    let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
    if lines.is_empty() {
        return;
    }
    let (a, b) = (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
    match rng.random_range(0..3) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a]),
        _ => lines.swap(a, b),
    }
    *input = lines.concat();
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;
    use std::collections::HashSet;

    #[test]
    fn mutations_are_short_and_vary() {
        for pool in [
            vec![vec![]],
            vec![vec![0]],
            vec![b"1,2\n3,4\n".to_vec(), vec![255; 20_000]],
        ] {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            let mut seen = HashSet::new();
            for _ in 0..3000 {
                let input = mutated(&pool, &["word", ""], &mut rng);
                assert!(input.len() <= LONGEST);
                seen.insert(input);
            }
            assert!(seen.len() > 300, "{}", seen.len());
        }
    }
}
