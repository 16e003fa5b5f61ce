//! Folding of a sequence into loops.
//!
//! Elements are appended one at a time to a stack. After each, the end of the stack is examined:
//!
//! ```text
//! end of the stack                         condition                                     becomes
//! ... loop(b1 .. bL) b1 .. bL              the elements after the loop continue it        one more iteration
//! ... e1 .. eL  e1 .. eL                   twice the same, all numbers equal             a loop of two iterations
//! ... e1 .. eL  e1' .. eL'  e1'' .. eL''   three times the same, numbers grow evenly     a loop of three, with steps
//! ```
//! The new loop is an element like any other, so loops nest, inner ones first. The count of an inner loop is
//! one of its numbers and may grow, too (triangular loops). Of several lengths L the shortest is taken. Two
//! iterations are not enough if numbers differ, because any two sequences would match.
//!
//! The last loop on the stack may still grow. So elements that end in it are compared only when the next
//! element does not begin its body again, and at the end.
//!
//! Candidates for L are distances to earlier elements that equal the last one. Each is tried by comparing two
//! hashes of ranges (differences of prefix hashes), and a match is then compared exactly. Cost: a constant
//! number of candidates for each element and a comparison for each fold, so near linear in the number of
//! elements.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

/// Largest number of earlier elements with the same numbers that are tried.
const SAME: usize = 16;
/// Largest number of earlier elements that are tried if only numbers differ.
const ALIKE: usize = 64;
/// Largest number of earlier loops that are tried for one more iteration.
const LOOPS: usize = 32;
/// Largest number of numbers in a loop's body: a longer loop is not made.
const MOST_NUMBERS: usize = 1 << 22;

/// Multiplier of the hash of a range.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15 | 1;

/// Table of forms: elements without their numbers.
#[derive(Debug)]
pub(super) struct Forms<K> {
    numbers: FxHashMap<Form<K>, u32>,
    forms: Vec<StoredForm<K>>,
}

/// Element without its numbers.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Form<K> {
    /// Element that is not a loop.
    Leaf(K),
    /// Loop. Its numbers are its count, then the numbers of its body in the first iteration.
    Loop {
        /// Forms of the elements of the body.
        body: Box<[u32]>,
        /// Growth of each number of the body from one iteration to the next.
        steps: Box<[i64]>,
    },
}

#[derive(Debug)]
struct StoredForm<K> {
    form: Form<K>,
    /// Modulus of each number; 0 for none.
    moduli: Box<[u32]>,
    /// First leaf of the element.
    first: u32,
    /// Hash of the forms of the body, for a loop.
    body_hash: u64,
}

impl<K: Clone + Eq + Hash> Forms<K> {
    pub fn new() -> Self {
        Self { numbers: FxHashMap::default(), forms: Vec::new() }
    }

    /// Returns the form of a leaf; `moduli` returns the moduli of its numbers.
    pub fn leaf(&mut self, key: K, moduli: impl Fn(&K) -> Box<[u32]>) -> u32 {
        let form = Form::Leaf(key);
        if let Some(&number) = self.numbers.get(&form) {
            return number;
        }
        let moduli = if let Form::Leaf(key) = &form { moduli(key) } else { Box::default() };
        let number = self.forms.len() as u32;
        self.forms.push(StoredForm { form: form.clone(), moduli, first: number, body_hash: 0 });
        self.numbers.insert(form, number);
        number
    }

    fn a_loop(&mut self, body: Box<[u32]>, steps: Box<[i64]>) -> u32 {
        let form = Form::Loop { body, steps };
        if let Some(&number) = self.numbers.get(&form) {
            return number;
        }
        let Form::Loop { body, .. } = &form else { return 0 };
        let mut moduli = vec![0];
        let mut body_hash = 0_u64;
        for &part in body {
            moduli.extend_from_slice(&self.forms[part as usize].moduli);
            body_hash = body_hash.wrapping_mul(BASE).wrapping_add(mixed(u64::from(part)));
        }
        let first = self.forms[body[0] as usize].first;
        let number = self.forms.len() as u32;
        self.forms.push(StoredForm { form: form.clone(), moduli: moduli.into(), first, body_hash });
        self.numbers.insert(form, number);
        number
    }

    pub fn form(&self, number: u32) -> &Form<K> {
        &self.forms[number as usize].form
    }
}

/// Element of the stack.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Element {
    pub form: u32,
    pub numbers: Box<[i64]>,
}

/// Folder of one sequence.
pub(super) struct Folder<'a, K> {
    forms: &'a mut Forms<K>,
    stack: Vec<Element>,
    /// Hashes of the stack up to each position: of the forms, and of the forms and numbers.
    prefix: Vec<(u64, u64)>,
    /// Hash of the form and numbers of each element.
    exact: Vec<u64>,
    /// Powers of BASE.
    powers: Vec<u64>,
    /// Positions of loops, ascending.
    loops: Vec<u32>,
    alike: FxHashMap<u32, Vec<u32>>,
    same: FxHashMap<u64, Vec<u32>>,
}

fn mixed(value: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(value);
    hasher.finish() ^ hasher.finish() >> 29
}

/// Returns `a - b` modulo `modulus`, the result nearest to 0.
fn difference(a: i64, b: i64, modulus: u32) -> i64 {
    let difference = a.wrapping_sub(b);
    if modulus == 0 { difference } else { nearest(difference, modulus) }
}

/// Returns the representative of a number modulo m that is nearest to 0, the positive one of two.
pub(super) fn nearest(value: i64, modulus: u32) -> i64 {
    let modulus = i64::from(modulus.max(1));
    let value = value.rem_euclid(modulus);
    if 2 * value > modulus { value - modulus } else { value }
}

impl<'a, K: Clone + Eq + Hash> Folder<'a, K> {
    pub fn new(forms: &'a mut Forms<K>) -> Self {
        Self {
            forms,
            stack: Vec::new(),
            prefix: vec![(0, 0)],
            exact: Vec::new(),
            powers: vec![1],
            loops: Vec::new(),
            alike: FxHashMap::default(),
            same: FxHashMap::default(),
        }
    }

    /// Appends a leaf of the table of forms.
    pub fn push(&mut self, form: u32, numbers: Box<[i64]>) {
        self.close(Some(form));
        self.append(Element { form, numbers });
        self.reduce();
    }

    /// Returns the folded sequence.
    pub fn finish(mut self) -> Vec<Element> {
        self.close(None);
        self.stack
    }

    /// Folds elements that end in a loop on top of the stack, unless the next element begins the loop's body
    /// again.
    fn close(&mut self, next: Option<u32>) {
        while let Some(last) = self.stack.last() {
            let known = &self.forms.forms[last.form as usize];
            if matches!(known.form, Form::Leaf(_)) || next == Some(known.first) || !self.reduce() {
                return;
            }
        }
    }

    fn append(&mut self, element: Element) {
        let at = self.stack.len() as u32;
        let form = mixed(u64::from(element.form));
        let mut hasher = FxHasher::default();
        hasher.write_u64(form);
        element.numbers.hash(&mut hasher);
        let exact = mixed(hasher.finish());
        let (forms, all) = self.prefix[at as usize];
        self.prefix.push((forms.wrapping_mul(BASE).wrapping_add(form), all.wrapping_mul(BASE).wrapping_add(exact)));
        if self.powers.len() < self.prefix.len() {
            let last = self.powers[self.powers.len() - 1];
            self.powers.push(last.wrapping_mul(BASE));
        }
        self.exact.push(exact);
        self.same.entry(exact).or_default().push(at);
        self.alike.entry(element.form).or_default().push(at);
        if matches!(self.forms.form(element.form), Form::Loop { .. }) {
            self.loops.push(at);
        }
        self.stack.push(element);
    }

    /// Pops elements until `length` are left.
    fn shrink(&mut self, length: usize) {
        while self.stack.len() > length {
            let Some(element) = self.stack.pop() else { return };
            self.prefix.pop();
            if let Some(positions) = self.exact.pop().and_then(|exact| self.same.get_mut(&exact)) {
                positions.pop();
            }
            if let Some(positions) = self.alike.get_mut(&element.form) {
                positions.pop();
            }
            if self.loops.last().is_some_and(|&at| at as usize >= self.stack.len()) {
                self.loops.pop();
            }
        }
    }

    /// Returns the hash of the forms of a range.
    fn form_hash(&self, from: usize, to: usize) -> u64 {
        self.prefix[to].0.wrapping_sub(self.prefix[from].0.wrapping_mul(self.powers[to - from]))
    }

    /// Returns the hash of the forms and numbers of a range.
    fn full_hash(&self, from: usize, to: usize) -> u64 {
        self.prefix[to].1.wrapping_sub(self.prefix[from].1.wrapping_mul(self.powers[to - from]))
    }

    /// Folds the end of the stack once. Returns false if nothing can be folded.
    fn reduce(&mut self) -> bool {
        self.extend_loop() || self.fold_pair() || self.fold_triple()
    }

    /// Adds one iteration to an existing loop.
    fn extend_loop(&mut self) -> bool {
        let end = self.stack.len();
        let found = self.loops.iter().rev().take(LOOPS).map(|&at| at as usize).find(|&at| {
            let element = &self.stack[at];
            let known = &self.forms.forms[element.form as usize];
            let Form::Loop { body, steps } = &known.form else { return false };
            if end - at - 1 != body.len() || self.form_hash(at + 1, end) != known.body_hash {
                return false;
            }
            let same_forms = body.iter().zip(&self.stack[at + 1..end]).all(|(form, part)| *form == part.form);
            let count = element.numbers[0];
            let moduli = &known.moduli[1..];
            let expected = element.numbers[1..].iter().zip(steps).zip(moduli);
            let found = self.stack[at + 1..end].iter().flat_map(|part| part.numbers.iter());
            same_forms
                && expected.zip(found).all(|(((first, step), &modulus), &found)| {
                    difference(found, first.wrapping_add(step.wrapping_mul(count)), modulus) == 0
                })
        });
        let Some(at) = found else { return false };
        let Element { form, mut numbers } = self.stack[at].clone();
        self.shrink(at);
        numbers[0] += 1;
        self.append(Element { form, numbers });
        true
    }

    /// Makes a loop of two equal iterations.
    fn fold_pair(&mut self) -> bool {
        let end = self.stack.len();
        let Some(exact) = self.exact.last() else { return false };
        let Some(positions) = self.same.get(exact) else { return false };
        let length = positions.iter().rev().skip(1).take(SAME).find_map(|&at| {
            let length = end - 1 - at as usize;
            let fits = 2 * length <= end
                && self.full_hash(end - 2 * length, end - length) == self.full_hash(end - length, end)
                && self.stack[end - 2 * length..end - length] == self.stack[end - length..];
            fits.then_some(length)
        });
        length.is_some_and(|length| self.make(length, 2))
    }

    /// Makes a loop of three iterations whose numbers grow evenly.
    fn fold_triple(&mut self) -> bool {
        let end = self.stack.len();
        let Some(last) = self.stack.last() else { return false };
        let Some(positions) = self.alike.get(&last.form) else { return false };
        let length = positions.iter().rev().skip(1).take(ALIKE).find_map(|&at| {
            let length = end - 1 - at as usize;
            if 3 * length > end {
                return None;
            }
            let last = self.form_hash(end - length, end);
            let fits = self.form_hash(end - 2 * length, end - length) == last
                && self.form_hash(end - 3 * length, end - 2 * length) == last
                // The last elements are the most likely to differ.
                && (0..length).rev().all(|i| {
                    let [a, b, c] = [3, 2, 1].map(|back| &self.stack[end - back * length + i]);
                    let moduli = &self.forms.forms[a.form as usize].moduli;
                    a.form == b.form
                        && b.form == c.form
                        && a.numbers.iter().zip(&b.numbers).zip(&c.numbers).zip(moduli).all(
                            |(((&a, &b), &c), &modulus)| difference(b, a, modulus) == difference(c, b, modulus),
                        )
                });
            fits.then_some(length)
        });
        length.is_some_and(|length| self.make(length, 3))
    }

    /// Makes the last `times * length` elements a loop.
    fn make(&mut self, length: usize, times: usize) -> bool {
        let end = self.stack.len();
        let start = end - times * length;
        let mut body = Vec::with_capacity(length);
        let mut numbers = vec![times as i64];
        let mut steps = Vec::new();
        for i in start..start + length {
            let (first, second) = (&self.stack[i], &self.stack[i + length]);
            body.push(first.form);
            let moduli = &self.forms.forms[first.form as usize].moduli;
            for ((&a, &b), &modulus) in first.numbers.iter().zip(&second.numbers).zip(moduli) {
                numbers.push(a);
                steps.push(difference(b, a, modulus));
            }
        }
        if numbers.len() > MOST_NUMBERS {
            return false;
        }
        let form = self.forms.a_loop(body.into(), steps.into());
        self.shrink(start);
        self.append(Element { form, numbers: numbers.into() });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folds a sequence of leaves, each a character and a number, and formats the result.
    fn folded(leaves: &[(char, i64)]) -> String {
        let mut forms = Forms::new();
        let mut folder = Folder::new(&mut forms);
        for &(leaf, number) in leaves {
            let form = folder.forms.leaf(leaf, |_| [0].into());
            folder.push(form, [number].into());
        }
        let elements = folder.finish();
        let mut text = String::new();
        for element in &elements {
            show(&forms, element.form, &mut element.numbers.iter(), &[], &mut text);
        }
        text
    }

    fn show<'a>(
        forms: &Forms<char>,
        form: u32,
        numbers: &mut impl Iterator<Item = &'a i64>,
        _: &[i64],
        text: &mut String,
    ) {
        let number = *numbers.next().unwrap();
        match forms.form(form) {
            Form::Leaf(leaf) => *text += &format!("{leaf}{number} "),
            Form::Loop { body, steps } => {
                *text += &format!("{number}x[");
                for &part in body {
                    show(forms, part, numbers, &[], text);
                }
                let steps: Vec<_> = steps.iter().map(i64::to_string).collect();
                *text = format!("{}; {}] ", text.trim_end(), steps.join(" "));
            }
        }
    }

    fn plain(text: &str) -> Vec<(char, i64)> {
        text.chars().map(|leaf| (leaf, 0)).collect()
    }

    #[test]
    fn what_is_repeated_is_stored_once() {
        assert_eq!(folded(&plain("abcabcabc")), "3x[a0 b0 c0; 0 0 0] ");
        assert_eq!(folded(&plain("xaaabaaabaaaby")), "x0 3x[3x[a0; 0] b0; 0 0 0] y0 ");
        assert_eq!(folded(&plain("abcd")), "a0 b0 c0 d0 ");
    }

    #[test]
    fn numbers_that_grow_evenly_fold_from_three_iterations_on() {
        assert_eq!(folded(&[('a', 8), ('a', 7)]), "a8 a7 ");
        assert_eq!(folded(&[('a', 8), ('a', 7), ('a', 6), ('a', 5)]), "4x[a8; -1] ");
        assert_eq!(folded(&[('a', 8), ('a', 7), ('a', 5)]), "a8 a7 a5 ");
    }

    #[test]
    fn triangular_loops_fold() {
        let mut leaves = Vec::new();
        for i in 0..6_i64 {
            leaves.push(('x', i));
            leaves.extend((0..9 - i).map(|j| ('a', 100 * i + j)));
        }
        // The count of the inner loop falls by 1, its first number rises by 100, its step stays.
        assert_eq!(folded(&leaves), "6x[x0 9x[a0; 1] ; 1 -1 100] ".replace("] ;", "];"));
        leaves.reverse();
        assert!(folded(&leaves).starts_with("6x["), "growing loops, too: {}", folded(&leaves));
    }

    #[test]
    fn a_loop_that_may_still_grow_is_not_taken_for_the_end_of_an_iteration() {
        // The inner loop has 2, 3, 4 iterations: after two iterations the second loop looks like the first.
        assert_eq!(folded(&plain("xaaxaaaxaaaa")), "3x[x0 2x[a0; 0]; 0 1 0] ");
    }
}
