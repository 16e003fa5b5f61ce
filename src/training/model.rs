//! Transformers: parameters and operations as exact integers.
//!
//! A layer has attention (`h d (a + 2 kv) + a d h` weights) and an MLP (`2 h f`, gated `3 h f`) for each expert.
//! Source: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters" (SC 2021), section 4;
//! Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models" (2022), appendix A.

/// Transformer and the batch that it is trained with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// Number of layers L.
    pub layers: u64,
    /// Hidden size h.
    pub hidden: u64,
    /// Number of attention heads a.
    pub heads: u64,
    /// Number of heads of keys and values kv.
    pub kv_heads: u64,
    /// Size of a head d.
    pub head_size: u64,
    /// Inner size of the MLP f.
    pub ffn: u64,
    /// True if the MLP has a gate, a third matrix.
    pub gated: bool,
    /// True if layers have biases.
    pub bias: bool,
    /// Size of the vocabulary V.
    pub vocab: u64,
    /// True if input and output share one embedding.
    pub tied: bool,
    /// Number of learned positions; 0 for rotary ones.
    pub positions: u64,
    /// Length of a sequence s in tokens.
    pub sequence: u64,
    /// Number of sequences of a step B.
    pub batch: u64,
    /// Number of experts of a layer E; 1 without experts.
    pub experts: u64,
    /// Number of experts K that a token goes to.
    pub top_k: u64,
    /// Inner size of an expert.
    pub expert_ffn: u64,
    /// Number of experts that every token goes to.
    pub shared_experts: u64,
    /// Number of first layers without experts.
    pub dense_layers: u64,
    /// Weights of the attention of a layer, if they do not follow from its heads (latent attention).
    pub attention: Option<u64>,
    /// True if only the half of the scores that a causal mask leaves is counted.
    pub causal: bool,
}

/// Weights of a layer by the way in which they are divided among GPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LayerWeights {
    /// Parameters that are divided over tensor-parallel GPUs only.
    pub common: u128,
    /// Parameters of one expert; 0 without experts.
    pub expert: u128,
}

impl Model {
    /// Returns true if this layer has experts.
    pub fn has_experts(&self, layer: u64) -> bool {
        self.experts > 1 && layer >= self.dense_layers
    }

    /// Returns the number of layers with experts among `layers`, which start at `first`.
    pub fn expert_layers(&self, first: u64, layers: u64) -> u64 {
        if self.experts > 1 { (first + layers).saturating_sub(self.dense_layers.max(first)) } else { 0 }
    }

    /// Returns the number of matrices of an MLP.
    fn matrices(&self) -> u128 {
        if self.gated { 3 } else { 2 }
    }

    /// Returns the weights of the matrices of attention in a layer: `h d (a + 2 kv) + a d h`.
    pub fn attention_weights(&self) -> u128 {
        let [h, a, kv, d] = [self.hidden, self.heads, self.kv_heads, self.head_size].map(u128::from);
        self.attention.map_or(h * d * (a + 2 * kv) + a * d * h, u128::from)
    }

    /// Returns the weights of the matrices through which a token goes in the MLP of a layer, router included.
    pub fn mlp_weights(&self, has_experts: bool) -> u128 {
        let h = u128::from(self.hidden);
        if !has_experts {
            return self.matrices() * h * u128::from(self.ffn);
        }
        let experts = u128::from(self.top_k + self.shared_experts);
        self.matrices() * h * u128::from(self.expert_ffn) * experts + h * u128::from(self.experts)
    }

    /// Returns the parameters of a layer.
    pub fn layer(&self, has_experts: bool) -> LayerWeights {
        let [h, a, kv, d, f] = [self.hidden, self.heads, self.kv_heads, self.head_size, self.ffn].map(u128::from);
        let f = if has_experts { u128::from(self.expert_ffn) } else { f };
        let mlp = self.matrices() * h * f;
        let small = if self.bias { 4 * h + d * (a + 2 * kv) + 2 * h + f } else { 2 * h };
        let (common, expert) = match has_experts {
            true => (h * u128::from(self.experts) + mlp * u128::from(self.shared_experts), mlp),
            false => (mlp, 0),
        };
        LayerWeights { common: self.attention_weights() + common + small, expert }
    }

    /// Returns the parameters of the embedding of words and positions on the first stage: `V h + positions h`.
    pub fn embedding(&self) -> u128 {
        u128::from(self.hidden) * u128::from(self.vocab + self.positions)
    }

    /// Returns the parameters of an output embedding of its own; 0 if it is tied to the input.
    pub fn output(&self) -> u128 {
        if self.tied { 0 } else { u128::from(self.hidden) * u128::from(self.vocab) }
    }

    /// Returns all layers, each with `experts` of its experts counted.
    fn all_layers(&self, experts: u64) -> u128 {
        let with = self.expert_layers(0, self.layers);
        let (dense, mixed) = (self.layer(false), self.layer(true));
        u128::from(self.layers - with) * dense.common
            + u128::from(with) * (mixed.common + u128::from(experts) * mixed.expert)
    }

    /// Returns the number of parameters: for a dense model `L (12 h^2 + 13 h) + (V + s) h`.
    pub fn parameters(&self) -> u128 {
        self.all_layers(self.experts) + self.embedding() + self.output()
    }

    /// Returns the number of parameters that a token meets, with `top_k` experts of each layer.
    pub fn active_parameters(&self) -> u128 {
        self.all_layers(self.top_k) + self.embedding() + self.output()
    }

    /// Returns the operations of the attention scores of a layer for one sequence: `4 s^2 a d`, half with a causal
    /// mask.
    pub fn score_flops(&self) -> u128 {
        let [s, a, d] = [self.sequence, self.heads, self.head_size].map(u128::from);
        (if self.causal { 2 } else { 4 }) * s * s * a * d
    }

    /// Returns the operations of a forward pass of the layers for one sequence.
    fn layers_flops(&self) -> u128 {
        let with = u128::from(self.expert_layers(0, self.layers));
        let [layers, s] = [self.layers, self.sequence].map(u128::from);
        let mlp = (layers - with) * self.mlp_weights(false) + with * self.mlp_weights(true);
        2 * s * (layers * self.attention_weights() + mlp) + layers * self.score_flops()
    }

    /// Returns the operations of the output layer for one sequence: `2 s h V`.
    pub fn output_flops(&self) -> u128 {
        2 * u128::from(self.sequence) * u128::from(self.hidden) * u128::from(self.vocab)
    }

    /// Returns the operations of the forward pass of a step.
    pub fn forward_flops(&self) -> u128 {
        u128::from(self.batch) * (self.layers_flops() + self.output_flops())
    }

    /// Returns the operations that a step needs: three times the forward pass.
    pub fn model_flops(&self) -> u128 {
        3 * self.forward_flops()
    }

    /// Returns the operations that a step executes, with those that are computed again.
    ///
    /// Published HFU of selective recomputation counts the scores four times instead of once again.
    pub fn hardware_flops(&self, recompute: Recompute) -> u128 {
        let again = match recompute {
            Recompute::None => 0,
            Recompute::Selective => u128::from(self.layers) * self.score_flops(),
            Recompute::Full => self.layers_flops(),
        };
        self.model_flops() + u128::from(self.batch) * again
    }
}

/// Part of the forward pass that the backward pass computes again to save memory.
#[spec(Copy, Eq, PartialOrd, Ord, Default, Named)]
pub enum Recompute {
    /// Nothing.
    #[default]
    None,
    /// Attention scores.
    Selective,
    /// Whole layers.
    Full,
}

impl Recompute {
    /// Returns true for the default.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
