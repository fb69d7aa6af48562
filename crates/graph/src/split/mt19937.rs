//! The Mersenne twister, as PyTorch's CPU generator uses it: the paper's split
//! is a permutation drawn from it.

const N: usize = 624;
const M: usize = 397;

pub(super) struct Mt19937 {
    state: [u32; N],
    next: usize,
}

impl Mt19937 {
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [seed; N];
        for at in 1..N {
            let before = state[at - 1];
            #[expect(clippy::cast_possible_truncation, reason = "at < 624")]
            let position = at as u32;
            state[at] = 1_812_433_253u32
                .wrapping_mul(before ^ (before >> 30))
                .wrapping_add(position);
        }
        Self { state, next: N }
    }

    pub(super) fn next_u32(&mut self) -> u32 {
        if self.next == N {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn twist(&mut self) {
        for at in 0..N {
            let joined = (self.state[at] & 0x8000_0000) | (self.state[(at + 1) % N] & 0x7fff_ffff);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[at] = self.state[(at + M) % N] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mt19937_matches_the_reference() {
        // C++ ([rand.predef]) requires this of the 10000th number of a
        // default-constructed std::mt19937, whose seed is 5489.
        let mut generator = Mt19937::new(5489);
        let numbers: Vec<u32> = (0..10_000).map(|_| generator.next_u32()).collect();
        assert_eq!(numbers[9_999], 4_123_659_995);
    }
}
