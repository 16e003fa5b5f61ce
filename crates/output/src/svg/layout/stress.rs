//! Placement of the vertices of any graph: distances in the picture follow distances along the links, as well
//! as a plane allows.
//!
//! Majorisation reduces the stress, the sum over all pairs of `(|x_i - x_j| - d_ij)^2 / d_ij^2`. Each vertex
//! in turn moves to the mean of the places that its distances from all other vertices suggest. The start is
//! classical scaling: the two directions in which the distances differ most. So the outcome depends on the
//! graph alone. Square roots are the only functions used, so the places are the same on any machine.
//!
//! Source: Gansner, Koren, North: Graph Drawing by Stress Majorization, Graph Drawing 2004; Torgerson,
//! Multidimensional Scaling, Psychometrika 17 (1952).

use std::collections::VecDeque;

use crate::svg::canvas::Point;
use hayase::base::Arrange;

/// Room between the circles of neighbours \[px\].
const GAP: f64 = 48.0;
/// Room between unconnected parts \[px\].
const APART: f64 = 30.0;
/// Width above which a layout is folded \[px\].
const WIDEST: f64 = 1600.0;
/// Largest number of rounds of majorisation, and of steps in all rounds together.
const ROUNDS: usize = 200;
const STEPS: usize = 30_000_000;
/// Number of rounds in which vertices that touch are pushed apart.
const PUSHES: usize = 120;

/// Places vertices, each in the middle of a circle of its radius \[px\]; returns the places and the total
/// width and height. Unconnected parts stand side by side, the largest first.
///
/// Cost: O(n (n + m)) for n vertices and m links.
pub(super) fn place(neighbours: &[Vec<usize>], radii: &[f64]) -> (Vec<Point>, Point) {
    let mut parts: Vec<(Vec<usize>, Vec<Point>, Point)> = components(neighbours)
        .into_iter()
        .map(|part| {
            let mut at = connected(&part, neighbours, radii);
            fold(&mut at, part.iter().map(|&vertex| radii[vertex]).fold(0.0, f64::max));
            let least = |of: fn(&Point) -> f64| {
                at.iter().zip(&part).map(|(point, &v)| of(point) - radii[v]).fold(f64::INFINITY, f64::min)
            };
            let (left, top) = (least(|point| point.x), least(|point| point.y));
            at.iter_mut().for_each(|point| *point = point.plus(-left, -top));
            let most = |of: fn(&Point) -> f64| {
                at.iter().zip(&part).map(|(point, &v)| of(point) + radii[v]).fold(0.0, f64::max)
            };
            let size = Point::new(most(|point| point.x), most(|point| point.y));
            (part, at, size)
        })
        .collect();
    parts.arrange_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.0[0].cmp(&b.0[0])));
    let area: f64 = parts.iter().map(|(_, _, size)| (size.x + APART) * (size.y + APART)).sum();
    let widest = parts.iter().map(|(_, _, size)| size.x).fold(0.0, f64::max).max(1.3 * area.sqrt());
    let mut places = vec![Point::default(); neighbours.len()];
    let (mut x, mut y, mut row, mut all) = (0.0, 0.0, 0.0_f64, Point::default());
    for (part, at, size) in parts {
        if x > 0.0 && x + size.x > widest {
            (x, y, row) = (0.0, y + row + APART, 0.0);
        }
        for (&vertex, point) in part.iter().zip(&at) {
            places[vertex] = point.plus(x, y);
        }
        (x, row) = (x + size.x + APART, row.max(size.y));
        all = Point::new(all.x.max(x - APART), all.y.max(y + size.y));
    }
    (places, all)
}

/// Folds a layout that is too wide, such as a long chain, into rows to and fro, so that neighbours stay
/// neighbours.
fn fold(at: &mut [Point], radius: f64) {
    let least = |of: fn(&Point) -> f64| at.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Point) -> f64| at.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
    let (left, wide) = (least(|point| point.x), most(|point| point.x) - least(|point| point.x));
    if wide <= WIDEST {
        return;
    }
    let row = most(|point| point.y) - least(|point| point.y) + 2.0 * radius + GAP;
    for point in at {
        let number = ((point.x - left) / WIDEST).floor();
        let along = point.x - left - number * WIDEST;
        let back = !(number as u64).is_multiple_of(2);
        *point = Point::new(if back { WIDEST - along } else { along }, point.y + number * row);
    }
}

/// Returns the connected components, in order of their first vertices.
fn components(neighbours: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; neighbours.len()];
    let mut parts = Vec::new();
    for start in 0..neighbours.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut part = vec![start];
        let mut next = 0;
        while let Some(&vertex) = part.get(next) {
            next += 1;
            for &other in &neighbours[vertex] {
                if !std::mem::replace(&mut seen[other], true) {
                    part.push(other);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// Places one component; returns the places in the order of its vertices.
fn connected(part: &[usize], neighbours: &[Vec<usize>], radii: &[f64]) -> Vec<Point> {
    let count = part.len();
    if count == 1 {
        return vec![Point::default()];
    }
    let distances = distances(part, neighbours, radii);
    let mut at = scaled(&distances);
    for _ in 0..ROUNDS.min(STEPS / (count * count)).max(10) {
        for i in 0..count {
            let (mut x, mut y, mut all) = (0.0, 0.0, 0.0);
            for j in (0..count).filter(|&j| j != i) {
                let wanted = distances[i][j];
                let (dx, dy) = (at[i].x - at[j].x, at[i].y - at[j].y);
                let stretch = wanted / (dx * dx + dy * dy).sqrt().max(1e-6);
                let weight = 1.0 / (wanted * wanted);
                x += weight * (at[j].x + stretch * dx);
                y += weight * (at[j].y + stretch * dy);
                all += weight;
            }
            at[i] = Point::new(x / all, y / all);
        }
    }
    for _ in 0..PUSHES {
        let mut touched = false;
        for i in 0..count {
            for j in 0..i {
                let least = radii[part[i]] + radii[part[j]] + GAP / 4.0;
                let (dx, dy) = (at[i].x - at[j].x, at[i].y - at[j].y);
                let length = (dx * dx + dy * dy).sqrt();
                if length < least * (1.0 - 1e-9) {
                    touched = true;
                    let (dx, dy) = if length > 1e-6 { (dx / length, dy / length) } else { (1.0, 0.0) };
                    let push = (least - length) / 2.0;
                    at[i] = at[i].plus(dx * push, dy * push);
                    at[j] = at[j].plus(-dx * push, -dy * push);
                }
            }
        }
        if !touched {
            break;
        }
    }
    at
}

/// Returns the lengths of the shortest paths between all vertices. The length of a link is the radii of its
/// ends plus the room between them.
fn distances(part: &[usize], neighbours: &[Vec<usize>], radii: &[f64]) -> Vec<Vec<f64>> {
    let mut number = vec![usize::MAX; neighbours.len()];
    for (i, &vertex) in part.iter().enumerate() {
        number[vertex] = i;
    }
    let from = |start: usize| {
        let mut distance = vec![f64::INFINITY; part.len()];
        distance[start] = 0.0;
        let mut queue = VecDeque::from([start]);
        while let Some(i) = queue.pop_front() {
            for &other in &neighbours[part[i]] {
                let (j, length) = (number[other], GAP + radii[part[i]] + radii[other]);
                if distance[i] + length < distance[j] * (1.0 - 1e-12) {
                    distance[j] = distance[i] + length;
                    queue.push_back(j);
                }
            }
        }
        distance
    };
    (0..part.len()).map(from).collect()
}

/// Places vertices by classical scaling: the two eigenvectors of the doubly centred squares with the largest
/// eigenvalues, by power iteration.
fn scaled(distances: &[Vec<f64>]) -> Vec<Point> {
    let count = distances.len();
    let mean: Vec<f64> = distances.iter().map(|row| row.iter().map(|d| d * d).sum::<f64>() / count as f64).collect();
    let all = mean.iter().sum::<f64>() / count as f64;
    let centred = |i: usize, j: usize| -0.5 * (distances[i][j] * distances[i][j] - mean[i] - mean[j] + all);
    let product = |vector: &[f64]| -> Vec<f64> {
        (0..count).map(|i| (0..count).map(|j| centred(i, j) * vector[j]).sum()).collect()
    };
    // Any start vector that is not orthogonal to the eigenvectors sought.
    let any = |salt: f64| -> Vec<f64> { (0..count).map(|i| ((i as f64 + 1.0) * salt).fract() - 0.5).collect() };
    let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut found: Vec<(Vec<f64>, f64)> = Vec::new();
    for salt in [0.618_033_988_75, 0.414_213_562_37] {
        let mut vector = any(salt);
        let mut value = 0.0;
        for _ in 0..50 {
            for (other, _) in &found {
                let along: f64 = vector.iter().zip(other).map(|(a, b)| a * b).sum();
                vector.iter_mut().zip(other).for_each(|(x, other)| *x -= along * other);
            }
            let length = norm(&vector).max(1e-12);
            vector.iter_mut().for_each(|x| *x /= length);
            let next = product(&vector);
            value = vector.iter().zip(&next).map(|(a, b)| a * b).sum();
            vector = next;
        }
        let length = norm(&vector).max(1e-12);
        vector.iter_mut().for_each(|x| *x /= length);
        found.push((vector, f64::max(value, 0.0).sqrt()));
    }
    // Vertices with equal distances must not start at the same place, because majorisation could not separate them.
    let (aside, along) = (any(0.732_050_807_57), any(0.236_067_977_50));
    let place = |i: usize| {
        let along_axis = |axis: usize| found[axis].0[i] * found[axis].1;
        Point::new(along_axis(0) + aside[i], along_axis(1) + along[i])
    };
    (0..count).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(count: usize, links: &[(usize, usize)]) -> Vec<Vec<usize>> {
        let mut neighbours = vec![Vec::new(); count];
        for &(a, b) in links {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        neighbours
    }

    fn between(a: Point, b: Point) -> f64 {
        ((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y)).sqrt()
    }

    #[test]
    fn a_ring_is_drawn_as_one() {
        let links: Vec<(usize, usize)> = (0..12).map(|i| (i, (i + 1) % 12)).collect();
        let (at, size) = place(&graph(12, &links), &[10.0; 12]);
        let middle = at.iter().fold(Point::default(), |sum, point| sum.plus(point.x / 12.0, point.y / 12.0));
        let radii: Vec<f64> = at.iter().map(|&point| between(point, middle)).collect();
        let (least, most) = (radii.iter().copied().fold(f64::MAX, f64::min), radii.iter().copied().fold(0.0, f64::max));
        assert!(most < 1.05 * least && size.x > 100.0, "{radii:?}");
        // Neighbours are nearer than all other vertices.
        let step = (0..12).map(|i| between(at[i], at[(i + 1) % 12])).fold(0.0, f64::max);
        assert!((0..12).all(|i| between(at[i], at[(i + 2) % 12]) > 1.5 * step));
    }

    #[test]
    fn nothing_overlaps_and_all_is_inside_whatever_the_graph() {
        let complete: Vec<(usize, usize)> = (0..13).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        let star: Vec<(usize, usize)> = (1..13).map(|i| (0, i)).collect();
        let chain: Vec<(usize, usize)> = (1..7).map(|i| (i - 1, i)).collect();
        for links in [complete, star, chain, Vec::new()] {
            let radii: Vec<f64> = (0..13).map(|i| 8.0 + 5.0 * f64::from(i % 4)).collect();
            let (at, size) = place(&graph(13, &links), &radii);
            for i in 0..13 {
                let (point, radius) = (at[i], radii[i] - 1e-6);
                assert!(point.x >= radius && point.y >= radius, "{point:?}");
                assert!(point.x + radius <= size.x && point.y + radius <= size.y, "{point:?} in {size:?}");
                for j in 0..i {
                    assert!(between(at[i], at[j]) >= radii[i] + radii[j], "{i} and {j}: {links:?}");
                }
            }
        }
    }

    #[test]
    fn parts_that_nothing_joins_stand_side_by_side() {
        let (at, _) = place(&graph(5, &[(0, 1), (2, 3)]), &[10.0; 5]);
        assert!(between(at[0], at[1]) < between(at[0], at[2]) + between(at[1], at[3]));
        assert_eq!(place(&[], &[]).0, []);
    }
}
