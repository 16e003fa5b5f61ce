//! Algorithms and protocols of NCCL, and generations of GPUs.

/// Algorithm of a collective, in the order in which NCCL prefers them at equal times.
#[derive(Named, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Algorithm {
    /// Double binary tree between nodes, a chain inside a node.
    Tree,
    /// Ring.
    Ring,
    /// Reduction in the switches of the network, each GPU with the card of its own.
    CollnetDirect,
    /// Reduction in the switches of the network, at the end of a chain inside a node.
    CollnetChain,
    /// Reduction and copies in the NVLink switch of a node.
    Nvls,
    /// NVLS inside a node, double binary tree between nodes.
    NvlsTree,
    /// Parallel aggregated trees, for nodes of one GPU.
    Pat,
}

/// Protocol of a channel.
#[derive(Named, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Protocol {
    /// Low latency: a flag with every 4 bytes.
    Ll,
    /// Low latency: a flag with every 120 bytes.
    Ll128,
    /// Buffers with a counter.
    Simple,
}

impl Protocol {
    /// Returns the bytes on the wire of a byte of data.
    pub fn wire_bytes(self) -> f64 {
        match self {
            Self::Ll => 2.0,
            Self::Ll128 => 128.0 / 120.0,
            Self::Simple => 1.0,
        }
    }
}

/// Generation of GPUs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Architecture {
    /// Before 8.0.
    Volta,
    /// From 8.0.
    Ampere,
    /// From 9.0.
    Hopper,
    /// From 10.0.
    Blackwell,
}

impl Architecture {
    /// Returns the architecture of a compute capability, times ten.
    pub fn of(cc: u32) -> Self {
        match cc {
            ..80 => Self::Volta,
            80..90 => Self::Ampere,
            90..100 => Self::Hopper,
            _ => Self::Blackwell,
        }
    }

    /// Returns the part of its bandwidth that NVLS reaches (eta); 0 where there is no NVLS.
    pub fn nvls_efficiency(self) -> f64 {
        [0.0, 0.0, 0.85, 0.74][self as usize]
    }
}
