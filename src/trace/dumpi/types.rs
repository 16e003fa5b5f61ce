//! Sizes of datatypes: from the file, and from the calls that make them.

use rustc_hash::FxHashMap;

use super::record::Record;

/// Sizes of the datatypes of C from number 0 on \[B\]: error, null, char, signed and unsigned char, byte, wchar,
/// short, unsigned short, int, unsigned, long, unsigned long, float, double, long double, three of long long,
/// packed, lb, ub, float_int, double_int, long_int, short_int, 2int, long_double_int. Those of 64-bit Linux, for
/// files without sizes.
const BASIC: [u64; 28] = [0, 0, 1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20];

/// Sizes of the datatypes of a rank \[B\], by number.
#[derive(Debug)]
pub(super) struct Types {
    sizes: FxHashMap<i32, u64>,
}

impl Types {
    /// Starts with the sizes that the file has.
    pub fn new(sizes: &[i32]) -> Self {
        let basic = (0..).zip(BASIC);
        let from_file = (0..).zip(sizes).filter(|(_, size)| **size > 0).map(|(number, &size)| (number, size as u64));
        Self { sizes: basic.chain(from_file).collect() }
    }

    /// Returns the size of a datatype \[B\], if it is known.
    pub fn size(&self, number: i32) -> Option<u64> {
        self.sizes.get(&number).copied()
    }

    /// Takes a call that makes a datatype or tells its size.
    pub fn take(&mut self, record: &Record) {
        let Record { numbers, arrays, .. } = record;
        let whole = |number: i32| u64::from(number.max(0).cast_unsigned());
        let sum = |list: &[i32]| list.iter().fold(0_u64, |sum, &length| sum.saturating_add(whole(length)));
        let product = |list: &[i32]| list.iter().fold(1_u64, |all, &length| all.saturating_mul(whole(length)));
        // Number of elements of the old type, the old type, and the new one.
        let (elements, old, new) = match record.function.name {
            "Type_contiguous" => (whole(numbers[0]), numbers[1], numbers[2]),
            "Type_vector" | "Type_hvector" | "Type_create_hvector" => {
                (whole(numbers[0]).saturating_mul(whole(numbers[1])), numbers[3], numbers[4])
            }
            "Type_indexed" | "Type_hindexed" | "Type_create_hindexed" => (sum(&arrays[0]), numbers[1], numbers[2]),
            "Type_create_indexed_block" => {
                (whole(numbers[0]).saturating_mul(whole(numbers[1])), numbers[2], numbers[3])
            }
            "Type_create_resized" => (1, numbers[0], numbers[3]),
            "Type_dup" => (1, numbers[0], numbers[1]),
            "Type_create_subarray" => (product(&arrays[1]), numbers[2], numbers[3]),
            // The share of each process, if all have the same.
            "Type_create_darray" => (product(&arrays[0]) / whole(numbers[0]).max(1), numbers[4], numbers[5]),
            "Type_struct" | "Type_create_struct" => {
                let types = arrays.iter().rfind(|array| !array.is_empty()).map_or(&[][..], Vec::as_slice);
                let parts = arrays[0].iter().zip(types);
                let sizes = parts.map(|(&length, &old)| Some(whole(length).saturating_mul(self.size(old)?)));
                // Old versions have a number in the place of an array.
                let new = numbers[1..].iter().rfind(|&&number| number != 0);
                if let (Some(size), Some(&new)) = (sizes.sum::<Option<u64>>(), new) {
                    self.sizes.insert(new, size);
                }
                return;
            }
            "Type_size" => {
                self.sizes.insert(numbers[0], whole(numbers[1]));
                return;
            }
            _ => return,
        };
        if let Some(size) = self.size(old) {
            self.sizes.insert(new, elements.saturating_mul(size));
        }
    }
}
