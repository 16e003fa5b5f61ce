//! Scales: utilisation as a colour and a width, percentages, round steps.

/// Colours from idle to busy. Each is darker than the one before, so that the order survives without colour.
const COLOURS: [(u8, u8, u8); 7] = [
    (0xee, 0xf1, 0xf4),
    (0xf9, 0xdf, 0x9c),
    (0xf7, 0xb2, 0x5a),
    (0xe8, 0x77, 0x3a),
    (0xbf, 0x3b, 0x3f),
    (0x80, 0x17, 0x4b),
    (0x38, 0x08, 0x3a),
];

/// Fractions from 0 to a round limit, as colours and widths.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LoadScale {
    limit: f64,
}

impl LoadScale {
    /// Creates a scale for values up to `largest`.
    pub(super) fn up_to(largest: f64) -> Self {
        let limits = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0];
        let limit = limits.into_iter().find(|limit| largest <= limit * (1.0 + 1e-9)).unwrap_or(1.0);
        Self { limit }
    }

    /// Returns the place of a value on the scale, from 0 to 1.
    pub(super) fn position(self, value: f64) -> f64 {
        if value.is_finite() { (value / self.limit).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns the colour of a value, in 64 steps.
    pub(super) fn colour(self, value: f64) -> String {
        mixed(&COLOURS, (self.position(value) * 64.0).round() / 64.0)
    }

    /// Returns the width of a line for a value \[px\].
    pub(super) fn width(self, value: f64) -> f64 {
        1.2 + 3.3 * self.position(value)
    }

    /// Returns places on the scale and their values as percentages.
    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        [0.0, 0.25, 0.5, 0.75, 1.0].map(|place| (place, percent(self.limit * place))).to_vec()
    }
}

/// Returns the largest load on the scale of these loads, and its colours from idle to busy.
pub(crate) fn load_scale(loads: impl Iterator<Item = f64>) -> (f64, Vec<String>) {
    let largest = loads.filter(|load| load.is_finite()).fold(0.0, f64::max);
    let colours = (0..COLOURS.len()).map(|i| mixed(&COLOURS, i as f64 / (COLOURS.len() - 1) as f64));
    (LoadScale::up_to(largest).limit, colours.collect())
}

/// Returns the colour at a place from 0 to 1 on a ramp of colours.
pub(super) fn mixed(colours: &[(u8, u8, u8)], place: f64) -> String {
    let position = place * (colours.len() - 1) as f64;
    let below = (position as usize).min(colours.len() - 2);
    let part = position - below as f64;
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    let (a, b) = (colours[below], colours[below + 1]);
    format!("#{:02x}{:02x}{:02x}", mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// Formats a fraction as a percentage with its significant digits: `3.5 %`.
pub(super) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let text = match percent {
        p if p >= 99.95 => format!("{p:.0}"),
        p if p >= 10.0 => format!("{p:.1}"),
        p => format!("{p:.2}"),
    };
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

/// Returns the smallest of 1, 2, 2.5, 5 times a power of ten that is not below `step`, and its decimals.
pub(super) fn round_step(step: f64) -> (f64, usize) {
    let mut power = 1.0;
    let mut decimals = 0;
    while power * 10.0 <= step {
        power *= 10.0;
    }
    while power > step && decimals < 18 {
        power /= 10.0;
        decimals += 1;
    }
    for (factor, more) in [(1.0, 0), (2.0, 0), (2.5, 1), (5.0, 0)] {
        if factor * power >= step * (1.0 - 1e-9) {
            let needs_more = more == 1 && power <= 1.0;
            return (factor * power, decimals + usize::from(needs_more));
        }
    }
    (10.0 * power, decimals.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busier_is_darker() {
        let scale = LoadScale::up_to(1.0);
        let lightness: Vec<u32> = (0..=64)
            .map(|i| {
                let colour = u32::from_str_radix(&scale.colour(f64::from(i) / 64.0)[1..], 16).unwrap();
                (colour >> 16) * 299 + (colour >> 8 & 255) * 587 + (colour & 255) * 114
            })
            .collect();
        assert!(lightness.windows(2).all(|pair| pair[0] > pair[1]), "{lightness:?}");
    }

    #[test]
    fn percentages_are_short() {
        let texts = [0.0, 0.0351, 0.5, 0.4567, 1.0].map(percent);
        assert_eq!(texts, ["0 %", "3.51 %", "50 %", "45.7 %", "100 %"]);
    }
}
