//! Requests and room by virtual channel, and additional channels as routes need them.

use super::super::net::{ASK, NONE, Net};
use super::{CLASS_BITS, CLASSES, InputQueues, ManyRequests, Queue, SOURCE, Step};

impl<const ASKS: bool> InputQueues<ASKS> {
    /// Returns the number of classes of requests.
    pub(super) fn classes(&self) -> u32 {
        1 + self.lanes.max(2)
    }

    /// Returns the number of words of the requests for an output.
    #[inline(always)]
    pub(super) fn words(&self, link: u32) -> u32 {
        if self.many.is_empty() { 1 } else { self.many[link as usize].words as u32 }
    }

    /// Adds or removes the request of an input in a class, for an output with many.
    #[inline(never)]
    pub(super) fn set_request(&mut self, link: u32, class: u32, input: u32, wants: bool) {
        let (many, ready) = (&mut self.many[link as usize], &mut self.outputs[link as usize].ready);
        let place = class as usize * many.words + input as usize / 64;
        if place >= many.wants.len() {
            many.wants.resize((class as usize + 1) * many.words, 0);
        }
        let (word, bit) = (&mut many.wants[place], 1 << (input % 64));
        let before = word.count_ones();
        *word = if wants { *word | bit } else { *word & !bit };
        *ready = *ready + u64::from(word.count_ones()) - u64::from(before);
    }

    /// Returns the requests of a class for an output from the inputs of a word.
    fn requests(&self, link: u32, class: u32, word: u32) -> u64 {
        match self.many.get(link as usize) {
            None => self.outputs[link as usize].wants[class as usize % CLASSES],
            Some(many) => many.wants.get(class as usize * many.words + word as usize).copied().unwrap_or(0),
        }
    }

    /// Returns the room ahead of an output for packets of a class.
    #[inline(always)]
    pub(super) fn room(&mut self, link: u32, class: u32) -> &mut i32 {
        if self.many.is_empty() {
            return &mut self.outputs[link as usize].rooms[class as usize % CLASSES];
        }
        &mut self.many[link as usize].rooms[class as usize]
    }

    /// Adds to the room ahead of an output for packets of a class.
    #[inline(always)]
    pub(super) fn add_room(&mut self, link: u32, class: u32, packets: i32) {
        if !self.many.is_empty() {
            return self.add_room_of_many(link, class, packets);
        }
        self.outputs[link as usize].add_room(class, packets);
        if self.bubble {
            // Class 1 and class 2 go to the same buffer.
            self.outputs[link as usize].add_room(3 - class, packets);
        }
    }

    #[inline(never)]
    fn add_room_of_many(&mut self, link: u32, class: u32, packets: i32) {
        let rooms = &mut self.many[link as usize].rooms;
        rooms[class as usize] += packets;
        if self.bubble {
            rooms[3 - class as usize] += packets;
        }
    }

    /// Returns the channel in which a packet enters the buffer behind a step of its way.
    pub(super) fn lane(&self, step: Step) -> u32 {
        if self.bubble { 0 } else { step.class().saturating_sub(1) }
    }

    /// Notes the way of a packet from this place on, given its last link ([`NONE`]: it comes from its source) and
    /// channel; adds the channels that it needs.
    pub(super) fn note_way(&mut self, net: &Net, place: u32, from: u32, lane: u32) {
        self.make_lanes(self.change.needed(net, place, from, lane));
        if self.steps.len() < net.routes.len() {
            self.steps.resize(net.routes.len(), Step { link: NONE, request: 0 });
        }
        let (mut from, mut lane) = (from, lane);
        for place in place.. {
            let link = net.link(place);
            if link >= ASK {
                self.steps[place as usize] = Step { link, request: 0 };
                break;
            }
            let input = match from {
                NONE => self.sources[link as usize],
                _ => self.buffers[from as usize].1 + lane,
            };
            let ahead = match self.bubble {
                true => u32::from(self.change.leaves_bubble(from, link)),
                false if self.lanes == 1 => 0,
                false => self.change.next(net, place, from, lane, link),
            };
            let class = if net.link(place + 1) == NONE { 0 } else { 1 + ahead };
            let step = Step { link, request: input << CLASS_BITS | class };
            self.steps[place as usize] = step;
            (from, lane) = (link, self.lane(step));
        }
    }

    /// Returns the room for packets of a class in an empty buffer.
    pub(super) fn empty_room(&self, class: u32) -> i32 {
        match class {
            0 => 1,
            2 if self.bubble => self.capacity - 1,
            _ => self.capacity,
        }
    }

    /// Returns the input that the arbiter of an output with many inputs or classes chooses, with its order.
    #[inline(never)]
    pub(super) fn search(&self, net: &Net, link: u32) -> Option<(u64, u32)> {
        let (output, many) = (&self.outputs[link as usize], &self.many[link as usize]);
        let (first, bit) = ((output.turn / 64) as usize, output.turn % 64);
        let mut best = None;
        // From the input in turn on, and round to it again.
        for step in 0..=many.words {
            let word = if first + step < many.words { first + step } else { first + step - many.words };
            let fits = many.rooms.iter().zip(many.wants.iter().skip(word).step_by(many.words));
            let bits = fits.fold(0, |bits, (&room, &wants)| if room > 0 { bits | wants } else { bits });
            let bits = match step {
                0 => bits & (!0 << bit),
                _ if step == many.words => bits & !(!0 << bit),
                _ => bits,
            };
            best = self.choose(net, link, bits, word as u32 * 64, best);
            if best.is_some() && self.arbitration == super::Arbitration::RoundRobin {
                break;
            }
        }
        best
    }

    /// Lays out the requests for all outputs; there are none, and all buffers are empty.
    pub(super) fn lay_requests(&mut self) {
        // By the first queue of a switch: the number of its inputs.
        let mut inputs = vec![0; self.queues.len() + 1];
        let mut switch = 0;
        for (number, queue) in self.queues.iter().enumerate() {
            switch = if queue.index == 0 && queue.first as usize == number { number } else { switch };
            inputs[switch] = queue.index + 1;
        }
        let rooms: Vec<i32> = (0..self.classes()).map(|class| self.empty_room(class)).collect();
        let words = |first: u32| {
            let switch = self.queues.get(first as usize).map_or(0, |queue| queue.first);
            inputs[switch as usize].div_ceil(64).max(1) as usize
        };
        self.many.clear();
        if rooms.len() > CLASSES || self.outputs.iter().any(|output| words(output.first) > 1) {
            let many = |words| ManyRequests { words, wants: Vec::new(), rooms: rooms.clone() };
            self.many = self.outputs.iter().map(|output| many(words(output.first))).collect();
        }
        for output in &mut self.outputs {
            (output.wants, output.ready) = ([0; CLASSES], 0);
            output.rooms.iter_mut().zip(&rooms).for_each(|(to, room)| *to = *room);
        }
    }

    /// Gives each link `lanes` virtual channels, if it has fewer. The contents of existing channels do not
    /// change, and all arbiters see them in the same order.
    pub(in crate::transport::packet) fn make_lanes(&mut self, lanes: u32) {
        if lanes <= self.lanes {
            return;
        }
        let (mut queues, mut moved): (Vec<Queue>, Vec<u32>) = (Vec::new(), Vec::new());
        let (mut at, mut index) = (0, 0);
        while at < self.queues.len() {
            let held = self.queues_of(at as u32);
            let Queue { filled, lane, index: old, .. } = held[0];
            index = if old == 0 { 0 } else { index };
            moved.extend((0..held.len()).map(|column| (queues.len() + column) as u32));
            let more = if filled != SOURCE && lane + 1 == self.lanes { lanes - self.lanes } else { 0 };
            for lane in lane..=lane + more {
                let first = queues.len() as u32;
                queues.extend(held.iter().map(|queue| match lane == queue.lane {
                    true => Queue { index, first, ..*queue },
                    false => Queue { head: NONE, tail: NONE, class: 0, lane, index, first, serving: false, ..*queue },
                }));
                index += 1;
            }
            at += held.len();
        }
        let new_index = |queue: u32| queues[moved[queue as usize] as usize].index;
        let (classes, count) = (self.classes(), self.outputs.len() as u32);
        let (mut rooms, mut requests) = (Vec::new(), Vec::new());
        for (link, class) in (0..count).flat_map(|link| (0..classes).map(move |class| (link, class))) {
            rooms.push((link, class, *self.room(link, class)));
            for word in 0..self.words(link) {
                let mut bits = self.requests(link, class, word);
                while bits != 0 {
                    let input = word * 64 + bits.trailing_zeros();
                    requests.push((link, class, new_index(self.queue_for(link, input))));
                    bits &= bits - 1;
                }
            }
        }
        for step in self.steps.iter_mut().filter(|step| step.link < ASK) {
            let output = &self.outputs[step.link as usize];
            let input = new_index(output.first + step.input() * output.each);
            step.request = input << CLASS_BITS | step.class();
        }
        for link in 0..count as usize {
            let output = &self.outputs[link];
            let of_input = |input: u32| new_index(output.first + input * output.each);
            let source = self.sources[link];
            self.sources[link] = if source == NONE { NONE } else { of_input(source) };
            let turn = if output.turn > 0 { of_input(output.turn - 1) + 1 } else { 0 };
            let rename = |queue: u32| moved.get(queue as usize).copied().unwrap_or(NONE);
            let buffer = self.buffers[link].0;
            self.buffers[link] = (rename(buffer), new_index(buffer));
            let output = &mut self.outputs[link];
            (output.turn, output.first, output.serves) = (turn, rename(output.first), rename(output.serves));
        }
        (self.queues, self.lanes) = (queues, lanes);
        self.lay_requests();
        for (link, class, room) in rooms.into_iter().filter(|&(_, class, _)| class > 0) {
            *self.room(link, class) = room;
        }
        for (link, class, input) in requests {
            match self.many.is_empty() {
                true => self.outputs[link as usize].request(class, input),
                false => self.set_request(link, class, input, true),
            }
        }
        for link in 0..count {
            let inputs = self.words(link) * 64;
            let turn = &mut self.outputs[link as usize].turn;
            *turn = if *turn < inputs { *turn } else { 0 };
        }
    }
}
