//! GPUs and their nodes: the table `[gpu]` of a machine file.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::reading::tree;
use crate::reading::whole::TableReader;
use crate::units::{Bandwidth, Bytes, Time};

/// GPU and the node that it is in; table `[gpu]` of a machine file.
#[spec]
pub struct Gpu {
    /// Name of the product; "A100-SXM4-80GB".
    pub name: String,
    /// Peak of dense matrix products by precision \[operations/s\]; { bf16 = 312e12 }.
    pub peak: BTreeMap<String, f64>,
    /// Memory; "80 GiB".
    pub memory: Bytes,
    /// Memory that framework and collectives take; "4 GiB".
    pub reserved: Bytes,
    /// Bandwidth of the memory; "2.039 TB/s".
    pub memory_bandwidth: Bandwidth,
    /// Number of GPUs of a node.
    pub per_node: u64,
    /// Bandwidth that collectives reach between GPUs of a node, each way and GPU; "230 GB/s".
    pub nvlink: Bandwidth,
    /// Number of network cards of a node.
    pub cards: u64,
    /// Bandwidth of a network card each way; "25 GB/s".
    pub card_bandwidth: Bandwidth,
    /// Part of the peak that wide matrix products reach: e of `e / (1 + n / (h / t))`.
    pub efficiency: f64,
    /// Width of a matrix that halves its efficiency: n of the same.
    pub narrow: f64,
    /// Part of that efficiency that fused attention reaches.
    pub attention_efficiency: f64,
    /// True if attention is one fused kernel unless a layout says otherwise.
    pub flash: bool,
    /// Time to start a collective or a message; "20 us".
    pub launch: Time,
}

impl Gpu {
    /// Precision of training.
    pub const PRECISION: &str = "bf16";

    /// Reads the table `[gpu]` of a machine file whose first byte has position `base`; `None` without such a table.
    ///
    /// # Errors
    /// Mistakes of syntax, unknown or missing keys, and values out of their range.
    pub fn of_text(text: &str, base: usize) -> Result<Option<Self>, Vec<Diagnostic>> {
        let (table, mistakes) = tree::parse(text, base);
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        let Some(entry) = table.get("gpu") else { return Ok(None) };
        let span = entry.value.span;
        let gpu: Self = TableReader { key: "gpu", span, is_incomplete: false, about: &|_| None }.read(&entry.value)?;
        let at =
            |key: &str| entry.value.table().and_then(|table| table.get(key)).map_or(span, |entry| entry.value.span);
        let mistakes: Vec<Diagnostic> = gpu.mistakes().into_iter().map(|(key, mistake)| mistake.at(at(key))).collect();
        if mistakes.is_empty() { Ok(Some(gpu)) } else { Err(mistakes) }
    }

    /// Returns the mistakes in values, each with its key.
    pub fn mistakes(&self) -> Vec<(&'static str, Diagnostic)> {
        let share = |value: f64| value > 0.0 && value <= 1.0;
        let wrong = [
            ("peak", self.peak().is_some_and(|peak| peak > 0.0 && peak.is_finite()), "needs bf16 above 0"),
            ("efficiency", share(self.efficiency), "is above 0 and at most 1"),
            ("attention-efficiency", share(self.attention_efficiency), "is above 0 and at most 1"),
            ("narrow", self.narrow >= 0.0 && self.narrow.is_finite(), "is at least 0"),
            ("per-node", (1..=1 << 20).contains(&self.per_node), "is from 1 to 1048576"),
            ("cards", (1..=1 << 20).contains(&self.cards), "is from 1 to 1048576"),
            ("memory-bandwidth", self.memory_bandwidth.bytes_per_second() > 0.0, "is above 0"),
            ("nvlink", self.nvlink.bytes_per_second() > 0.0, "is above 0"),
            ("card-bandwidth", self.card_bandwidth.bytes_per_second() > 0.0, "is above 0"),
            ("reserved", self.reserved.0 < self.memory.0, "is less than `memory`"),
        ];
        let wrong = wrong.into_iter().filter(|(_, is_right, _)| !is_right);
        wrong.map(|(key, _, range)| (key, Diagnostic::new("wrong-value", format!("`gpu.{key}` {range}")))).collect()
    }

    /// Returns the peak of the precision of training \[operations/s\].
    fn peak(&self) -> Option<f64> {
        self.peak.get(Self::PRECISION).copied()
    }

    /// Returns the peak of matrix products in training \[operations/s\].
    pub fn peak_flops(&self) -> f64 {
        self.peak().unwrap_or(1.0)
    }

    /// Returns the part of the peak that products with matrices of this width reach: `e / (1 + n / width)`.
    pub fn efficiency_at(&self, width: f64) -> f64 {
        self.efficiency / (1.0 + self.narrow / width)
    }

    /// Returns the bandwidth of all network cards of a node \[B/s\].
    pub fn node_bandwidth(&self) -> f64 {
        self.cards as f64 * self.card_bandwidth.bytes_per_second()
    }

    /// Returns the memory of which a layout can make use \[B\].
    pub fn usable(&self) -> u128 {
        u128::from(self.memory.0 - self.reserved.0)
    }
}

/// Group of GPUs that communicate: `size` ranks at this distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Group {
    /// Number of ranks.
    pub size: u64,
    /// Distance between neighbours.
    pub stride: u64,
}

impl Group {
    /// Returns the number of its ranks in one node.
    pub fn in_node(self, gpu: &Gpu) -> u64 {
        (gpu.per_node / self.stride).clamp(1, self.size)
    }

    /// Returns true if it crosses nodes.
    pub fn crosses(self, gpu: &Gpu) -> bool {
        self.in_node(gpu) < self.size
    }

    /// Returns the bandwidth of a ring through the group \[B/s\].
    ///
    /// All groups of a kind communicate at the same time. Those that cross a node share its network cards.
    pub fn bandwidth(self, gpu: &Gpu) -> f64 {
        let nvlink = gpu.nvlink.bytes_per_second();
        if !self.crosses(gpu) {
            return nvlink;
        }
        let groups = gpu.per_node as f64 / self.in_node(gpu) as f64;
        nvlink.min(gpu.node_bandwidth() / groups)
    }

    /// Returns the time of a collective on a ring \[s\], with `rounds` passages of the data: 2 for an all-reduce, 1 for
    /// an all-gather or reduce-scatter.
    pub fn ring(self, gpu: &Gpu, bytes: f64, rounds: f64) -> f64 {
        if self.size == 1 || bytes == 0.0 {
            return 0.0;
        }
        let part = (self.size - 1) as f64 / self.size as f64;
        rounds * part * bytes / self.bandwidth(gpu) + gpu.launch.seconds()
    }

    /// Returns the time of an all-to-all \[s\] in which each rank sends `bytes` to all ranks.
    pub fn all_to_all(self, gpu: &Gpu, bytes: f64) -> f64 {
        if self.size == 1 {
            return 0.0;
        }
        let (size, near) = (self.size as f64, self.in_node(gpu) as f64);
        let inside = (near - 1.0) / size * bytes / gpu.nvlink.bytes_per_second();
        let outside = (size - near) / size * bytes * gpu.per_node as f64 / gpu.node_bandwidth();
        inside.max(outside) + gpu.launch.seconds()
    }

    /// Returns the time of a message from each rank to the next of its group \[s\].
    pub fn shift(self, gpu: &Gpu, bytes: f64) -> f64 {
        if self.size == 1 {
            return 0.0;
        }
        let bandwidth = match self.crosses(gpu) {
            // Ranks whose next one is in another node.
            true => {
                let senders = self.stride.min(gpu.per_node) as f64;
                gpu.nvlink.bytes_per_second().min(gpu.node_bandwidth() / senders)
            }
            false => gpu.nvlink.bytes_per_second(),
        };
        bytes / bandwidth + gpu.launch.seconds()
    }
}
