//! All-to-all: every rank has its own block for every other rank.
//!
//! With N ranks and blocks of m bytes at least `N (N - 1) m` bytes must travel. The algorithms that forward
//! blocks ([`AllToAll::Ring`], [`AllToAll::Bruck`]) send more bytes in fewer messages or over shorter
//! distances.
//!
//! Bruck's messages are those of a program's [alltoall](crate::collective). The other algorithms are rules of
//! this room. With these no message waits for messages that its sender receives (a program's exchanges do),
//! and so their steps are uniform.

mod order;
mod ordered;
mod random_order;
mod ring;
mod several;
mod spread;

use super::arith::add_mod;
use super::options::{
    SizeOf, combine_mistakes, dimensions, dims, finish, resized, show_dims, shown_size, table, too_many, unused,
};
use super::rule::{BuildContext, BuildResult, Rule};
use super::scheduled::Scheduled;
use super::{Injection, OrderChoice, Pattern};
use crate::base::choice::choice;
use crate::collective::{Call, Operation};
use crate::diagnostic::{Diagnostic, Located};
use crate::units::Bytes;

pub use order::{Order, numbering};
pub use several::MessageOrder;

use ordered::{Ordered, Partner};
use random_order::RandomOrder;
use ring::Ring;
use several::Several;
use spread::{Destination, Spread};

choice! {
    /// Algorithm that carries the blocks to their ranks.
    pub enum AllToAll {
        /// Message p = 1 .. N-1 goes to `(src + p) mod N`.
        SimpleSpread = "simple-spread",
        /// Simple spread in both coordinates of an n x n square of ranks; needs N = n^2.
        Spread2d = "2d-spread",
        /// Simple spread in every coordinate of a grid of ranks.
        SpreadNd = "nd-spread",
        /// Message p goes to `src xor p`; needs a power of two of ranks.
        Pairwise = "pairwise",
        /// Pairwise if the number of ranks is a power of two, else simple spread.
        Mpich = "mpich",
        /// Blocks travel from neighbour to neighbour around a ring.
        Ring = "ring",
        /// Blocks travel by powers of two, many in each message: log N rounds.
        Bruck = "bruck",
        /// Each rank visits the other ranks in its own random order.
        RandomOrder = "random-order",
        /// Simple spread with all messages in flight at once.
        Linear = "linear",
    }
}

table! {
    /// `[workload.all-to-all]`: every rank sends a block to every other rank.
    pub struct AllToAllSpec {
        /// Algorithm that carries the blocks to their ranks.
        pub algorithm: Located<AllToAll>,
        /// Size of the block of each pair of ranks.
        ///
        /// With several `messages` for each pair, each of them has this size.
        pub size: Located<Bytes>,
        /// Data that `size` counts: `block` (default) or `vector`, which is a block for each rank.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub size_of: Option<Located<SizeOf>>,
        /// Number of messages for each pair of ranks (default 1); not for ring and bruck, whose messages hold
        /// the blocks of several pairs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub messages: Option<Located<u32>>,
        /// Order in which ranks visit each other, by the nodes on which they are (default: by rank). All orders
        /// with "simple-spread"; `rank` and `node` also with "2d-spread", "nd-spread" and "pairwise".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub order: Option<Located<Order>>,
        /// Order of the messages: all for one rank in a row (default), or whole rounds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub message_order: Option<Located<MessageOrder>>,
        /// nd-spread: lengths of the grid of ranks, x0 first (default: as equal as possible).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub dims: Option<Located<Vec<u32>>>,
        /// nd-spread: number of dimensions of the grid, if `dims` is not given (default 3).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub dimensions: Option<Located<u32>>,
    }
}

impl Rule for AllToAllSpec {
    fn build(&self, context: &mut BuildContext<'_>) -> BuildResult {
        let mut mistakes = Vec::new();
        if *self.algorithm != AllToAll::SpreadNd {
            let chosen = format!("algorithm \"{}\"", *self.algorithm);
            mistakes.extend(self.dims.as_ref().map(|dims| unused(dims, "dims", &chosen, "\"nd-spread\"")));
            mistakes.extend(self.dimensions.as_ref().map(|d| unused(d, "dimensions", &chosen, "\"nd-spread\"")));
        }
        mistakes.extend(self.no_messages());
        if let (Some(order), true) = (&self.message_order, self.messages() == 1) {
            mistakes.push(unused(order, "message-order", "one message a pair", "`messages = 2` or more"));
        }
        let built = context.ranks(self.ranks).and_then(|ranks| {
            let size = resized(&self.size, self.size_of.as_ref(), SizeOf::Block, ranks)?;
            let sized = Self { size, size_of: None, ..self.clone() };
            match &self.order {
                Some(order) if **order != Order::Rank => sized.ordered(ranks, order, context),
                _ => sized.algorithm(ranks, context.seed),
            }
        });
        combine_mistakes(mistakes, built)
    }

    fn usual_injection(&self) -> Injection {
        if *self.algorithm == AllToAll::Linear { Injection::All } else { Injection::Queue }
    }

    fn depends_on_seed(&self) -> bool {
        *self.algorithm == AllToAll::RandomOrder
            || self.order.is_some_and(|order| matches!(*order, Order::Random | Order::Auto))
    }

    fn knows_fabric(&self) -> bool {
        self.order.is_some_and(|order| *order != Order::Rank)
    }

    fn title(&self) -> String {
        let grid = match (*self.algorithm, &self.dims) {
            (AllToAll::SpreadNd, Some(dims)) => format!(" {}", show_dims(dims)),
            (AllToAll::SpreadNd, None) => format!(" {}-D", self.dimensions.map_or(3, |d| *d)),
            _ => String::new(),
        };
        let messages = match (self.messages(), self.message_order.map(|order| *order)) {
            (1, _) => String::new(),
            (k, Some(MessageOrder::Rounds)) => format!(", {k} messages a pair in rounds"),
            (k, _) => format!(", {k} messages a pair in a row"),
        };
        let order = match self.order.map(|order| *order) {
            None | Some(Order::Rank) => String::new(),
            Some(order) => format!(" in order {order}"),
        };
        format!(
            "all-to-all {}{grid}{order}, {}{messages}",
            *self.algorithm,
            shown_size(*self.size, self.size_of.as_ref())
        )
    }
}

impl AllToAllSpec {
    /// Number of messages for each pair of ranks.
    fn messages(&self) -> u32 {
        self.messages.map_or(1, |messages| *messages)
    }

    /// Returns the mistake of the number of messages, if it has one for any number of ranks.
    fn no_messages(&self) -> Option<Diagnostic> {
        let messages = self.messages.as_ref()?;
        let forwards = matches!(*self.algorithm, AllToAll::Ring | AllToAll::Bruck);
        match **messages {
            0 => Some(
                Diagnostic::new("wrong-value", "an all-to-all without messages sends nothing")
                    .at_value(messages)
                    .label("a number from 1 on")
                    .help("write `messages = 1`, or leave it out"),
            ),
            2.. if forwards => Some(
                Diagnostic::new(
                    "unused-option",
                    format!("`messages` has no meaning for algorithm \"{}\"", *self.algorithm),
                )
                .at_value(messages)
                .label("its messages hold the blocks of several pairs of ranks")
                .help(
                    "leave `messages` out and write a larger `size`, or choose an algorithm that sends each block straight to \
                     its rank: \"simple-spread\", \"2d-spread\", \"nd-spread\", \"pairwise\", \"mpich\", \"random-order\", \"linear\"",
                ),
            ),
            _ => None,
        }
    }

    /// Finishes a pattern with the number of messages for each pair that is asked for.
    fn several<P: Pattern + 'static>(&self, once: P) -> BuildResult {
        let (Some(messages), 2..) = (&self.messages, self.messages()) else { return finish(once, &self.size) };
        if let (Some(choice), None) = (once.order(), once.lockstep()) {
            let message = format!("order \"{}\" has empty turns here, and so one message a pair", choice.name);
            let mistake = Diagnostic::new("wrong-choice", message).at_value(messages).label("not with empty turns");
            return Err(vec![mistake.help("leave `messages` out, or take order \"node\" or \"stride\"")]);
        }
        let order = self.message_order.map_or(MessageOrder::InARow, |order| *order);
        let count = u128::from(once.ranks()) * u128::from(**messages);
        match Several::new(once, **messages, order) {
            Some(several) => finish(several, &self.size),
            None => Err(vec![too_many(messages, "messages a rank", count)]),
        }
    }

    fn algorithm(&self, ranks: u32, seed: u64) -> BuildResult {
        let bytes = self.size.0;
        let spread = |rule| self.several(Spread::new(ranks, bytes, rule));
        match *self.algorithm {
            AllToAll::SimpleSpread | AllToAll::Linear => spread(Destination::Shift),
            AllToAll::Mpich if !ranks.is_power_of_two() => spread(Destination::Shift),
            AllToAll::Mpich => spread(Destination::Xor),
            AllToAll::Pairwise if !ranks.is_power_of_two() => Err(vec![self.no_power_of_two(ranks)]),
            AllToAll::Pairwise => spread(Destination::Xor),
            AllToAll::Spread2d => self.square(ranks).and_then(|n| spread(Destination::grid(&[n, n]))),
            AllToAll::SpreadNd => self.grid(ranks).and_then(|dims| spread(Destination::grid(&dims))),
            AllToAll::Ring => finish(Ring::new(ranks, bytes), &self.size),
            AllToAll::Bruck => Scheduled::of(&Call::equal(Operation::Alltoall, ranks, bytes), "bruck", &self.size),
            AllToAll::RandomOrder => self.several(RandomOrder::new(ranks, bytes, seed)),
        }
    }

    /// Builds the pattern in another order than that of ranks.
    fn ordered(&self, ranks: u32, order: &Located<Order>, context: &BuildContext<'_>) -> BuildResult {
        let (fabric, bytes, seed) = (context.fabric, self.size.0, context.seed);
        let rule = match *self.algorithm {
            AllToAll::SimpleSpread => None,
            AllToAll::Mpich if !ranks.is_power_of_two() => None,
            AllToAll::Mpich | AllToAll::Pairwise if ranks.is_power_of_two() => Some(Destination::Xor),
            AllToAll::Pairwise => return Err(vec![self.no_power_of_two(ranks)]),
            AllToAll::Spread2d => self.square(ranks).map(|n| Some(Destination::grid(&[n, n])))?,
            AllToAll::SpreadNd => Some(Destination::grid(&self.grid(ranks)?)),
            _ => {
                let chosen = format!("algorithm \"{}\"", *self.algorithm);
                return Err(vec![unused(order, "order", &chosen, "\"simple-spread\"")]);
            }
        };
        let finished = |name: &'static str, (rounds, partner): order::Rounds, tried: Vec<(&'static str, f64)>| {
            let choice = OrderChoice { name, tried };
            self.several(Ordered::new(ranks, rounds, bytes, partner, choice))
        };
        if let Some(rule) = rule {
            if **order != Order::Node {
                let chosen = format!("order \"{}\"", **order);
                return Err(vec![unused(&self.algorithm, "algorithm", &chosen, "\"simple-spread\"")]);
            }
            let placed = order::positions(ranks, fabric).map_err(|mistake| vec![mistake.at_value(order)])?;
            let ((of_rank, rank_at), spread) = (placed, Spread::new(ranks, bytes, rule));
            let partner: Partner =
                Box::new(move |rank, round| Some(rank_at[spread.destination(of_rank[rank as usize], round) as usize]));
            return finished(order.name(), (ranks - 1, partner), Vec::new());
        }
        let rounds = |order: Order| -> Result<order::Rounds, Diagnostic> {
            match order {
                Order::Rank => Ok((ranks - 1, Box::new(move |rank, round| Some(add_mod(rank, round, ranks))))),
                Order::Random => {
                    let drawn = RandomOrder::new(ranks, bytes, seed);
                    Ok((ranks - 1, Box::new(move |rank, round| Some(drawn.destination(rank, round - 1)))))
                }
                _ => order::rounds(order, ranks, fabric),
            }
        };
        if **order != Order::Auto {
            return finished(
                order.name(),
                rounds(**order).map_err(|mistake| vec![mistake.at_value(order)])?,
                Vec::new(),
            );
        }
        let (mut tried, size) = (Vec::new(), bytes as f64 * f64::from(self.messages()));
        for &order in Order::ALL.iter().filter(|order| **order != Order::Auto) {
            // Orders that do not suit the fabric are left out.
            let Ok((count, partner)) = rounds(order) else { continue };
            // With several messages a pair no turn may be empty.
            if self.messages() > 1 && count >= ranks {
                continue;
            }
            // Other nodes have no rank.
            let partner = |rank: u32, round: u32| if rank < ranks { partner(rank, round) } else { None };
            tried.extend(fabric.time_of_rounds(count, &partner).map(|time| (order, time * size)));
        }
        let Some(&(best, _)) = tried.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            let message = "the best order is unknown: loads follow from routes, and none are known before the run";
            let help = "name a fabric (-t) and a routing rule without choices under way, or an order";
            return Err(vec![Diagnostic::new("wrong-choice", message).at_value(order).help(help)]);
        };
        let tried = tried.into_iter().map(|(order, time)| (order.name(), time)).collect();
        finished(best.name(), rounds(best).map_err(|mistake| vec![mistake])?, tried)
    }

    fn no_power_of_two(&self, ranks: u32) -> Diagnostic {
        let below = 1 << ranks.ilog2();
        Diagnostic::new("not-a-power-of-two", format!("pairwise exchange is not defined for {ranks} ranks"))
            .at_value(&self.algorithm)
            .label("needs a power of two of ranks")
            .help(format!(
                "take `all-to-all-mpich` (`algorithm = \"mpich\"`) or `all-to-all-simple-spread`, or {below} ranks"
            ))
    }

    /// Returns the side of the square of ranks.
    fn square(&self, ranks: u32) -> Result<u32, Vec<Diagnostic>> {
        let n = ranks.isqrt();
        if n * n == ranks {
            return Ok(n);
        }
        let near = super::arith::balanced(ranks, 2);
        Err(vec![
            Diagnostic::new("not-a-square", format!("2d-spread is not defined for {ranks} ranks"))
                .at_value(&self.algorithm)
                .label("needs a square number of ranks")
                .help(format!(
                    "take `all-to-all-nd-spread` (`algorithm = \"nd-spread\"` with `dims = {near:?}`), or {} ranks",
                    n * n
                )),
        ])
    }

    /// Returns the lengths of the grid of ranks.
    fn grid(&self, ranks: u32) -> Result<Vec<u32>, Vec<Diagnostic>> {
        let count = dimensions(self.dimensions.as_ref(), self.dims.as_ref(), 3, 24).map_err(|wrong| vec![wrong])?;
        dims(self.dims.as_ref(), count, ranks).map_err(|wrong| vec![wrong])
    }
}
