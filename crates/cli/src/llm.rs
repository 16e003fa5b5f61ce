//! `hayase llm`: operations, memory, communication and time of a training step in closed form.

use clap::Args;

use super::files::names;
use super::options::{Offer, OutputArgs};
use super::{End, Failure, Voice, asked, progress};
use hayase::study::training::{Request, simulate, training};
use hayase_output::table;

const EXAMPLES: &str = "\
Examples:
  hayase llm gpt-3-175b -m a100-8x200g
  hayase llm gpt-3-175b --gpus 512 --pp 16 -m a100-4x200g
  hayase llm llama-3-70b:sequence=32768,batch=512 --gpus 1024 -m h100-8x400g --search
  hayase llm llama-3-8b --gpus 64 -m h100-8x400g --search -t simai-spectrum-x
  hayase llm llm:layers=24,hidden=2304,heads=24,batch=512,micro=16,dp=32,recompute=full --format json
  hayase llm mixtral-8x7b --ep 4 --zero 1 -m h100-8x400g -o step.json

Models: a name (`hayase list models`), a name with settings, a TOML file of settings, or llm: with
settings. `layers` and `hidden` are required; the others have defaults:
  heads (128 wide), kv_heads (heads), head_size (hidden / heads), ffn (4 hidden), gated (false),
  bias (true), vocab (51200), tied (true), positions (learned ones: sequence), sequence (2048),
  batch (dp x micro), experts (1), top_k (2), expert_ffn (ffn), shared_experts (0),
  dense_layers (0), attention (weights of attention, if not those of its heads), causal (false)
  tp, pp, dp, cp, ep, micro, interleave (1), schedule (1f1b), sequence_parallel (false),
  recompute (none), zero (0), grad_bytes (4), overlap (false), flash (as the machine),
  embedding_as_layer (false: first and last stage have one layer fewer), gpus

Bytes of memory and operations are exact integers. The time is a closed form: compute by peak and
efficiency or by memory bandwidth, and groups of GPUs that share the network cards of a node.

Files (-o): x.json, x.html (a page)";

/// `hayase llm`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LlmArgs {
    /// The model: a name (`hayase list models`), a TOML file, or settings: llm:layers=96,hidden=12288.
    #[arg(value_name = "MODEL")]
    pub model: String,
    /// The machine: a name or a TOML file with a [gpu] table (default: no time).
    #[arg(short, long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// Search for layouts: all that fit, fastest first. Degrees given here are kept.
    #[arg(long, requires = "machine")]
    pub search: bool,
    /// Simulate the fastest layouts of a search on this fabric, and rank them by that time.
    #[arg(short, long, requires = "search", value_name = "NAME|FILE")]
    pub topology: Option<String>,
    /// Number of GPUs; data parallelism takes what the other degrees leave.
    #[arg(long, value_name = "N")]
    pub gpus: Option<String>,
    /// Degree of tensor parallelism.
    #[arg(long, value_name = "N")]
    pub tp: Option<String>,
    /// Number of pipeline stages.
    #[arg(long, value_name = "N")]
    pub pp: Option<String>,
    /// Degree of data parallelism.
    #[arg(long, value_name = "N", conflicts_with = "gpus")]
    pub dp: Option<String>,
    /// Degree of context parallelism.
    #[arg(long, value_name = "N")]
    pub cp: Option<String>,
    /// Degree of expert parallelism.
    #[arg(long, value_name = "N")]
    pub ep: Option<String>,
    /// Number of sequences of a micro-batch.
    #[arg(long, value_name = "N")]
    pub micro: Option<String>,
    /// Number of sequences of a step.
    #[arg(long, value_name = "N")]
    pub batch: Option<String>,
    /// Length of a sequence in tokens.
    #[arg(long, value_name = "N")]
    pub sequence: Option<String>,
    /// Number of chunks of layers of a stage.
    #[arg(long, value_name = "N")]
    pub interleave: Option<String>,
    /// Order of forward and backward passes: 1f1b, gpipe.
    #[arg(long, value_name = "ORDER")]
    pub schedule: Option<String>,
    /// Divide sequences where tensors are not divided.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub sequence_parallel: Option<String>,
    /// Part of the forward pass that is computed again: none, selective, full.
    #[arg(long, value_name = "PART")]
    pub recompute: Option<String>,
    /// Stage of ZeRO, 0 to 3.
    #[arg(long, value_name = "STAGE")]
    pub zero: Option<String>,
    /// Run communication beside computation where the layout allows it.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub overlap: Option<String>,
    /// Options of output.
    #[command(flatten)]
    pub out: OutputArgs,
}

const OFFER: Offer<&str> =
    Offer::new("llm", names!["x.json", "x.html"]).without_csv("a training step is a few figures; take --format json");

/// Computes a training step and prints it.
pub fn llm(args: &LlmArgs, voice: Voice) -> Result<End, Failure> {
    args.out.begin(&OFFER)?;
    let settings = [
        ("gpus", &args.gpus),
        ("tp", &args.tp),
        ("pp", &args.pp),
        ("dp", &args.dp),
        ("cp", &args.cp),
        ("ep", &args.ep),
        ("micro", &args.micro),
        ("batch", &args.batch),
        ("sequence", &args.sequence),
        ("interleave", &args.interleave),
        ("schedule", &args.schedule),
        ("sequence_parallel", &args.sequence_parallel),
        ("recompute", &args.recompute),
        ("zero", &args.zero),
        ("overlap", &args.overlap),
    ];
    let given = |(key, value): (&str, &Option<String>)| Some((key.to_owned(), value.clone()?));
    let request = Request {
        model: args.model.clone(),
        settings: settings.into_iter().filter_map(given).collect(),
        machine: args.machine.clone(),
        search: args.search,
    };
    let mut report = training(&request)?;
    if let Some(fabric) = &args.topology {
        let loader = asked::loader().on_read(progress::reading(voice.show)).topology(fabric);
        progress::over_runs(voice.show, "messages", |control| simulate(&request, &loader, &mut report, control))?;
    }
    args.out.deliver(args.out.open(&OFFER)?, || table::training(&report), &report, &[])?;
    Ok(End::Done)
}
