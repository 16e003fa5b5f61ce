//! Slab: items by number; numbers are reused.

/// No number.
pub(super) const NIL: u32 = u32::MAX;

/// Items by number; the number of a removed item goes to the next one added.
#[derive(Debug)]
pub(super) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub fn add(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(at) => {
                self.items[at as usize] = item;
                at
            }
            None => {
                self.items.push(item);
                (self.items.len() - 1) as u32
            }
        }
    }

    pub fn remove(&mut self, at: u32) {
        self.free.push(at);
    }

    #[inline]
    pub fn get(&self, at: u32) -> &T {
        &self.items[at as usize]
    }

    #[inline]
    pub fn get_mut(&mut self, at: u32) -> &mut T {
        &mut self.items[at as usize]
    }
}
