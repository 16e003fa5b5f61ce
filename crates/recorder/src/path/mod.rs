//! Call paths: the caller of the function that made a call, the caller of that one, and so on.
//!
//! All paths of the program form a tree: the children of a return address are the return addresses of its
//! callers. Each node knows the step from its function to the caller (`rule`). So a known path costs a few
//! words read from the stack for each caller, and tables are consulted only for a new node. The stack is
//! walked at every call: no shorter check can tell which callers there are.
//!
//! Only the thread's own stack is read, between the stack pointer and its beginning (`stack`), and a return
//! address outside of any code ends the path. So a wrong table gives at worst a wrong path.
//!
//! In a program written in Python, the path continues from the interpreter's own functions, which are left
//! out, to the functions of Python ([`python`]).

pub mod python;
mod rule;
mod stack;

use hayase_trace::{Frame, Site, Writer};
use rustc_hash::FxHashMap;

use crate::entry::Caller;
use python::Python;
use rule::{Registers, Rule};
pub use stack::Stack;

/// Default number of callers kept for each call: enough to leave the layers of most libraries.
pub const DEPTH: usize = 8;
/// Largest number of callers that can be kept.
pub const DEEPEST: usize = 64;
/// Largest number of nodes; paths that would need more end early.
const MAX_NODES: usize = 1 << 18;

/// Root of the tree.
const ROOT: u32 = 0;
/// Child for a return address that is known to be no caller.
const NOBODY: u32 = u32::MAX;

/// A return address, reached through the nodes above it.
#[derive(Debug)]
struct Node {
    /// Return address; for a function of Python, the key of its instruction.
    back: usize,
    rule: Rule,
    above: u32,
    /// Child visited last.
    last: u32,
    /// Call site that ends here, plus one.
    site: u32,
    what: NodeKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NodeKind {
    Compiled,
    /// A function of the interpreter: the path continues in Python.
    Interpreter,
    Python,
}

/// Call paths of a program.
#[derive(Debug)]
pub struct Paths {
    depth: usize,
    nodes: Vec<Node>,
    below: FxHashMap<(u32, usize), u32>,
    /// Places of the functions of Python, by node.
    places: FxHashMap<u32, String>,
    python: Option<Python>,
    sites: u32,
}

impl Paths {
    /// Creates an empty tree that keeps up to `depth` callers of each call.
    pub fn new(depth: usize) -> Self {
        let root = Node { back: 0, rule: Rule::End, above: ROOT, last: ROOT, site: 0, what: NodeKind::Compiled };
        Self {
            depth,
            nodes: vec![root],
            below: FxHashMap::default(),
            places: FxHashMap::default(),
            python: None,
            sites: 0,
        }
    }

    /// Follows paths into the functions of this interpreter.
    pub fn follow(&mut self, python: Python) {
        self.python = Some(python);
    }

    /// Returns the number of the site of a call, from 1. A new site is written to the trace first.
    #[inline]
    pub fn site<W: std::io::Write>(&mut self, caller: Caller, stack: Stack, writer: Option<&mut Writer<W>>) -> u32 {
        let node = self.walk(caller, stack);
        match self.nodes[node as usize].site {
            0 => self.new_site(node, writer),
            site => site,
        }
    }

    /// Returns the node of a call's path.
    #[inline]
    fn walk(&mut self, caller: Caller, stack: Stack) -> u32 {
        let Some(mut node) = self.step_to(ROOT, caller.back) else { return ROOT };
        let memory = stack.above(caller.stack);
        let mut registers = Registers { stack: caller.stack, frame: caller.frame };
        for _ in 0..self.depth {
            let Some((back, above)) = self.nodes[node as usize].rule.step(registers, memory) else { break };
            let Some(next) = self.step_to(node, back) else { break };
            (node, registers) = (next, above);
        }
        if self.nodes[node as usize].what == NodeKind::Interpreter { self.walk_python(node) } else { node }
    }

    /// Steps from a node to that of a caller; `None` if the path ends.
    #[inline]
    fn step_to(&mut self, from: u32, back: usize) -> Option<u32> {
        let last = self.nodes[from as usize].last;
        if self.nodes[last as usize].back == back && last != ROOT {
            return Some(last);
        }
        let node = match self.below.get(&(from, back)) {
            Some(&NOBODY) => return None,
            Some(&node) => node,
            None => self.new_caller(from, back)?,
        };
        self.nodes[from as usize].last = node;
        Some(node)
    }

    /// Adds a return address that is not yet a child of this node.
    #[cold]
    fn new_caller(&mut self, from: u32, back: usize) -> Option<u32> {
        let found = if self.depth > 0 || from != ROOT { rule::find(back) } else { None };
        if found.is_none() && from != ROOT {
            // Not in the code of any file: neither a function nor a caller.
            if self.below.len() < MAX_NODES {
                self.below.insert((from, back), NOBODY);
            }
            return None;
        }
        let (module, rule) = found.unwrap_or((rule::Module::default(), Rule::End));
        let interpreter = self.python.as_ref().is_some_and(|python| python.base() == module.base && from != ROOT);
        let (rule, what) = if interpreter { (Rule::End, NodeKind::Interpreter) } else { (rule, NodeKind::Compiled) };
        self.insert(Node { back, rule, above: from, last: ROOT, site: 0, what })
    }

    fn insert(&mut self, node: Node) -> Option<u32> {
        if self.nodes.len() >= MAX_NODES {
            return None;
        }
        let number = self.nodes.len() as u32;
        self.below.insert((node.above, node.back), number);
        self.nodes.push(node);
        Some(number)
    }

    /// Continues the path through the functions of Python.
    #[inline]
    fn walk_python(&mut self, from: u32) -> u32 {
        let Some(python) = self.python.take() else { return from };
        let mut node = from;
        let mut frame = python.innermost();
        for _ in 0..self.depth.max(1) {
            let Some(running) = frame else { break };
            let key = running.key();
            let last = self.nodes[node as usize].last;
            node = if last != ROOT && self.nodes[last as usize].back == key {
                last
            } else {
                let known = self.below.get(&(node, key)).copied();
                let Some(next) = known.or_else(|| self.new_place(node, key, &running, &python)) else { break };
                self.nodes[node as usize].last = next;
                next
            };
            frame = python.caller(&running);
        }
        self.python = Some(python);
        node
    }

    #[cold]
    fn new_place(&mut self, above: u32, key: usize, frame: &python::RunningFunction, python: &Python) -> Option<u32> {
        let place = python.place(frame)?;
        let node =
            self.insert(Node { back: key, rule: Rule::End, above, last: ROOT, site: 0, what: NodeKind::Python })?;
        self.places.insert(node, place);
        Some(node)
    }

    /// Adds the site of a path that no call has had before.
    #[cold]
    fn new_site<W: std::io::Write>(&mut self, node: u32, writer: Option<&mut Writer<W>>) -> u32 {
        let mut callers = Vec::new();
        let (mut at, mut address) = (node, 0);
        while at != ROOT {
            let Node { back, above, what, .. } = self.nodes[at as usize];
            // Address of the call instruction: the return address minus one.
            address = back.wrapping_sub(1) as u64;
            match what {
                NodeKind::Compiled => callers.push(Frame { address, name: String::new() }),
                NodeKind::Python => callers.push(Frame { address: 0, name: self.places[&at].clone() }),
                NodeKind::Interpreter => {}
            }
            at = above;
        }
        // The call itself is not a caller.
        callers.pop();
        callers.reverse();
        if let Some(writer) = writer {
            writer.new_site(self.sites, &Site { address, name: String::new(), callers });
        }
        self.sites += 1;
        self.nodes[node as usize].site = self.sites;
        self.sites
    }
}
