//! Cost of a fabric by a user's list of prices.

use serde::Serialize;

use super::cables::Cables;
use crate::base::Arrange;
use crate::diagnostic::{Diagnostic, Invalid, Located, Sources};
use crate::reading::tree::{self, Kind, Table, Tree};

/// List of prices, in any currency. Parts that are not in it cost nothing.
///
/// ```toml
/// currency = "EUR"
/// nic = 800               # each node
/// [switch]
/// 36 = 9000               # a switch with 36 ports; the smallest switch that has enough ports is bought
/// 64 = 16000
/// # or: each = 2000, port = 200   (a switch, and each of its ports in use)
/// [copper]
/// cable = 60
/// metre = 10
/// [optical]
/// cable = 300
/// metre = 5
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Prices {
    /// Currency, shown after sums.
    pub currency: String,
    nic: f64,
    each: f64,
    port: f64,
    /// Ports and price of each model, ascending.
    models: Vec<(u32, f64)>,
    copper: (f64, f64),
    optical: (f64, f64),
}

/// Cost of a fabric.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// Cost of the switches.
    pub switches: f64,
    /// Cost of copper and optical cables.
    pub cables: f64,
    /// Cost of the network cards.
    pub nics: f64,
    /// Total cost.
    pub total: f64,
    /// Total cost per node.
    pub per_node: f64,
}

impl Prices {
    /// Reads a list of prices.
    ///
    /// # Errors
    /// Every mistake of the file.
    pub fn read(path: &str) -> Result<Self, Invalid> {
        let mut sources = Sources::default();
        let (base, text) = match sources.read_text(&Located::from(path.to_owned())) {
            Ok(read) => read,
            Err(diagnostic) => return Err(Invalid { diagnostics: vec![diagnostic], sources }),
        };
        let (table, mut mistakes) = tree::parse(&text, base);
        let prices = Self::of(&table, &mut mistakes);
        if mistakes.is_empty() { Ok(prices) } else { Err(Invalid { diagnostics: mistakes, sources }) }
    }

    fn of(table: &Table, mistakes: &mut Vec<Diagnostic>) -> Self {
        let mut prices = Self::default();
        for (key, entry) in table {
            match (key.as_str(), &entry.value.kind) {
                ("currency", Kind::Text(text)) => prices.currency.clone_from(text),
                ("currency", _) => mistakes.push(unfit("currency", &entry.value, "a text, \"EUR\", is expected")),
                ("nic", _) => prices.nic = price("nic", &entry.value, mistakes),
                ("switch" | "copper" | "optical", Kind::Table(inner)) => {
                    for (name, inner) in inner {
                        let value = price(name, &inner.value, mistakes);
                        match (key.as_str(), name.as_str()) {
                            ("switch", "each") => prices.each = value,
                            ("switch", "port") => prices.port = value,
                            ("switch", ports) if ports.parse::<u32>().is_ok() => {
                                prices.models.push((ports.parse().unwrap_or(0), value));
                            }
                            ("copper", "cable") => prices.copper.0 = value,
                            ("copper", "metre") => prices.copper.1 = value,
                            ("optical", "cable") => prices.optical.0 = value,
                            ("optical", "metre") => prices.optical.1 = value,
                            ("switch", _) => mistakes.push(
                                Diagnostic::new("unknown-key", format!("a switch has no price `{name}`"))
                                    .at(inner.key)
                                    .label("a number of ports, `each` or `port`"),
                            ),
                            _ => mistakes.push(
                                Diagnostic::new("unknown-key", format!("a cable has no price `{name}`"))
                                    .at(inner.key)
                                    .label("`cable` or `metre`"),
                            ),
                        }
                    }
                }
                ("switch" | "copper" | "optical", _) => {
                    mistakes.push(unfit(key, &entry.value, "a table of prices is expected"));
                }
                _ => mistakes.push(
                    Diagnostic::new("unknown-key", format!("unknown price `{key}`"))
                        .at(entry.key)
                        .label("currency, nic, [switch], [copper] or [optical]"),
                ),
            }
        }
        if !prices.models.is_empty() && (prices.each > 0.0 || prices.port > 0.0) {
            let message = "switches have prices by their ports, and `each` or `port` besides";
            let at = table.get("switch").map(|entry| entry.key);
            let wrong = Diagnostic::new("two-choices", message).help("leave out one of them");
            mistakes.push(match at {
                Some(at) => wrong.at(at),
                None => wrong,
            });
        }
        prices.models.arrange_by_key(|model| model.0);
        prices
    }

    /// Computes the cost of switches with these numbers of ports in use, of cables and of nodes.
    ///
    /// # Errors
    /// A switch with more ports than any of the list has.
    pub(super) fn cost(&self, ports: &[u32], cables: &Cables, nodes: u32) -> Result<Cost, String> {
        let mut switches = 0.0;
        for &used in ports {
            switches += match self.models.as_slice() {
                [] => self.each + self.port * f64::from(used),
                models => match models.iter().find(|model| model.0 >= used) {
                    Some(model) => model.1,
                    None => return Err(format!("no switch of the list of prices has {used} ports")),
                },
            };
        }
        let (Some(optical), Some(copper_m), Some(optical_m)) = (cables.optical, cables.copper_m, cables.optical_m)
        else {
            return Err("the places of its cables are unknown".to_owned());
        };
        let copper = (cables.all - optical) as f64;
        let cables = copper * self.copper.0
            + copper_m * self.copper.1
            + optical as f64 * self.optical.0
            + optical_m * self.optical.1;
        let nics = self.nic * f64::from(nodes);
        let total = switches + cables + nics;
        Ok(Cost { switches, cables, nics, total, per_node: total / f64::from(nodes.max(1)) })
    }
}

fn unfit(key: &str, value: &Tree, expected: &str) -> Diagnostic {
    Diagnostic::new("wrong-type", format!("`{key}` is {}", value.what())).at(value.span).label(expected)
}

fn price(key: &str, value: &Tree, mistakes: &mut Vec<Diagnostic>) -> f64 {
    let number = match &value.kind {
        Kind::Whole(text) | Kind::Decimal(text) => text.parse::<f64>().ok(),
        _ => {
            mistakes.push(unfit(key, value, "a price, a number, is expected"));
            return 0.0;
        }
    };
    match number.filter(|number| number.is_finite() && *number >= 0.0) {
        Some(number) => number,
        None => {
            let message = format!("`{key}` is not a price");
            mistakes.push(Diagnostic::new("wrong-value", message).at(value.span).label("a number from 0 up"));
            0.0
        }
    }
}
