//! Numbers that begin where a line of the cache does, so that no vector lies
//! across two lines: that alone doubles the speed of a reduction.

/// What the processor loads at once, in bytes.
const LINE: usize = 64;

/// Room for numbers that are used again and again. A copy may begin elsewhere:
/// that makes it slower, not wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Aligned {
    numbers: Vec<f64>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// Makes it `length` long; what it held is lost.
    pub(super) fn reset(&mut self, length: usize) {
        let room = length + LINE / size_of::<f64>();
        if self.numbers.len() < room {
            self.numbers.resize(room, 0.0);
        }
        // 0 if the allocator can't say, which is allowed and only slower.
        let start = self.numbers.as_ptr().align_offset(LINE);
        self.start = if start <= room - length { start } else { 0 };
        self.length = length;
    }

    pub(super) fn get(&self) -> &[f64] {
        &self.numbers[self.start..self.start + self.length]
    }

    pub(super) fn get_mut(&mut self) -> &mut [f64] {
        &mut self.numbers[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_length_asked_for_and_keeps_what_is_written() {
        let mut aligned = Aligned::default();
        assert!(aligned.get().is_empty());
        for length in [0, 1, 7, 8, 4096, 3] {
            aligned.reset(length);
            assert_eq!(aligned.get().len(), length);
            assert_eq!(aligned.get().as_ptr() as usize % LINE, 0);
            aligned.get_mut().fill(length as f64);
            let copy = aligned.clone();
            assert_eq!(copy.get(), aligned.get());
            assert!(copy.get().iter().all(|number| *number == length as f64));
        }
    }
}
