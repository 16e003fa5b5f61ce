//! Which accesses of a run touch given bytes, or the bytes of another run: in closed form, without looking at any access.
//!
//! Access `i` of a run touches the bytes from `base + i stride` up to `size` further. It conflicts with bytes `[low, high)` if
//! ```text
//! base + i stride < high   and   base + i stride + size > low
//! ```
//! which holds for consecutive `i`. It conflicts with access `j` of another run if their addresses differ by less than the size of the
//! lower one; over all `j` that is a window of residues modulo the other stride, and the first `i` in it is found as in
//! Euclid's algorithm.
//!
//! Whether a conflict is a dependence is for the caller to say: at least one of the two must write.
//!
//! Source: Gordini, section 4 (two events depend on each other where both access an address and one writes it), here for whole loops.

use hayase_trace::memory::Run;

/// The first and the last access of `run` that touches bytes of `[low, high)`; all between them do too. `None`: no one does.
///
/// Addresses are taken as numbers without bound: a run does not wrap around at the end of the address space.
pub fn touching(run: &Run, low: u64, high: u64) -> Option<(u64, u64)> {
    let (first, last) = overlap(run, i128::from(low), i128::from(high))?;
    Some((first as u64, last as u64))
}

/// The first and the last access of `run` that touches a byte that some access of `other` touches. Between them there may be
/// accesses that do not.
///
/// Cost: logarithmic in the strides.
pub fn conflicting(run: &Run, other: &Run) -> Option<(u64, u64)> {
    let (low, high) = span(other)?;
    let (first, last) = overlap(run, low, high)?;
    // An access within the span of the other run that touches a byte of its lattice, continued in both directions, touches
    // one of its accesses: beyond an end, the end is nearer.
    let modulus = i128::from(other.stride).abs();
    let window = i128::from(run.size) + i128::from(other.size) - 1;
    if other.count == 1 || modulus <= window {
        return Some((first as u64, last as u64));
    }
    let stride = i128::from(run.stride);
    let distance = |i: i128| {
        let address = i128::from(run.base).saturating_add(i.saturating_mul(stride));
        address.saturating_sub(low).saturating_add(i128::from(run.size) - 1)
    };
    let from_first = first_in_window(distance(first), stride, modulus, window)?;
    let from_last = first_in_window(distance(last), -stride, modulus, window)?;
    let (first, last) = (first + from_first, last - from_last);
    (first <= last).then_some((first as u64, last as u64))
}

/// The lowest byte of a run and one past the highest; `None`: it touches none.
fn span(run: &Run) -> Option<(i128, i128)> {
    if run.count == 0 || run.size == 0 {
        return None;
    }
    let start = i128::from(run.base);
    // Saturating: a damaged file may say anything.
    let end = start.saturating_add(i128::from(run.stride).saturating_mul(i128::from(run.count - 1)));
    Some((start.min(end), start.max(end).saturating_add(i128::from(run.size))))
}

/// The first and the last access that touches a byte of `[low, high)`.
fn overlap(run: &Run, low: i128, high: i128) -> Option<(i128, i128)> {
    let (start, end) = span(run)?;
    if high <= low || end <= low || start >= high {
        return None;
    }
    let most = i128::from(run.count) - 1;
    let (stride, size) = (i128::from(run.stride), i128::from(run.size));
    if stride == 0 {
        return Some((0, most));
    }
    // From the lowest address upwards, k = 0, 1, ...: start + k way < high and start + k way + size > low.
    let way = stride.abs();
    let first = low.saturating_sub(size).saturating_sub(start).div_euclid(way).saturating_add(1);
    let last = (high - 1).saturating_sub(start).div_euclid(way);
    let (first, last) = (first.max(0), last.min(most));
    if first > last {
        return None;
    }
    Some(if stride > 0 { (first, last) } else { (most - last, most - first) })
}

/// The smallest `k >= 0` for which `(offset + k step) mod modulus < window`; `0 < window < modulus`.
fn first_in_window(offset: i128, step: i128, modulus: i128, window: i128) -> Option<i128> {
    let offset = offset.rem_euclid(modulus);
    if offset < window {
        return Some(0);
    }
    // k step mod modulus in [modulus - offset, modulus - offset + window - 1], which does not wrap.
    let low = modulus - offset;
    first_between(step.rem_euclid(modulus), modulus, low, low + window - 1)
}

/// The smallest `x >= 0` with `low <= a x mod m <= high`; `0 <= low <= high < m`, `0 <= a < m`.
///
/// If no multiple of `a` is in the range, then `a x = m y + r` with `r` in it for the smallest `y` for which `m y mod a` is
/// in the range `[-high, -low]` modulo `a`: the same question for smaller numbers, halved at least every second time.
fn first_between(a: i128, m: i128, low: i128, high: i128) -> Option<i128> {
    if low == 0 {
        return Some(0);
    }
    if a == 0 {
        return None;
    }
    let round_up = |value: i128| (value + a - 1) / a;
    if round_up(low) * a <= high {
        return Some(round_up(low));
    }
    let y = first_between(m % a, a, (-high).rem_euclid(a), (-low).rem_euclid(a))?;
    Some(round_up(low + m * y))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(base: u64, stride: i64, count: u64, size: u64) -> Run {
        Run { site: 0, size, base, stride, count, first: 0, step: 1 }
    }

    fn bytes(run: &Run, i: u64) -> std::ops::Range<i128> {
        let start = i128::from(run.base) + i128::from(run.stride) * i128::from(i);
        start..start + i128::from(run.size)
    }

    fn meet(a: &std::ops::Range<i128>, b: &std::ops::Range<i128>) -> bool {
        a.start < b.end && b.start < a.end && !a.is_empty() && !b.is_empty()
    }

    fn any_run() -> impl Strategy<Value = Run> {
        let stride = prop_oneof![2 => -40..40_i64, 1 => Just(0), 1 => -500..500_i64];
        (10_000..10_600_u64, stride, 1..40_u64, 1..20_u64)
            .prop_map(|(base, stride, count, size)| run(base, stride, count, size))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn accesses_that_touch_a_message_are_those_that_looking_at_each_finds(
            run in any_run(), low in 9_500..11_000_u64, length in 0..300_u64,
        ) {
            let message = i128::from(low)..i128::from(low + length);
            let found: Vec<u64> = (0..run.count).filter(|&i| meet(&bytes(&run, i), &message)).collect();
            let expected = found.first().copied().zip(found.last().copied());
            prop_assert_eq!(touching(&run, low, low + length), expected);
            if let Some((first, last)) = expected {
                prop_assert_eq!(found.len() as u64, last - first + 1, "they are consecutive");
            }
        }

        #[test]
        fn accesses_that_touch_another_run_are_those_that_looking_at_all_pairs_finds(a in any_run(), b in any_run()) {
            let found: Vec<u64> =
                (0..a.count).filter(|&i| (0..b.count).any(|j| meet(&bytes(&a, i), &bytes(&b, j)))).collect();
            prop_assert_eq!(conflicting(&a, &b), found.first().copied().zip(found.last().copied()));
        }
    }

    #[test]
    fn a_loop_that_reads_a_buffer_downwards_may_run_in_part_before_the_message_is_there() {
        // for i in 0..1000: b[i] = rbuf[999 - i], while rbuf[0..500] is being received: the first 500 iterations are free.
        let read = run(0x1000 + 999 * 8, -8, 1000, 8);
        assert_eq!(touching(&read, 0x1000, 0x1000 + 500 * 8), Some((500, 999)));
        assert_eq!(touching(&read, 0x1000 + 1000 * 8, 0x1000 + 1001 * 8), None);
    }

    #[test]
    fn columns_of_a_matrix_do_not_touch_each_other() {
        let column = |j: u64| run(0x8000 + 8 * j, 8 * 100, 100, 8);
        assert_eq!(conflicting(&column(3), &column(4)), None);
        assert_eq!(conflicting(&column(3), &column(3)), Some((0, 99)));
        // A row meets each column once.
        assert_eq!(conflicting(&run(0x8000 + 800 * 7, 8, 100, 8), &column(42)), Some((42, 42)));
    }

    #[test]
    fn numbers_at_the_ends_of_their_range_do_no_harm() {
        let far = run(u64::MAX - 7, i64::MIN, u64::MAX, u64::MAX);
        let near = run(0, i64::MAX, u64::MAX, 1);
        let _ =
            (conflicting(&far, &near), conflicting(&near, &far), touching(&far, 0, u64::MAX), touching(&near, 5, 6));
        assert_eq!(touching(&run(8, 8, 0, 8), 0, 100), None);
        assert_eq!(touching(&run(8, 8, 3, 0), 0, 100), None);
    }
}
