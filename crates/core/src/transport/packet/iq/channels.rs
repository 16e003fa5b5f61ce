//! Additional virtual channels, as routes need them.

use super::super::net::NONE;
use super::{InputQueues, Port, Queue, SOURCE};

impl<const ASKS: bool> InputQueues<ASKS> {
    /// Gives each link `lanes` virtual channels, if it has fewer. The contents of existing channels do not
    /// change, and all arbiters see them in the same order.
    pub(in crate::transport::packet) fn make_lanes(&mut self, lanes: u32) {
        if lanes <= self.lanes {
            return;
        }
        let old_ports = self.ports.len();
        let (mut ports, mut queues, mut serving) = (Vec::new(), Vec::new(), Vec::new());
        let mut moved: Vec<u32> = Vec::with_capacity(old_ports);
        let mut first = 0;
        for old in 0..old_ports {
            let port = self.ports[old];
            if port.index == 0 {
                first = ports.len();
            }
            let each = self.queues_of(old as u32);
            let start = ports.len() as u32;
            let mut add = |lane: u32, held: &[Queue], serves: bool| {
                let index = (ports.len() - first) as u32;
                ports.push(Port { lane, index, queue: queues.len() as u32, ..port });
                queues.extend_from_slice(held);
                serving.push(serves);
            };
            moved.push(start);
            add(port.lane, &self.queues[port.queue as usize..port.queue as usize + each], self.serving[old]);
            if port.link != SOURCE && port.lane + 1 == self.lanes {
                (self.lanes..lanes).for_each(|lane| add(lane, &vec![Queue { head: NONE, tail: NONE }; each], false));
            }
        }
        let more = vec![self.capacity; (lanes - self.lanes) as usize];
        let of_link = self.room.chunks_exact(self.lanes as usize);
        self.room = of_link.flat_map(|room| room.iter().chain(&more).copied().collect::<Vec<_>>()).collect();
        // The ports of the next switch begin behind the last port of each switch.
        let mut counts = vec![0; ports.len()];
        let mut start = 0;
        for (number, port) in ports.iter().enumerate() {
            start = if port.index == 0 { number } else { start };
            counts[start] = port.index + 1;
        }
        let old_requests = std::mem::take(&mut self.requests);
        let rename = |port: u32| moved.get(port as usize).copied().unwrap_or(NONE);
        for output in &mut self.outputs {
            let (switch, old) = (output.switch, output.requests as usize..(output.requests + output.words) as usize);
            if old.is_empty() {
                continue;
            }
            output.switch = rename(switch);
            output.words = counts.get(output.switch as usize).map_or(1, |count: &u32| count.div_ceil(64).max(1));
            output.requests = self.requests.len() as u32;
            self.requests.resize(self.requests.len() + output.words as usize, 0);
            for (word, mut bits) in old_requests[old].iter().copied().enumerate() {
                while bits != 0 {
                    let index = rename(switch + word as u32 * 64 + bits.trailing_zeros()) - output.switch;
                    self.requests[(output.requests + index / 64) as usize] |= 1 << (index % 64);
                    bits &= bits - 1;
                }
            }
            if output.turn > 0 {
                let turn = rename(switch + output.turn - 1) - output.switch + 1;
                output.turn = if turn < output.words * 64 { turn } else { 0 };
            }
            (output.buffer, output.serves) = (rename(output.buffer), rename(output.serves));
        }
        self.sources.iter_mut().for_each(|source| *source = rename(*source));
        (self.ports, self.queues, self.serving, self.lanes) = (ports, queues, serving, lanes);
    }
}
