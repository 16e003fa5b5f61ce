//! Communicators: their index, their members, and an id that all members agree on.
//!
//! Each member computes the id alone, without a message. It is a hash of the parent communicator, of the
//! members, and of the number of earlier communicators of the same kind that this rank has been in. All
//! members of a communicator make it together and in the same order, so they count alike; other ranks do not
//! count it. Two communicators share an id as often as two random numbers of 64 bits are equal.

use std::ffi::c_int;
use std::io::Write;

use hayase_mpi::{Abi, Functions, Handle, SUCCESS};
use hayase_trace::{Communicator, Writer};
use rustc_hash::FxHashMap;

use crate::floating;

/// A communicator of this rank.
#[derive(Clone, Debug)]
pub struct CommunicatorEntry {
    /// Index in the rank's table.
    pub index: u32,
    /// Id of the communicator.
    pub id: u64,
    /// True if it joins two groups.
    pub inter: bool,
    /// Members, as ranks of the world.
    pub members: Vec<u32>,
    /// Members of the remote group, as ranks of the world.
    pub remote: Vec<u32>,
    /// Number of collective operations that this rank has started on it.
    pub collectives: u64,
}

impl CommunicatorEntry {
    /// Returns the rank in the world of a partner, as the program names it.
    pub fn world(&self, peer: c_int) -> Option<u32> {
        let group = if self.inter { &self.remote } else { &self.members };
        usize::try_from(peer).ok().and_then(|peer| group.get(peer).copied())
    }
}

/// All communicators of a rank.
#[derive(Debug, Default)]
pub struct Communicators {
    by_handle: FxHashMap<Handle, CommunicatorEntry>,
    last: LastLookup,
    indices: u32,
    /// Number of communicators of each kind so far.
    ordinals: FxHashMap<u64, u64>,
    world_group: Handle,
    me: u32,
}

/// The communicator of the present call.
#[derive(Clone, Copy, Debug, Default)]
struct LastLookup {
    handle: Handle,
    index: u32,
    inter: bool,
    /// Rank of this process in it.
    rank: Option<u32>,
    /// Number of ranks to send to.
    partners: usize,
}

/// Id of the world.
const WORLD: u64 = 1;

impl Communicators {
    /// Creates the table with the world. The communicator of this rank alone becomes known at its first use.
    pub fn new(abi: &Abi, mpi: &Functions, rank: u32, ranks: u32) -> Self {
        let mut world_group = 0;
        // SAFETY: there is room for a handle of any size.
        unsafe { (mpi.comm_group)(abi.comm_world, (&raw mut world_group).cast()) };
        let mut communicators = Self { world_group, indices: 1, me: rank, ..Self::default() };
        let members = (0..ranks).collect();
        let world =
            CommunicatorEntry { index: 0, id: WORLD, inter: false, members, remote: Vec::new(), collectives: 0 };
        communicators.by_handle.insert(abi.comm_world, world);
        communicators
    }

    /// Returns the index of the communicator with this handle, and true if it joins two groups. An unknown
    /// communicator (not made by a call of the program) becomes known.
    #[inline]
    pub fn index<W: Write>(
        &mut self,
        handle: Handle,
        abi: &Abi,
        mpi: &Functions,
        writer: &mut Option<Writer<W>>,
    ) -> (u32, bool) {
        if self.last.handle == handle {
            return (self.last.index, self.last.inter);
        }
        let me = self.me;
        let known = match self.by_handle.get(&handle) {
            Some(known) => known,
            None => self.add(handle, 0, abi, mpi, writer),
        };
        let (index, inter) = (known.index, known.inter);
        let rank = known.members.iter().position(|&member| member == me).map(|rank| rank as u32);
        let partners = if inter { known.remote.len() } else { known.members.len() };
        self.last = LastLookup { handle, index, inter, rank, partners };
        (index, inter)
    }

    /// Returns the rank of this process in the communicator last looked up.
    pub fn rank(&self) -> Option<u32> {
        self.last.rank
    }

    /// Returns the number of ranks of that communicator, or of its remote group.
    pub fn partners(&self) -> usize {
        self.last.partners
    }

    /// Returns the data of a communicator.
    pub fn get(&mut self, handle: Handle) -> Option<&mut CommunicatorEntry> {
        self.by_handle.get_mut(&handle)
    }

    /// Returns the id of a communicator, 0 if it is not known.
    pub fn id(&self, handle: Handle) -> u64 {
        self.by_handle.get(&handle).map_or(0, |known| known.id)
    }

    /// Records a communicator made from the one with id `parent`.
    pub fn add<W: Write>(
        &mut self,
        handle: Handle,
        parent: u64,
        abi: &Abi,
        mpi: &Functions,
        writer: &mut Option<Writer<W>>,
    ) -> &CommunicatorEntry {
        // The recorder asks MPI here, not the program.
        floating::apart(|| self.query(handle, parent, abi, mpi, writer))
    }

    fn query<W: Write>(
        &mut self,
        handle: Handle,
        parent: u64,
        abi: &Abi,
        mpi: &Functions,
        writer: &mut Option<Writer<W>>,
    ) -> &CommunicatorEntry {
        let mut inter = 0;
        // SAFETY: the handle is a communicator's; there is room for the answer.
        unsafe { (mpi.comm_test_inter)(handle, &raw mut inter) };
        let inter = inter != 0;
        let members = self.members(handle, mpi.comm_group, abi, mpi);
        let remote = if inter { self.members(handle, mpi.comm_remote_group, abi, mpi) } else { Vec::new() };
        let id = self.new_id(parent, &members, &remote);
        let index = self.indices;
        self.indices += 1;
        if let Some(writer) = writer {
            let communicator = Communicator { id, members: members.clone(), remote: remote.clone() };
            writer.new_communicator(index, &communicator);
        }
        if self.last.handle == handle {
            self.last.handle = 0;
        }
        let known = CommunicatorEntry { index, id, inter, members, remote, collectives: 0 };
        self.by_handle.entry(handle).insert_entry(known).into_mut()
    }

    /// Forgets a handle that has become free.
    pub fn remove(&mut self, handle: Handle) {
        self.by_handle.remove(&handle);
        if self.last.handle == handle {
            self.last.handle = 0;
        }
    }

    fn new_id(&mut self, parent: u64, members: &[u32], remote: &[u32]) -> u64 {
        // Both sides of an inter-communicator get the same id.
        let (first, second) = if remote.is_empty() || members < remote { (members, remote) } else { (remote, members) };
        // The two groups are joined from a communicator of each, which is unknown to the other group.
        let mut hash = mix(0, if remote.is_empty() { parent } else { 0 });
        for group in [first, second] {
            hash = mix(hash, group.len() as u64);
            for &member in group {
                hash = mix(hash, u64::from(member));
            }
        }
        let ordinal = self.ordinals.entry(hash).or_default();
        *ordinal += 1;
        mix(hash, *ordinal).max(WORLD + 1)
    }

    fn members(
        &self,
        handle: Handle,
        group_of: unsafe extern "C" fn(Handle, *mut std::ffi::c_void) -> c_int,
        abi: &Abi,
        mpi: &Functions,
    ) -> Vec<u32> {
        let (mut group, mut size): (Handle, c_int) = (0, 0);
        // SAFETY: the handle is a communicator's; handles fit in a word, arrays have the size that is said.
        unsafe {
            if group_of(handle, (&raw mut group).cast()) != SUCCESS {
                return Vec::new();
            }
            (mpi.group_size)(group, &raw mut size);
            let ranks: Vec<c_int> = (0..size).collect();
            let mut world = vec![abi.undefined; ranks.len()];
            (mpi.group_translate_ranks)(group, size, ranks.as_ptr(), self.world_group, world.as_mut_ptr());
            (mpi.group_free)((&raw mut group).cast());
            // Ranks of another world (spawned ones) have no number in this one.
            world.into_iter().map(u32::try_from).collect::<Result<_, _>>().unwrap_or_default()
        }
    }

    /// Returns the rank of this process in the world.
    pub fn me(&self) -> u32 {
        self.me
    }
}

/// Mixes a number into a hash by a step of SplitMix64.
fn mix(hash: u64, value: u64) -> u64 {
    let mut z = hash.rotate_left(23) ^ value.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_agree_on_an_id_and_others_have_another() {
        let (mut one, mut other) = (Communicators::default(), Communicators::default());
        // Halves of the world, made by both; then each pair again.
        let low = one.new_id(WORLD, &[0, 1], &[]);
        assert_ne!(low, other.new_id(WORLD, &[2, 3], &[]));
        let world = one.new_id(WORLD, &[0, 1, 2, 3], &[]);
        assert_eq!(world, other.new_id(WORLD, &[0, 1, 2, 3], &[]));
        let again = one.new_id(WORLD, &[0, 1, 2, 3], &[]);
        assert_eq!(again, other.new_id(WORLD, &[0, 1, 2, 3], &[]));
        assert_ne!(world, again);
        assert_ne!(world, one.new_id(world, &[0, 1, 2, 3], &[]), "made from another one");
        // An inter-communicator of two groups, seen from both sides, each with its own parent.
        assert_eq!(one.new_id(low, &[0, 1], &[2, 3]), other.new_id(WORLD, &[2, 3], &[0, 1]));
    }

    #[test]
    fn a_partner_is_of_the_remote_group_where_there_is_one() {
        let mut known =
            CommunicatorEntry { index: 1, id: 2, inter: false, members: vec![4, 6], remote: vec![], collectives: 0 };
        assert_eq!((known.world(1), known.world(2), known.world(-1)), (Some(6), None, None));
        (known.inter, known.remote) = (true, vec![9]);
        assert_eq!((known.world(0), known.world(1)), (Some(9), None));
    }
}
