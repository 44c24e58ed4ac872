//! Statistics of a series of values: means, extremes, slopes and the like.
//!
//! A series is a list of points in the order of their first coordinate, mostly a time \[s\].

/// Point of a series: its coordinate, mostly a time \[s\], and its value.
pub type SeriesPoint = (f64, f64);

/// Least-squares line through a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedLine {
    /// Slope.
    pub slope: f64,
    /// R²: share of the variance of the values that the line explains \[-\]; not a number for values that are all equal.
    pub r_squared: f64,
}

/// Value at `x`, interpolated linearly between the points; `None` outside of them. A point counts as being at `x` if the two differ only by
/// rounding.
pub fn value_at(points: &[SeriesPoint], x: f64) -> Option<f64> {
    let slack = 1e-9 * x.abs();
    let after = points.iter().position(|point| point.0 >= x - slack)?;
    let (right, value) = points[after];
    if right <= x + slack {
        return Some(value);
    }
    let (left, before) = points[after.checked_sub(1)?];
    Some(before + (value - before) * (x - left) / (right - left))
}

/// Mean of the values; not a number without points.
pub fn mean(points: &[SeriesPoint]) -> f64 {
    points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64
}

/// The first point with the largest value.
pub fn largest(points: &[SeriesPoint]) -> Option<SeriesPoint> {
    points.iter().copied().reduce(|best, point| if point.1 > best.1 { point } else { best })
}

/// The first point with the smallest value.
pub fn smallest(points: &[SeriesPoint]) -> Option<SeriesPoint> {
    points.iter().copied().reduce(|best, point| if point.1 < best.1 { point } else { best })
}

/// Least-squares line; `None` unless two points differ in their first coordinate.
pub fn line(points: &[SeriesPoint]) -> Option<FittedLine> {
    let count = points.len() as f64;
    let centre = points.iter().map(|point| point.0).sum::<f64>() / count;
    let middle = mean(points);
    let sum = |of: fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|&(x, value)| of(x - centre, value - middle)).sum()
    };
    let (xx, xy, yy) = (sum(|x, _| x * x), sum(|x, y| x * y), sum(|_, y| y * y));
    (xx > 0.0).then(|| FittedLine { slope: xy / xx, r_squared: xy * xy / (xx * yy) })
}

/// Exponent of a power law: slope of the least-squares line through the logarithms of both coordinates; not a number where a logarithm does
/// not exist.
pub fn exponent(points: &[SeriesPoint]) -> f64 {
    let logarithms: Vec<SeriesPoint> = points.iter().map(|&(x, value)| (x.ln(), value.ln())).collect();
    line(&logarithms).map_or(f64::NAN, |line| line.slope)
}

/// Largest value minus the smallest.
pub fn spread(points: &[SeriesPoint]) -> f64 {
    let values = points.iter().map(|point| point.1);
    values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
}

/// Coordinate at which the final run of points with values within `within` of `value` begins; `None` if the last point is not within.
pub fn settled_after(points: &[SeriesPoint], value: f64, within: f64) -> Option<f64> {
    let is_near = |point: &&SeriesPoint| (point.1 - value).abs() <= within;
    points.iter().rev().take_while(is_near).last().map(|point| point.0)
}

/// Coordinates of the local minima: values below the values before and after. Of several equal values in a row the first counts; the ends
/// of the series do not count.
pub fn minima(points: &[SeriesPoint]) -> Vec<f64> {
    let mut steps: Vec<SeriesPoint> = points.to_vec();
    steps.dedup_by_key(|point| point.1);
    let is_minimum = |three: &&[SeriesPoint]| three[1].1 < three[0].1 && three[1].1 < three[2].1;
    steps.windows(3).filter(is_minimum).map(|three| three[1].0).collect()
}

/// The largest step down from a point to the next; 0 if there is none.
pub fn largest_drop(points: &[SeriesPoint]) -> f64 {
    points.windows(2).map(|pair| pair[0].1 - pair[1].1).fold(0.0, f64::max)
}

/// The largest step up from a point to the next; 0 if there is none.
pub fn largest_climb(points: &[SeriesPoint]) -> f64 {
    points.windows(2).map(|pair| pair[1].1 - pair[0].1).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZIGZAG: [SeriesPoint; 8] =
        [(0.0, 5.0), (1.0, 2.0), (2.0, 4.0), (3.0, 1.0), (4.0, 1.0), (5.0, 3.0), (6.0, 2.5), (7.0, 2.5)];

    #[test]
    fn a_value_between_two_points_is_on_the_line_between_them() {
        assert_eq!(value_at(&ZIGZAG, 0.5), Some(3.5));
        assert_eq!(value_at(&ZIGZAG, 3.0), Some(1.0));
        assert_eq!(value_at(&[(0.0, 1.0), (0.1 + 0.2, 2.0)], 0.3), Some(2.0), "but for rounding");
        assert_eq!((value_at(&ZIGZAG, -0.1), value_at(&ZIGZAG, 7.1)), (None, None));
    }

    #[test]
    fn the_first_of_the_extremes_counts() {
        assert_eq!((largest(&ZIGZAG), smallest(&ZIGZAG)), (Some((0.0, 5.0)), Some((3.0, 1.0))));
        assert_eq!(largest(&[]), None);
    }

    #[test]
    fn a_straight_series_has_its_slope_and_an_r_squared_of_one() {
        let straight: Vec<SeriesPoint> = (0..5).map(|i| (f64::from(i), 3.0 - 0.5 * f64::from(i))).collect();
        assert_eq!(line(&straight), Some(FittedLine { slope: -0.5, r_squared: 1.0 }));
        // y = 0, 1, 0 has no slope at all.
        assert_eq!(
            line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 0.0)]),
            Some(FittedLine { slope: 0.0, r_squared: 0.0 })
        );
        // y = 0, 0, 3: xx = 2, xy = 3, yy = 6.
        assert_eq!(
            line(&[(0.0, 0.0), (1.0, 0.0), (2.0, 3.0)]),
            Some(FittedLine { slope: 1.5, r_squared: 0.75 })
        );
        assert_eq!(line(&[(1.0, 0.0)]), None);
    }

    #[test]
    fn a_series_settles_where_it_comes_near_for_good() {
        assert_eq!(settled_after(&ZIGZAG, 2.5, 0.5), Some(5.0), "not at 1, which it leaves again");
        assert_eq!(settled_after(&ZIGZAG, 0.0, 1.0), None);
        assert_eq!(settled_after(&ZIGZAG, 0.0, 9.0), Some(0.0));
    }

    #[test]
    fn minima_are_lower_than_both_neighbours_and_the_ends_are_none() {
        assert_eq!(minima(&ZIGZAG), [1.0, 3.0]);
        assert_eq!(minima(&ZIGZAG[3..5]), [0.0; 0]);
    }

    #[test]
    fn steps_against_the_direction_are_measured() {
        assert_eq!((largest_drop(&ZIGZAG), largest_climb(&ZIGZAG)), (3.0, 2.0));
        assert_eq!(largest_drop(&[(0.0, 1.0), (1.0, 2.0)]), 0.0);
    }
}
