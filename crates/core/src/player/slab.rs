//! Things by number; numbers are used again.

/// No number.
pub(super) const NIL: u32 = u32::MAX;

/// Things by number: that of one that has been removed goes to the next that is added.
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
