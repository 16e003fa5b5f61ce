//! Dense ids for the objects of a simulation, one type each, and the vector they index.
//!
//! A node is not a rank and a link is not a flow; the compiler keeps them apart at no cost.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Serialize};

/// Dense number that indexes an [`IdVec`].
pub trait Id: Copy + Eq + Ord + fmt::Debug {
    /// Returns the id with this position.
    ///
    /// # Panics
    /// Panics if `index` does not fit in 32 bits: no fabric or program is that large.
    fn from_index(index: usize) -> Self;
    /// Returns the position of this id.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("ids have 32 bits"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// Host of the fabric, on which ranks are placed.
    NodeId
    /// Node or switch: nodes come first, so `VertexId(n)` with `n < nodes` is node n.
    VertexId
    /// Directed link.
    LinkId
    /// Process of the program.
    RankId
    /// Message under way; the number is used again after the message has been delivered.
    FlowId
    /// Wake-up requested by a workload. The workload chooses the number; two pending requests never have the
    /// same.
    WakeId
}

impl From<NodeId> for VertexId {
    fn from(node: NodeId) -> Self {
        Self(node.0)
    }
}

/// Message of the program: the `index`-th (from 0) that rank `src` sends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub struct MessageId {
    /// Rank that sends the message.
    pub src: RankId,
    /// Position among the messages of that rank, from 0.
    pub index: u32,
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {} of rank {}", self.index, self.src)
    }
}

/// Vector indexed by one kind of id.
#[derive(Clone, PartialEq, Debug)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: Id, T> IdVec<I, T> {
    /// Creates an empty vector.
    pub fn new() -> Self {
        Self { items: Vec::new(), id: PhantomData }
    }

    /// Creates a vector of `len` copies of `value`.
    pub fn filled(len: usize, value: T) -> Self
    where
        T: Clone,
    {
        Self::from(vec![value; len])
    }

    /// Makes room for `values` more values.
    pub fn reserve(&mut self, values: usize) {
        self.items.reserve(values);
    }

    /// Appends a value and returns its id.
    pub fn push(&mut self, value: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(value);
        id
    }

    /// Appends values, in order.
    pub fn append(&mut self, mut values: Vec<T>) {
        if self.items.is_empty() && self.items.capacity() < values.len() {
            self.items = values;
        } else {
            self.items.append(&mut values);
        }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if there are no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the item with this id, or `None` if there is none.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// Returns all ids, ascending.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// Iterates over all items, by ascending id.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Iterates over all items with their ids, ascending.
    pub fn iter_ids(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(i, item)| (I::from_index(i), item))
    }

    /// Returns the items as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Returns the items as a mutable slice.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I: Id, T> Default for IdVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, id: PhantomData }
    }
}

impl<I: Id, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self::from(iter.into_iter().collect::<Vec<_>>())
    }
}

impl<I: Id, T> Index<I> for IdVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IdVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

/// Value for each id, stored once if all are equal.
#[derive(Clone, PartialEq, Debug)]
pub struct UniformOrEach<I, T> {
    common: Option<T>,
    /// Value of each id; empty if there is a common value.
    each: IdVec<I, T>,
    len: usize,
}

impl<I: Id, T: Copy + PartialEq> UniformOrEach<I, T> {
    /// Creates the values of the first `len` ids. `value` is called once or twice for each.
    pub fn new(len: usize, value: impl Fn(I) -> T) -> Self {
        let mut all = (0..len).map(|index| value(I::from_index(index)));
        let common = all.next().filter(|first| all.all(|other| other == *first));
        let each = match common {
            Some(_) => IdVec::new(),
            None => (0..len).map(|index| value(I::from_index(index))).collect(),
        };
        Self { common, each, len }
    }

    /// Returns the value that all ids have.
    #[inline]
    pub fn common(&self) -> Option<T> {
        self.common
    }

    /// Returns the value of an id.
    #[inline]
    pub fn get(&self, id: I) -> T {
        self.common.unwrap_or_else(|| self.each[id])
    }

    /// Sets the value of an id.
    pub fn set(&mut self, id: I, value: T) {
        if let Some(common) = self.common.take() {
            self.each = IdVec::filled(self.len, common);
        }
        self.each[id] = value;
    }
}

impl<I: Id, T> Default for UniformOrEach<I, T> {
    /// Creates values for no ids.
    fn default() -> Self {
        Self { common: None, each: IdVec::new(), len: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_alike_are_kept_once_until_one_differs() {
        let mut same = UniformOrEach::<LinkId, f64>::new(3, |_| 2.0);
        assert_eq!((same.common(), same.get(LinkId(2)), same.each.len()), (Some(2.0), 2.0, 0));
        same.set(LinkId(1), 5.0);
        assert_eq!((same.common(), same.get(LinkId(0)), same.get(LinkId(1))), (None, 2.0, 5.0));
        let mixed = UniformOrEach::<LinkId, u32>::new(3, |link| link.0 / 2);
        assert_eq!((mixed.common(), mixed.get(LinkId(1)), mixed.get(LinkId(2))), (None, 0, 1));
        assert_eq!(UniformOrEach::<LinkId, u32>::new(0, |_| 1).common(), None);
    }
}
