//! Finite fields GF(q), for fabrics that are built from them.

use super::common::Mistakes;
use super::direct::wrong;
use crate::diagnostic::Located;

/// Size of the largest field: its tables are small, and no fabric of a larger one fits in memory.
pub(super) const LARGEST: u32 = 1 << 12;

/// Field of q elements, which are numbered `0..q`: the coefficients of a polynomial over GF(p) as digits to
/// base p.
///
/// Multiplication uses logarithms to a primitive element. Memory: 12 bytes an element.
#[derive(Clone, Debug)]
pub(super) struct Field {
    q: u32,
    p: u32,
    /// Powers of the primitive element by exponent below `q - 1`, listed twice so that sums of exponents need
    /// no modulo.
    powers: Vec<u32>,
    /// Exponent of each element but 0.
    logs: Vec<u32>,
}

/// Returns the prime and the exponent of a prime power up to [`LARGEST`], or `None` for any other number.
pub(super) fn prime_power(q: u32) -> Option<(u32, u32)> {
    if q > LARGEST {
        return None;
    }
    let p = (2..).take_while(|p: &u32| p * p <= q).find(|&p| q.is_multiple_of(p)).unwrap_or(q);
    let (mut rest, mut exponent) = (q, 0);
    while p > 1 && rest.is_multiple_of(p) {
        rest /= p;
        exponent += 1;
    }
    (p > 1 && rest == 1).then_some((p, exponent))
}

/// Returns the prime power from `least` to [`LARGEST`] closest to a number, if one is near.
fn closest_prime_power(q: u32, least: u32) -> Option<u32> {
    let close = (1..8u32).flat_map(|step| [q.saturating_sub(step), q.saturating_add(step)]);
    close.filter(|&q| (least..=LARGEST).contains(&q)).find(|&q| prime_power(q).is_some())
}

impl Field {
    /// Returns the field of q elements, or notes a mistake if there is none or q is below `least`.
    pub fn of(q: &Located<u32>, least: u32, fabric: &str, mistakes: &mut Mistakes) -> Option<Self> {
        let field = Self::new(**q).filter(|field| field.q >= least);
        if field.is_none() {
            let label = format!("a prime power from {least} to {LARGEST}");
            let diagnostic = wrong(q, format!("there is no {fabric} of q = {}", **q), label);
            mistakes.push(match closest_prime_power(**q, least) {
                Some(close) => diagnostic.help(format!("q = {close} is the closest one")),
                None => diagnostic,
            });
        }
        field
    }

    /// Creates the field of q elements. Returns `None` if there is none or it is too large.
    pub fn new(q: u32) -> Option<Self> {
        let (p, m) = prime_power(q)?;
        // The lowest primitive root, or the lowest monic polynomial of degree m with x as a primitive root.
        let top = q / p;
        for choice in 1..q {
            let times = |element: u32| match m {
                1 => element * choice % p,
                // x times the element; x^m is the remainder of the polynomial: minus its lower coefficients.
                _ => add(p, element % top * p, scale(p, p - element / top, choice)),
            };
            let mut powers = vec![1];
            let mut at = times(1);
            while at > 1 && powers.len() < q as usize {
                powers.push(at);
                at = times(at);
            }
            if at == 1 && powers.len() == q as usize - 1 {
                let mut logs = vec![0; q as usize];
                for (exponent, &element) in (0..).zip(&powers) {
                    logs[element as usize] = exponent;
                }
                powers.extend_from_within(..);
                return Some(Self { q, p, powers, logs });
            }
        }
        None
    }

    /// Number of elements.
    pub fn size(&self) -> u32 {
        self.q
    }

    /// Returns a power of the primitive element.
    pub fn power(&self, exponent: u32) -> u32 {
        self.powers[(exponent % (self.q - 1)) as usize]
    }

    /// Returns `a + b`.
    pub fn add(&self, a: u32, b: u32) -> u32 {
        add(self.p, a, b)
    }

    /// Returns `a b`.
    pub fn times(&self, a: u32, b: u32) -> u32 {
        match (a, b) {
            (0, _) | (_, 0) => 0,
            _ => self.powers[(self.logs[a as usize] + self.logs[b as usize]) as usize],
        }
    }
}

/// Adds two polynomials over GF(p), digit by digit.
fn add(p: u32, mut a: u32, mut b: u32) -> u32 {
    let (mut sum, mut place) = (0, 1);
    while a > 0 || b > 0 {
        sum += (a % p + b % p) % p * place;
        (a, b, place) = (a / p, b / p, place * p);
    }
    sum
}

/// Multiplies a polynomial over GF(p) by a number.
fn scale(p: u32, factor: u32, mut a: u32) -> u32 {
    let (mut product, mut place) = (0, 1);
    while a > 0 {
        product += factor % p * (a % p) % p * place;
        (a, place) = (a / p, place * p);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_field_of_each_prime_power_and_of_nothing_else() {
        let powers: Vec<u32> = (0..50).filter(|&q| Field::new(q).is_some()).collect();
        let known = [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32, 37, 41, 43, 47, 49];
        assert_eq!(powers, known);
        assert!(Field::new(4096).is_some() && Field::new(4099).is_none(), "a prime above the largest");
        assert!(Field::new(4_294_967_291).is_none(), "the largest prime of 32 bits");
    }

    /// Only fields obey these laws, among structures of q elements.
    #[test]
    fn sums_and_products_obey_the_laws_of_a_field() {
        for q in [2, 3, 4, 5, 7, 8, 9, 16, 25, 27] {
            let field = Field::new(q).unwrap();
            for a in 0..q {
                let row = |of: &dyn Fn(u32) -> u32| {
                    let mut row: Vec<u32> = (0..q).map(of).collect();
                    row.sort_unstable();
                    row == (0..q).collect::<Vec<_>>()
                };
                assert!(row(&|b| field.add(a, b)) && (a == 0 || row(&|b| field.times(a, b))), "{q}: {a}");
                assert_eq!((field.add(a, 0), field.times(a, 1), field.times(a, 0)), (a, a, 0));
                for b in 0..q {
                    assert_eq!(field.times(a, b), field.times(b, a));
                    let c = (a + b + 1) % q;
                    let (left, right) = (field.times(c, field.add(a, b)), (field.times(c, a), field.times(c, b)));
                    assert_eq!(left, field.add(right.0, right.1), "{q}: {c} ({a} + {b})");
                    assert_eq!(field.times(field.times(a, b), c), field.times(a, field.times(b, c)));
                }
            }
        }
    }
}
