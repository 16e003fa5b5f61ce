//! Splitting of long messages into pieces.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;

use super::{ANY_SOURCE, ANY_TAG, Envelope, Op, OpKind, Program, Wildcards};
use crate::base::memory;
use crate::diagnostic::Diagnostic;
use crate::ids::RankId;
use crate::units::Bytes;

/// Memory of an operation while messages are split, with its place and its call site \[B\].
const PER_OPERATION: u64 = 64;

/// Returns the sizes of the pieces of a message \[B\], none longer than `most` (at least 1); an empty message
/// is one piece.
pub fn pieces(bytes: u64, most: u64) -> impl Iterator<Item = u64> {
    (0..bytes.div_ceil(most).max(1)).map(move |piece| most.min(bytes - piece * most))
}

impl Program {
    /// Splits messages longer than `most` into pieces of that size, sent and received one after another, as a
    /// program does that splits its messages itself. Messages of collective operations stay whole.
    ///
    /// The n-th receive of an envelope takes the n-th message sent with it, in the same number of pieces.
    ///
    /// # Errors
    /// A piece size of 0; a program with graphs; more pieces than fit in memory. A message in pieces that a
    /// wildcard receive takes, or that a wait for any of several waits for.
    pub fn send_in_pieces(&mut self, most: Bytes, wildcards: Wildcards) -> Result<(), Diagnostic> {
        let wrong = |message: String| Err(Diagnostic::new("no-pieces", message));
        if most.0 == 0 {
            return wrong("messages cannot be sent in pieces of no bytes".to_owned());
        }
        if self.has_graphs() {
            return wrong("operations of a schedule cannot be cut into pieces; only sequences of calls can".to_owned());
        }
        // Messages by envelope and receiver, in the order of sending.
        let mut sent: FxHashMap<(Envelope, u32), VecDeque<u64>> = FxHashMap::default();
        let mut gets_long = vec![false; self.ranks() as usize];
        let mut operations = self.operations();
        for (rank, of) in self.iter() {
            for op in of.ops.iter().filter(|op| matches!(op.kind, OpKind::Send | OpKind::Isend)) {
                sent.entry((Envelope { peer: rank.0, ..op.envelope() }, op.peer)).or_default().push_back(op.size);
                gets_long[op.peer as usize] |= op.size > most.0;
                // A send, a receive and their waits.
                operations = operations.saturating_add(4 * (op.size / most.0));
            }
        }
        let room = memory::free().map_or(u64::MAX, |free| free / PER_OPERATION).min(u32::MAX.into());
        if operations > room {
            return wrong(format!("pieces of {most} make {operations} operations; {room} fit in memory"));
        }
        for rank in (0..self.ranks()).map(RankId) {
            let mut whole = |op: &Op| -> Option<u64> {
                match op.kind {
                    OpKind::Send | OpKind::Isend => Some(op.size),
                    OpKind::Recv | OpKind::Irecv if gets_long[rank.0 as usize] => {
                        let op = if wildcards == Wildcards::Arrival { op.unpinned() } else { *op };
                        let from = op.envelope();
                        let is_open = from.peer == ANY_SOURCE || from.tag == ANY_TAG;
                        // (A receive that no message is sent to waits forever, whatever its pieces.)
                        if is_open {
                            None
                        } else {
                            Some(sent.get_mut(&(from, rank.0)).and_then(VecDeque::pop_front).unwrap_or(0))
                        }
                    }
                    _ => Some(0),
                }
            };
            let bytes: Option<Vec<u64>> = self.rank(rank).ops.iter().map(&mut whole).collect();
            let Some(bytes) = bytes else {
                return wrong(format!("rank {rank} receives with a wildcard, and gets messages longer than {most}"));
            };
            if let Some(at) = self.cut(rank, &bytes, most.0) {
                let place = self.place(rank, at).map_or(String::new(), |place| format!("{place}: "));
                return wrong(format!(
                    "{place}rank {rank} waits for any of several messages, one of them longer than {most}"
                ));
            }
        }
        Ok(())
    }

    /// Splits the messages of one rank, given the size of each. Returns the operation that cannot be split,
    /// if there is one.
    fn cut(&mut self, rank: RankId, bytes: &[u64], most: u64) -> Option<u32> {
        let of = self.rank_mut(rank);
        // First new operation of each old one.
        let mut first = Vec::with_capacity(of.ops.len() + 1);
        let (mut ops, mut lists, mut places, mut sites) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (at, op) in of.ops.iter().enumerate() {
            first.push(ops.len() as u32);
            let pieces_of = |started: u32| first[started as usize]..first[started as usize + 1];
            match op.kind {
                OpKind::Send | OpKind::Isend | OpKind::Recv | OpKind::Irecv if bytes[at] > most => {
                    ops.extend(pieces(bytes[at], most).map(|size| Op { size, ..*op }));
                }
                OpKind::Wait => ops.extend(pieces_of(op.arg).map(|arg| Op { arg, ..*op })),
                // The last piece arrives last.
                OpKind::Test => ops.extend(pieces_of(op.arg).last().map(|arg| Op { arg, ..*op })),
                OpKind::Waitall | OpKind::Waitany | OpKind::Waitsome => {
                    let from = lists.len();
                    lists.extend(of.list(op.arg, op.size as u32).iter().flat_map(|&started| pieces_of(started)));
                    let size = (lists.len() - from) as u64;
                    if op.kind != OpKind::Waitall && size > op.size {
                        return Some(at as u32);
                    }
                    ops.push(Op { arg: from as u32, size, ..*op });
                }
                _ => ops.push(*op),
            }
            if let Some(place) = of.place(at) {
                places.resize(ops.len(), place);
            }
            if let Some(&site) = of.sites.get(at) {
                sites.resize(ops.len(), site);
            }
        }
        first.push(ops.len() as u32);
        of.marks.iter_mut().for_each(|mark| mark.at = first[mark.at as usize]);
        (of.ops, of.lists, of.places, of.sites, of.numbered) = (ops, lists, places, sites, false);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::generate::Generator;
    use crate::program::{Mark, ProgramBuilder};

    #[test]
    fn pieces_have_the_length_that_is_asked_for_but_the_last() {
        assert_eq!(pieces(25, 10).collect::<Vec<_>>(), [10, 10, 5]);
        assert_eq!(pieces(20, 10).collect::<Vec<_>>(), [10, 10]);
        assert_eq!((pieces(0, 10).collect::<Vec<_>>(), pieces(10, u64::MAX).collect::<Vec<_>>()), (vec![0], vec![10]));
        assert_eq!(pieces(u64::MAX, u64::MAX - 1).collect::<Vec<_>>(), [u64::MAX - 1, 1]);
    }

    #[test]
    fn a_program_that_is_cut_is_the_one_that_cuts_its_messages_itself() {
        let rule = |text: &str| Generator::parse(text).unwrap().program().unwrap();
        let mut whole = rule("gaussian-elimination:n=256,ranks=4");
        whole.send_in_pieces(Bytes(1000), Wildcards::Recorded).unwrap();
        let own = rule("gaussian-elimination:n=256,ranks=4,fragment=1000B");
        assert!(own.operations() > rule("gaussian-elimination:n=256,ranks=4").operations());
        for (rank, of) in own.iter() {
            assert_eq!(whole.rank(rank).ops, of.ops);
        }
    }

    #[test]
    fn requests_lists_places_and_regions_follow_their_pieces() {
        let mut builder = ProgramBuilder::new(2);
        let to = Envelope::world(1, 3);
        let mut rank = builder.sequence(0);
        let long = rank.push_at(Op::isend(to, 25), 1);
        let short = rank.push_at(Op::isend(to, 5), 2);
        rank.mark(0, true, 0, 3);
        rank.push_at(Op::test(long), 3);
        rank.wait_list_at(OpKind::Waitall, &[short, long], 4);
        builder.finish_rank(rank);
        let mut rank = builder.sequence(1);
        // The buffers are longer than the messages.
        let from = Envelope::world(0, 3);
        let first = rank.push(Op::irecv(from, 100).marked(Op::WITHIN_CALL));
        rank.push(Op::wait(first).marked(Op::WITHIN_CALL));
        rank.push(Op::recv(from, 100));
        builder.finish_rank(rank);
        let mut program = builder.build().unwrap();
        program.send_in_pieces(Bytes(10), Wildcards::Recorded).unwrap();
        let of = program.rank(RankId(0));
        let isends = [10, 10, 5, 5].map(|bytes| Op::isend(to, bytes));
        assert_eq!(of.ops, [&isends[..], &[Op::test(2), Op::list(OpKind::Waitall, 0, 4)]].concat());
        assert_eq!((&of.lists[..], &of.places[..]), (&[3, 0, 1, 2][..], &[1, 1, 1, 2, 3, 4][..]));
        assert_eq!(of.marks, [Mark { at: 4, region: 0, begins: true, site: 0, place: 3 }]);
        let of = program.rank(RankId(1));
        let irecvs = [10, 10, 5].map(|bytes| Op::irecv(from, bytes).marked(Op::WITHIN_CALL));
        let waits = [0, 1, 2].map(|at| Op::wait(at).marked(Op::WITHIN_CALL));
        assert_eq!(of.ops, [&irecvs[..], &waits, &[Op::recv(from, 100)]].concat());
    }

    #[test]
    fn what_cannot_be_cut_is_refused_with_the_reason() {
        let pair = |receive: Op, any: bool| {
            let mut builder = ProgramBuilder::new(2);
            let mut rank = builder.sequence(0);
            rank.push(Op::send(Envelope::world(1, 0), 100));
            builder.finish_rank(rank);
            let mut rank = builder.sequence(1);
            let started = rank.push(receive);
            if any {
                rank.wait_list(OpKind::Waitany, &[started]);
            }
            builder.finish_rank(rank);
            builder.build().unwrap()
        };
        let refused = |program: &mut Program, most, wildcards| {
            program.send_in_pieces(Bytes(most), wildcards).unwrap_err().message
        };
        let from = Envelope::world(0, 0);
        let open = Op::recv(Envelope { peer: ANY_SOURCE, ..from }, 100);
        assert!(refused(&mut pair(open, false), 10, Wildcards::Recorded).contains("rank 1 receives with a wildcard"));
        let recorded = Op::recv(from, 100).marked(Op::OPEN_SOURCE);
        assert!(
            refused(&mut pair(recorded, false), 10, Wildcards::Arrival).contains("rank 1 receives with a wildcard")
        );
        pair(recorded, false).send_in_pieces(Bytes(10), Wildcards::Recorded).unwrap();
        pair(open, false).send_in_pieces(Bytes(100), Wildcards::Recorded).unwrap();
        assert!(refused(&mut pair(Op::irecv(from, 100), true), 10, Wildcards::Recorded).contains("any of several"));
        assert!(refused(&mut pair(recorded, false), 0, Wildcards::Recorded).contains("no bytes"));
        let mut huge = pair(Op::recv(from, 0), false);
        huge.rank_mut(RankId(0)).ops[0].size = 1 << 60;
        assert!(refused(&mut huge, 1, Wildcards::Recorded).contains("fit in memory"));
    }
}
