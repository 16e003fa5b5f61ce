//! Load of links, the lengths that grow with it, and steps that lower it.
use super::Links;
use super::bounds::weight;
use crate::base::portable::ln;

/// Smallest and largest exponent of a length.
const FLATTEST: f64 = -28.0;
const STEEPEST: f64 = 200.0;

/// Bytes of each link and the length `exp(eta (f_e / c_e - peak)) / c_e` that they give it.
pub(super) struct Load<'a> {
    links: &'a Links,
    /// Reciprocal of each capacity \[s/B\].
    times: Vec<f64>,
    /// Bytes of each link \[B\].
    pub total: Vec<f64>,
    pub lengths: Vec<f64>,
    /// Sum of capacity x length.
    pub weight: f64,
    /// Steepness \[1/s\].
    eta: f64,
    /// Load at which the length is `1 / c_e` \[s\].
    peak: f64,
}

impl<'a> Load<'a> {
    pub fn new(links: &'a Links, total: Vec<f64>) -> Self {
        let times = links.capacity().iter().map(|c| 1.0 / c).collect();
        Self { links, times, lengths: vec![0.0; total.len()], total, weight: 0.0, eta: 0.0, peak: 0.0 }
    }

    /// Sets all lengths for `1 / eta = softness * busiest / ln(links)`.
    pub fn soften(&mut self, softness: f64) {
        self.peak = self.links.busiest(&self.total);
        self.eta = ln(self.total.len().max(2) as f64) / (softness * self.peak);
        for e in 0..self.total.len() {
            self.lengths[e] = self.length(e, self.total[e]);
        }
        self.weight = weight(self.links, &self.lengths);
    }

    #[inline]
    fn length(&self, link: usize, bytes: f64) -> f64 {
        let time = self.times[link];
        grow((self.eta * (bytes * time - self.peak)).clamp(FLATTEST, STEEPEST)) * time
    }

    /// Takes the part of the step, 0 to 1, that about minimises `ln sum exp(eta f_e / c_e)`; returns this part.
    /// `changed` lists the links at which the step is not 0.
    ///
    /// The first guess is Newton's; its slope then corrects it by chords.
    pub fn descend(&mut self, step: &[f64], changed: &[usize]) -> f64 {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for &e in changed {
            let growth = self.lengths[e] * step[e];
            slope += growth;
            curvature += growth * step[e] * self.times[e];
        }
        if slope >= 0.0 {
            return 0.0;
        }
        let mut part = (-slope / (self.eta * curvature)).min(1.0);
        for _ in 0..3 {
            let slope_at = |&e: &usize| step[e] * self.length(e, self.total[e] + part * step[e]);
            let there: f64 = changed.iter().map(slope_at).sum();
            if there.abs() < 0.1 * slope.abs() || (there < 0.0 && part == 1.0) || there <= slope {
                break;
            }
            part = (part * slope / (slope - there)).min(1.0);
        }
        for &e in changed {
            self.total[e] += part * step[e];
            let length = self.length(e, self.total[e]);
            self.weight += (length - self.lengths[e]) * self.links.capacity()[e];
            self.lengths[e] = length;
        }
        part
    }
}

/// Returns `e^x` for `|x| <= 700` to about 1e-6. Any lengths serve, so this need not be more exact, but fast.
#[inline]
fn grow(x: f64) -> f64 {
    // e^x = 2^k e^r with |r| <= ln 2 / 2; the large number rounds to the nearest integer.
    const ROUND: f64 = (3_u64 << 51) as f64;
    let shifted = x * std::f64::consts::LOG2_E + ROUND;
    let r = x - (shifted - ROUND) * std::f64::consts::LN_2;
    let series = 1.0 + r * (1.0 + r * (1.0 / 2.0 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0)))));
    series * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
}
