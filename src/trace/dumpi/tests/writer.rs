//! Writer of files of the format, for tests: records from the table of arguments.

use super::super::functions::{Function, functions};
use super::super::record::Status;
use crate::diagnostic::Sources;

/// A record: function, time at entry and exit \[us\], arguments.
#[derive(Clone)]
pub(super) struct Call {
    name: &'static str,
    times: (u64, u64),
    numbers: Vec<i32>,
    arrays: Vec<Vec<i32>>,
    statuses: Vec<Status>,
    /// Bits of the mask: 4 processor time, 8 real time.
    clocks: u8,
}

pub(super) fn call(name: &'static str, times: (u64, u64), numbers: &[i32]) -> Call {
    let numbers = numbers.to_vec();
    Call { name, times, numbers, arrays: Vec::new(), statuses: Vec::new(), clocks: 12 }
}

impl Call {
    pub fn array(mut self, array: &[i32]) -> Self {
        self.arrays.push(array.to_vec());
        self
    }

    pub fn status(mut self, source: i32, tag: i32, bytes: i32) -> Self {
        self.statuses.push(Status { bytes, source, tag, cancelled: false });
        self
    }

    pub fn with_clocks(&self, clocks: u8) -> Self {
        Self { clocks, ..self.clone() }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let all = functions();
        let at = all.iter().position(|function| function.name == self.name).unwrap();
        let Function { arguments, .. } = all[at];
        out.extend((at as u16).to_be_bytes());
        out.push(self.clocks | 3 | 64);
        out.extend(0_u16.to_be_bytes());
        for _ in 0..self.clocks.count_ones() {
            for time in [self.times.0, self.times.1] {
                out.extend(((time / 1_000_000) as u16).to_be_bytes());
                out.extend((time % 1_000_000 * 1000).to_be_bytes()[4..].iter());
            }
        }
        let (mut numbers, mut arrays) = (self.numbers.iter().copied(), self.arrays.iter());
        let mut skips = false;
        let mut ranks = [0, 1];
        for letter in arguments.bytes() {
            skips &= letter != b')';
            if skips {
                continue;
            }
            match letter {
                b'(' => skips = ranks[0] != ranks[1],
                b'a' | b'r' | b'i' => {
                    let number = numbers.next().unwrap();
                    match letter {
                        b'a' => ranks[0] = number,
                        b'r' => ranks[1] = number,
                        _ => {}
                    }
                    out.extend(number.to_be_bytes());
                }
                b'h' => out.extend((numbers.next().unwrap() as u16).to_be_bytes()),
                b'b' => out.push(numbers.next().unwrap() as u8),
                b'l' => out.extend(0_u64.to_be_bytes()),
                b'I' | b'v' | b'w' => {
                    let array = arrays.next().unwrap();
                    out.extend((array.len() as u32).to_be_bytes());
                    array.iter().for_each(|value| out.extend(value.to_be_bytes()));
                }
                b'H' => {
                    let array = arrays.next().unwrap();
                    out.extend((array.len() as u32).to_be_bytes());
                    array.iter().for_each(|&value| out.extend((value as u16).to_be_bytes()));
                }
                b'J' => {
                    let array = arrays.next().unwrap();
                    out.extend((array.len() as u32 / 3).to_be_bytes());
                    for row in array.chunks(3) {
                        out.extend(3_u32.to_be_bytes());
                        row.iter().for_each(|value| out.extend(value.to_be_bytes()));
                    }
                }
                b's' => {
                    out.extend((self.statuses.len() as u32).to_be_bytes());
                    for status in &self.statuses {
                        out.extend(status.bytes.to_be_bytes());
                        out.extend(status.source.to_be_bytes());
                        out.extend([u8::from(status.cancelled), 0]);
                        out.extend(status.tag.to_be_bytes());
                    }
                }
                b'A' | b'x' | b')' => {}
                other => panic!("the writer has no letter {}", char::from(other)),
            }
        }
    }
}

/// Returns the file of a rank.
pub(super) fn file(calls: &[Call]) -> Vec<u8> {
    file_on(b"host", calls)
}

/// Returns the file of a rank on a host, whose name has four letters.
pub(super) fn file_on(host: &[u8; 4], calls: &[Call]) -> Vec<u8> {
    let mut out = super::super::MAGIC.to_vec();
    out.extend([0, 0, 0, 5, 0, 0, 0, 7]);
    calls.iter().for_each(|call| call.write(&mut out));
    let count = functions().len() as u16;
    out.extend((count + 3).to_be_bytes());
    let header = out.len();
    out.extend([13, 0, 0]);
    out.extend(0_u64.to_be_bytes());
    out.extend([0, 4]);
    out.extend(host);
    out.extend([0; 10]);
    let footer = out.len();
    out.extend(0xf007_fee7_u64.to_be_bytes());
    out.resize(out.len() + 8 * usize::from(count + 1), 0);
    let labels = out.len();
    out.extend([0; 4]);
    let sizes = out.len();
    let of_types = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 16, 6, 8, 20];
    out.extend((of_types.len() as u32).to_be_bytes());
    of_types.iter().for_each(|size: &u32| out.extend(size.to_be_bytes()));
    let names = out.len();
    out.extend([0; 4]);
    out.extend(super::super::MAGIC);
    for offset in [sizes, names, labels, header, 8, footer, 0] {
        out.extend((offset as u64).to_be_bytes());
    }
    out
}

/// Returns a trace of these files: `t.meta` names them.
pub(super) fn trace(files: &[Vec<u8>]) -> Sources {
    let mut sources = Sources::default();
    sources.attach("t.meta", format!("hostname=x\nnumprocs={}\nfileprefix=t\n", files.len()).into_bytes());
    for (rank, file) in files.iter().enumerate() {
        sources.attach(format!("t-{rank:04}.bin"), file.clone());
    }
    sources
}
