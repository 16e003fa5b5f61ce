//! Interpolation: exact where it must be, and refused where it is impossible.

use super::*;

/// Evaluates a multilinear function: the sum over subsets of coordinates of their product, with these
/// coefficients.
fn multilinear(coefficients: &[f64], point: &[i64]) -> f64 {
    (0..1usize << point.len())
        .map(|subset| {
            let factors = (0..point.len()).filter(|i| subset >> i & 1 == 1).map(|i| point[i] as f64);
            coefficients[subset] * factors.product::<f64>()
        })
        .sum()
}

/// Executes the product of these coordinates.
fn execute(axes: &[Vec<i64>], time: impl Fn(&[i64]) -> f64) -> Executed {
    let mut executed = Executed::new(axes.len());
    let mut place = vec![0; axes.len()];
    'all: loop {
        let point: Vec<i64> = place.iter().zip(axes).map(|(&i, axis)| axis[i]).collect();
        executed.push(&point, ps(time(&point)), Size::default());
        for i in (0..axes.len()).rev() {
            place[i] += 1;
            if place[i] < axes[i].len() {
                continue 'all;
            }
            place[i] = 0;
        }
        break;
    }
    executed
}

#[test]
fn multilinear_times_are_exact_in_any_number_of_dimensions() {
    let mut random = Stream::new(1, "multilinear");
    for dimensions in 1..=5 {
        for _ in 0..20 {
            let grid: TaskGrid =
                TaskGrid::new((0..dimensions).map(|_| Extent { first: 1, last: 2 + random.below(9) as i64 }).collect())
                    .unwrap();
            // Unevenly spaced, but with both ends.
            let axes: Vec<Vec<i64>> = grid
                .extents()
                .iter()
                .map(|extent| {
                    let inner = (extent.first + 1..extent.last).filter(|_| random.below(3) == 0);
                    let inner: Vec<i64> = inner.collect();
                    [vec![extent.first], inner, vec![extent.last]].concat()
                })
                .collect();
            let coefficients: Vec<f64> = (0..1 << dimensions).map(|_| random.below(1000) as f64).collect();
            let executed = execute(&axes, |point| multilinear(&coefficients, point));
            let tasks = interpolate(&executed, &grid, Outside::Refuse).unwrap();
            assert_eq!(tasks.len(), grid.tasks());
            for i in 0..grid.tasks() {
                let exact = multilinear(&coefficients, &grid.point(i));
                assert!((tasks.times()[i].ps() - exact).abs() <= 1e-12 * exact.max(1.0), "{grid} {:?}", grid.point(i));
            }
        }
    }
}

/// Evaluates the recursion as printed in the paper, for one task.
fn recursion(axes: &[Vec<i64>], point: &[i64], time: &dyn Fn(&[i64]) -> f64) -> f64 {
    fn t(k: usize, x: &[i64], axes: &[Vec<i64>], time: &dyn Fn(&[i64]) -> f64) -> f64 {
        if k == 0 {
            return time(x);
        }
        let j = axes.len() - k;
        let below = *axes[j].iter().filter(|&&i| i <= x[j]).max().unwrap();
        let above = *axes[j].iter().filter(|&&i| i >= x[j]).min().unwrap();
        let p = if above == below { 0.0 } else { (x[j] - below) as f64 / (above - below) as f64 };
        let at = |value| [&x[..j], &[value], &x[j + 1..]].concat();
        (1.0 - p) * t(k - 1, &at(below), axes, time) + p * t(k - 1, &at(above), axes, time)
    }
    t(axes.len(), point, axes, time)
}

#[test]
fn a_pass_over_each_dimension_gives_the_bits_of_the_recursion() {
    let grid: TaskGrid = "9x0..6x5".parse().unwrap();
    let axes = vec![vec![1, 2, 7, 9], vec![0, 5, 6], vec![1, 5]];
    let rough = |point: &[i64]| ((point[0] * 31 + point[1] * 17 + point[2] * 7) % 23) as f64 + 0.1;
    let tasks = interpolate(&execute(&axes, rough), &grid, Outside::Refuse).unwrap();
    for i in 0..grid.tasks() {
        assert_eq!(tasks.times()[i].ps().to_bits(), recursion(&axes, &grid.point(i), &rough).to_bits());
    }
}

#[test]
fn one_executed_coordinate_holds_for_a_dimension_of_one() {
    let grid: TaskGrid = "1x3".parse().unwrap();
    let executed = execute(&[vec![1], vec![1, 3]], |point| (point[1] * 10) as f64);
    let tasks = interpolate(&executed, &grid, Outside::Refuse).unwrap();
    assert_eq!(tasks.times(), [ps(10.0), ps(20.0), ps(30.0)]);
}

#[test]
fn beyond_the_executed_tasks_is_a_mistake_or_the_nearest() {
    let grid: TaskGrid = "6".parse().unwrap();
    let executed = execute(&[vec![2, 4]], |point| (point[0] * 10) as f64);
    let error = interpolate(&executed, &grid, Outside::Refuse).unwrap_err();
    assert_eq!(error.code, "outside-executed");
    assert!(error.message.contains("from 2 to 4 only"), "{}", error.message);
    let tasks = interpolate(&executed, &grid, Outside::Clamp).unwrap();
    assert_eq!(tasks.times().iter().map(|time| time.ps()).collect::<Vec<_>>(), [20.0, 20.0, 30.0, 40.0, 40.0, 40.0]);
}

#[test]
fn missing_points_are_named() {
    let axes = [vec![1, 4, 8], vec![1, 8]];
    let all = execute(&axes, |_| 1.0);
    let mut part = Executed::new(2);
    for i in [0, 1, 2, 4] {
        part.push(all.point(i), all.times()[i], Size::default());
    }
    let error = interpolate(&part, &"8x8".parse().unwrap(), Outside::Refuse).unwrap_err();
    assert_eq!(
        error.message,
        "the executed tasks span a product grid of 3 x 2, of which 2 tasks are missing: (4, 8), (8, 8)"
    );
    part.push(&[1, 1], ps(2.0), Size::default());
    assert!(interpolate(&part, &"8x8".parse().unwrap(), Outside::Refuse).unwrap_err().message.contains("(1, 1)"));
    let error = interpolate(&all, &"7x8".parse().unwrap(), Outside::Refuse).unwrap_err();
    assert_eq!(error.message, "2 executed tasks are not in the grid 7x8: (8, 1), (8, 8)");
    let error = interpolate(&all, &"8".parse().unwrap(), Outside::Refuse).unwrap_err();
    assert!(error.message.contains("2 coordinates"), "{}", error.message);
}

#[test]
fn scattered_tasks_are_refused_without_listing_what_they_span() {
    let mut executed = Executed::new(12);
    for i in 0..64i64 {
        executed.push(&[i; 12], ps(1.0), Size::default());
    }
    let extent = Extent { first: 0, last: 1 };
    assert!(TaskGrid::new(vec![extent; 13]).is_err() && TaskGrid::new(vec![]).is_err());
    let error = ProductGrid::new(&executed).unwrap_err();
    assert!(error.message.contains("do not form a product grid"), "{}", error.message);
}

#[test]
fn sizes_are_interpolated_like_times() {
    let mut executed = Executed::new(1);
    executed.push(&[1], ps(10.0), Size { input: 100, output: 7 });
    executed.push(&[5], ps(30.0), Size { input: 200, output: 7 });
    let tasks = interpolate(&executed, &"5".parse().unwrap(), Outside::Refuse).unwrap();
    assert_eq!(tasks.size(2), Size { input: 150, output: 7 });
}

#[test]
fn grids_are_read_as_they_are_written() {
    for text in ["1024x1024", "5", "0..3x2x-4..4"] {
        assert_eq!(text.parse::<TaskGrid>().unwrap().to_string(), text);
    }
    let grid: TaskGrid = "0..3x2x-4..4".parse().unwrap();
    assert_eq!(grid.tasks(), 4 * 2 * 9);
    assert!((0..grid.tasks()).all(|i| grid.index(&grid.point(i)) == i));
    for text in ["", "x", "0", "3..1", "4x", "a", "99999999x99999999", "1e3", "9999999999999999999"] {
        assert!(text.parse::<TaskGrid>().is_err(), "{text}");
    }
}
