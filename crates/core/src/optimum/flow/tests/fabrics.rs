//! Fabrics with one uniform demand: a byte from each node to each other.
use super::Case;
use crate::optimum::flow::{Demand, Links};
use crate::rng::Stream;

/// Cables (both directions), and the nodes of each switch.
pub struct Fabric {
    pub nodes: Vec<usize>,
    pub cables: Vec<(usize, usize, f64)>,
}

impl Fabric {
    fn new(nodes: Vec<usize>) -> Self {
        Self { nodes, cables: Vec::new() }
    }

    fn join(&mut self, a: usize, b: usize) {
        self.cables.push((a, b, 1.0));
    }

    /// Removes part of the cables.
    pub fn failed(mut self, part: f64, seed: u64) -> Self {
        Stream::new(seed, "failed").shuffle(&mut self.cables);
        let count = (self.cables.len() as f64 * part).round() as usize;
        self.cables.truncate(self.cables.len() - count);
        self
    }

    /// Returns the uniform demand of all nodes; `port` is the bandwidth of each node.
    pub fn uniform(&self, port: f64) -> Case {
        let n = self.nodes.len();
        let links: Vec<_> =
            self.cables.iter().flat_map(|&(a, b, c)| [(a as u32, b as u32, c), (b as u32, a as u32, c)]).collect();
        let pairs = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
        let demand = pairs.map(|(a, b)| (a as u32, b as u32, (self.nodes[a] * self.nodes[b]) as f64));
        let floor = (self.nodes.iter().sum::<usize>() - 1) as f64 / port;
        Case { links: Links::new(vec![true; n], &links), demand: Demand::new(n, demand), floor }
    }
}

pub fn torus(sizes: &[usize]) -> Fabric {
    let n = sizes.iter().product();
    let mut fabric = Fabric::new(vec![1; n]);
    for v in 0..n {
        let mut stride = 1;
        for &k in sizes {
            let x = v / stride % k;
            fabric.join(v, v - x * stride + (x + 1) % k * stride);
            stride *= k;
        }
    }
    fabric
}

/// Three-level fat-tree of switches with k ports.
pub fn fat_tree(k: usize) -> Fabric {
    let half = k / 2;
    let (edges, aggregation) = (k * half, k * half);
    let mut nodes = vec![half; edges];
    nodes.resize(edges + aggregation + half * half, 0);
    let mut fabric = Fabric::new(nodes);
    for pod in 0..k {
        for a in 0..half {
            for i in 0..half {
                fabric.join(pod * half + i, edges + pod * half + a);
                fabric.join(edges + pod * half + a, edges + aggregation + a * half + i);
            }
        }
    }
    fabric
}

/// Dragonfly with p = h, a = 2h, and one global cable between any two groups.
pub fn dragonfly(h: usize) -> Fabric {
    let a = 2 * h;
    let groups = a * h + 1;
    let mut fabric = Fabric::new(vec![h; a * groups]);
    for g in 0..groups {
        for i in 0..a {
            (0..i).for_each(|j| fabric.join(g * a + i, g * a + j));
        }
        for other in g + 1..groups {
            let (here, there) = (other - g - 1, groups - 1 - (other - g));
            fabric.join(g * a + here / h, other * a + there / h);
        }
    }
    fabric
}

/// Slim fly (McKay, Miller, Siran) of a prime q = 1 mod 4.
pub fn slim_fly(q: usize, p: usize) -> Fabric {
    let root = (2..q)
        .find(|&g| {
            (1..q - 1)
                .scan(1, |x, _| {
                    Some({
                        *x = *x * g % q;
                        *x
                    })
                })
                .all(|x| x != 1)
        })
        .unwrap();
    let power = |e: usize| (0..e).fold(1, |x, _| x * root % q);
    let even: Vec<usize> = (0..(q - 1) / 2).map(|i| power(2 * i)).collect();
    let odd: Vec<usize> = (0..(q - 1) / 2).map(|i| power(2 * i + 1)).collect();
    let mut fabric = Fabric::new(vec![p; 2 * q * q]);
    for x in 0..q {
        for y in 0..q {
            for z in 0..y {
                if even.contains(&(y - z)) {
                    fabric.join(x * q + y, x * q + z);
                }
                if odd.contains(&(y - z)) {
                    fabric.join(q * q + x * q + y, q * q + x * q + z);
                }
            }
            for m in 0..q {
                let c = (y + q * q - m * x % q) % q;
                fabric.join(x * q + y, q * q + m * q + c);
            }
        }
    }
    fabric
}

/// Random regular graph: pairs of free ports, then swaps until no cable is double.
pub fn jellyfish(switches: usize, degree: usize, nodes: usize, seed: u64) -> Fabric {
    let mut stream = Stream::new(seed, "jellyfish");
    let mut ports: Vec<usize> = (0..switches * degree).map(|i| i / degree).collect();
    stream.shuffle(&mut ports);
    loop {
        let mut seen = std::collections::BTreeSet::new();
        let pairs = ports.len() / 2;
        let bad: Vec<usize> = (0..pairs)
            .filter(|&i| {
                let (a, b) = (ports[2 * i], ports[2 * i + 1]);
                a == b || !seen.insert((a.min(b), a.max(b)))
            })
            .collect();
        if bad.is_empty() {
            break;
        }
        for i in bad {
            let j = stream.below(pairs as u64) as usize;
            ports.swap(2 * i, 2 * j + 1);
        }
    }
    let mut fabric = Fabric::new(vec![nodes; switches]);
    ports.chunks(2).for_each(|pair| fabric.join(pair[0], pair[1]));
    fabric
}
