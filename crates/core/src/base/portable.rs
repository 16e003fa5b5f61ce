//! Logarithm, exponential and Student's t from additions, multiplications and divisions alone. Random times
//! and confidence intervals are therefore the same on every machine.

use std::f64::consts::{LN_2, SQRT_2};

/// Returns the natural logarithm of a positive normal number, to a relative error of about 1e-15.
///
/// `x = m * 2^e` with `m` in `[sqrt(1/2), sqrt(2))` and `ln m = 2 artanh(s)`, `s = (m - 1) / (m + 1)`, by its
/// series.
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let mut m = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    if m > SQRT_2 {
        m /= 2.0;
        exponent += 1;
    }
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let mut sum = 0.0;
    for n in (0..12).rev() {
        sum = sum * square + 1.0 / f64::from(2 * n + 1);
    }
    2.0 * s * sum + f64::from(exponent) * LN_2
}

/// Returns the exponential of a number between -700 and 700, to a relative error of about 1e-14.
///
/// `x = k ln 2 + r` with `|r| <= ln 2 / 2`, and `e^r` by its series.
pub fn exp(x: f64) -> f64 {
    let k = (x / LN_2).round().clamp(-1000.0, 1000.0);
    let r = x - k * LN_2;
    let mut sum = 1.0;
    for n in (1..16).rev() {
        sum = 1.0 + sum * r / f64::from(n);
    }
    sum * f64::from_bits(((k as i64 + 1023) as u64) << 52)
}

/// Returns the value that the absolute value of Student's t exceeds in 5 % of all cases (two-sided 95 %
/// quantile).
pub fn student(degrees: usize) -> f64 {
    const T: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    // The formula beyond the table is correct to three digits.
    T.get(degrees.saturating_sub(1)).copied().unwrap_or(1.960 + 2.45 / degrees as f64)
}

#[cfg(test)]
mod tests {
    #[test]
    #[allow(clippy::disallowed_methods, reason = "the mathematical library is what they are held against")]
    fn they_agree_with_the_mathematical_library() {
        for i in 1..2000 {
            let x = f64::from(i) * f64::from(i) * 1.7e-4;
            assert!((super::ln(x) - x.ln()).abs() <= 1e-14 * x.ln().abs().max(1.0), "{x}");
            let y = f64::from(i - 1000) * 0.03;
            assert!((super::exp(y) / y.exp() - 1.0).abs() < 2e-14, "{y}");
        }
        assert_eq!((super::ln(1.0), super::exp(0.0)), (0.0, 1.0));
    }

    #[test]
    fn the_t_of_student_goes_on_smoothly_beyond_its_table() {
        assert_eq!((super::student(1), super::student(30)), (12.706, 2.042));
        // Published tables give 2.021, 2.000 and 1.980.
        for (degrees, t) in [(31, 2.040), (40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!((super::student(degrees) - t).abs() < 0.0015, "{degrees}: {}", super::student(degrees));
        }
    }
}
