//! Growth of costs with the number of nodes.

use hayase::report::{BenchmarkRow, Growth};

/// Fits `cost of a message = c N^exponent` to the rows of each kind of load that was measured at three sizes or more.
///
/// Least squares of the logarithms: with `x = ln N` and `y = ln cost`, the exponent is
/// `sum (x - mean x)(y - mean y) / sum (x - mean x)^2`.
pub fn growth(rows: &[BenchmarkRow]) -> Vec<Growth> {
    let mut kinds: Vec<(String, Vec<&BenchmarkRow>)> = Vec::new();
    for row in rows {
        let Some(kind) = kind(&row.load) else { continue };
        match kinds.iter_mut().find(|(name, _)| *name == kind) {
            Some((_, rows)) => rows.push(row),
            None => kinds.push((kind, vec![row])),
        }
    }
    let fit = |(loads, rows): (String, Vec<&BenchmarkRow>)| {
        let nodes = || rows.iter().map(|row| row.nodes);
        let points: Vec<(f64, f64)> = rows.iter().map(|row| (f64::from(row.nodes), row.cpu_ns.median)).collect();
        let nodes = (nodes().min()?, nodes().max()?);
        (rows.len() >= 3).then(|| Growth { loads, nodes, exponent: exponent(&points) })
    };
    kinds.into_iter().filter_map(fit).collect()
}

/// Returns the kind of a load: `fat-tree, random/max-min` for `fat-tree-3456/random/max-min`.
fn kind(load: &str) -> Option<String> {
    let (fabric, rest) = load.split_once('/')?;
    let (family, _) = fabric.rsplit_once('-')?;
    Some(format!("{family}, {rest}"))
}

#[expect(clippy::disallowed_methods, reason = "a logarithm of measured times: nothing of it is the same twice")]
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let common: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    common / logs.iter().map(|point| (point.0 - x) * (point.0 - x)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_found() {
        let points = [54.0, 432.0, 3456.0].map(|n: f64| (n, 7.0 * n * n.sqrt()));
        assert!((exponent(&points) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn loads_that_differ_in_size_alone_are_of_one_kind() {
        assert_eq!(kind("torus-16x16/random/max-min"), kind("torus-64x64/random/max-min"));
        assert_ne!(kind("fat-tree-54/random/max-min"), kind("fat-tree-54/random/equal-share"));
    }
}
