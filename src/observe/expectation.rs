//! Expectations of a scenario, and the verdicts on them after a run.

use super::bounds::Bounds;
use super::series::{self, SeriesPoint};
use super::take::{Curve, Take};
use super::{Observation, Observer, short};
use crate::engine::Precision;

/// Expectation: a number that the run must reach within bounds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Expectation {
    /// Name of the expectation.
    pub label: String,
    /// Column of the time series (see [`crate::observe`]).
    pub quantity: String,
    /// Column whose number, taken in the same way, divides the number of `quantity`.
    pub over: Option<String>,
    /// How the values of the column become one number.
    pub take: Take,
    /// Time window of the values \[s\]; `None`: the whole run.
    pub window: Option<(f64, f64)>,
    /// Bounds on the number.
    pub bounds: Bounds,
}

/// Verdict on an expectation.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
pub struct Verdict {
    /// Name of the expectation in the scenario.
    pub label: String,
    /// Quantity and how its number was taken: `height`, `rate of height from 2 to 3 s`.
    pub quantity: String,
    /// Expected number in words, without the tolerance: `0.3`, `at least 2`.
    pub expected: String,
    /// The expected value; absent without one.
    pub value: Option<f64>,
    /// The lower bound; absent without one.
    pub at_least: Option<f64>,
    /// The upper bound; absent without one.
    pub at_most: Option<f64>,
    /// Number that was found; absent when there was nothing to judge.
    pub found: Option<f64>,
    /// |found - value|; absent without a value.
    pub error: Option<f64>,
    /// Largest error that is allowed, in the precision of the engine; absent without a tolerance.
    pub tolerance: Option<f64>,
    /// The judgement.
    pub verdict: Judgement,
    /// Reason why there was nothing to judge, or a remark on the number found.
    #[cfg_attr(feature = "scenario", serde(skip_serializing_if = "Option::is_none"))]
    pub reason: Option<String>,
    /// Whether the number found is a deviation from expected times or from a curve.
    #[cfg_attr(feature = "scenario", serde(skip))]
    pub is_deviation: bool,
}

/// A judgement on an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize))]
#[cfg_attr(feature = "scenario", serde(rename_all = "snake_case"))]
pub enum Judgement {
    /// The number is within its bounds.
    Met,
    /// The number is outside its bounds, or does not exist.
    Missed,
    /// The number is only shown, and not judged.
    Shown,
    /// The run ended before its duration.
    NotReached,
}

impl Judgement {
    /// The judgement in a word.
    pub fn word(self) -> &'static str {
        match self {
            Judgement::Met => "met",
            Judgement::Missed => "missed",
            Judgement::Shown => "shown",
            Judgement::NotReached => "open",
        }
    }
}

/// Number taken from a run, with a remark where there is more to say.
#[derive(Debug, Clone, PartialEq)]
struct FoundValue {
    number: f64,
    remark: Option<String>,
}

impl From<f64> for FoundValue {
    fn from(number: f64) -> FoundValue {
        FoundValue { number, remark: None }
    }
}

/// Judges all expectations by the observations of a complete run on an engine of this precision.
pub fn judge(
    expectations: &[Expectation],
    observer: &Observer,
    observations: &[Observation],
    precision: Precision,
) -> Vec<Verdict> {
    let judge_one = |expectation: &Expectation| {
        let found = measure(expectation, observer, observations);
        let verdict = blank(expectation, precision);
        match found {
            Ok(FoundValue { number, remark }) => {
                Verdict { reason: remark, ..verdict.found(number, &expectation.bounds, precision) }
            }
            Err(reason) => Verdict { reason: Some(reason), ..verdict },
        }
    };
    expectations.iter().map(judge_one).collect()
}

/// The verdicts of a run that ended at `time` \[s\], before its duration.
pub fn leave_open(expectations: &[Expectation], time: f64, precision: Precision) -> Vec<Verdict> {
    let reason = format!("the run ended at t = {time} s");
    let open = |expectation| Verdict {
        verdict: Judgement::NotReached,
        reason: Some(reason.clone()),
        ..blank(expectation, precision)
    };
    expectations.iter().map(open).collect()
}

impl Verdict {
    /// Verdict before a number is found: missed, or shown if the number is not judged.
    pub fn blank(label: String, quantity: String, bounds: &Bounds, precision: Precision) -> Verdict {
        let words = [
            bounds.value.map(short),
            bounds.at_least.map(|bound| format!("at least {}", short(bound))),
            bounds.at_most.map(|bound| format!("at most {}", short(bound))),
        ];
        Verdict {
            label,
            quantity,
            expected: words.into_iter().flatten().collect::<Vec<_>>().join(", "),
            value: bounds.value,
            at_least: bounds.at_least,
            at_most: bounds.at_most,
            found: None,
            error: None,
            tolerance: bounds.tolerance.map(|tolerance| tolerance.of(precision)),
            verdict: if bounds.shown_only { Judgement::Shown } else { Judgement::Missed },
            reason: None,
            is_deviation: false,
        }
    }

    /// Adds the number found and its judgement.
    #[must_use]
    pub fn found(self, number: f64, bounds: &Bounds, precision: Precision) -> Verdict {
        let verdict = match bounds.shown_only {
            true => Judgement::Shown,
            false if bounds.admit(number, precision) => Judgement::Met,
            false => Judgement::Missed,
        };
        let error = bounds.value.map(|value| (number - value).abs());
        Verdict { found: Some(number), error, verdict, ..self }
    }

    /// Expected number in words, with the tolerance: `0.3 ± 0.01`, `at least 2`; for a curve `as `x``.
    pub fn expected_with_tolerance(&self) -> String {
        let tolerance = self.tolerance.filter(|_| !self.is_deviation);
        let tolerance = tolerance.map(|tolerance| format!(" ± {}", short(tolerance)));
        format!("{}{}", self.expected, tolerance.unwrap_or_default())
    }

    /// Number found, in words: `found 0.4`; for a miss `found 0.4, error 0.1, tolerance 0.01`; for a curve `deviation 0.0007, at most
    /// 0.001`.
    pub fn found_in_words(&self) -> String {
        let Some(found) = self.found else { return "found nothing".to_owned() };
        let found = short(found);
        match (self.error.map(short), self.tolerance.map(short)) {
            (_, Some(most)) if self.is_deviation => format!("deviation {found}, at most {most}"),
            _ if self.is_deviation => format!("deviation {found}"),
            (Some(error), Some(tolerance)) if self.verdict == Judgement::Missed => {
                format!("found {found}, error {error}, tolerance {tolerance}")
            }
            _ => format!("found {found}"),
        }
    }
}

/// Computes the number of an expectation; the error says why there is none.
fn measure(
    expectation: &Expectation,
    observer: &Observer,
    observations: &[Observation],
) -> Result<FoundValue, String> {
    let number = |quantity: &String| {
        let points = points_within(expectation.window, quantity, observer, observations)?;
        take(&expectation.take, &points)
    };
    let found = number(&expectation.quantity)?;
    let found = match &expectation.over {
        Some(over) => FoundValue::from(found.number / number(over)?.number),
        None => found,
    };
    match found.number.is_finite() {
        true => Ok(found),
        false => Err("it has no meaning in this state (not a number)".to_owned()),
    }
}

/// Times and values of a quantity at the outputs in a window, its ends included.
fn points_within(
    window: Option<(f64, f64)>,
    quantity: &str,
    observer: &Observer,
    observations: &[Observation],
) -> Result<Vec<SeriesPoint>, String> {
    let column = observer.find(quantity).ok_or_else(|| format!("there is no quantity `{quantity}`"))?;
    let (from, until) = window.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
    // Times are multiples of the step: rounding must not put an output outside that lies on an end.
    let slack = if until.is_finite() { 1e-9 * until.abs() } else { 0.0 };
    let is_inside = |point: &SeriesPoint| (from - slack..=until + slack).contains(&point.0);
    let points = observations.iter().map(|observation| (observation.time, observation.values[column]));
    let points: Vec<SeriesPoint> = points.filter(is_inside).collect();
    match points.is_empty() {
        true => Err("there is no output in the window; lower output.every".to_owned()),
        false => Ok(points),
    }
}

/// Reduces a series to one number. A value that is not a number makes the result not a number, except where only some of the values count.
fn take(take: &Take, points: &[SeriesPoint]) -> Result<FoundValue, String> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Err("there is no output".to_owned());
    };
    let needs_all = !matches!(take, Take::Final | Take::At(_) | Take::Curve(_));
    if needs_all && points.iter().any(|point| point.1.is_nan()) {
        return Ok(f64::NAN.into());
    }
    let line = || series::line(points).ok_or("there is only one output in the window; lower output.every");
    Ok(match take {
        Take::Final => last.1.into(),
        Take::At(time) => series::value_at(points, *time).ok_or("there is no output at this time")?.into(),
        Take::Mean => series::mean(points).into(),
        Take::Maximum => series::largest(points).unwrap_or(*first).1.into(),
        Take::Minimum => series::smallest(points).unwrap_or(*first).1.into(),
        Take::TimeOfMaximum => series::largest(points).unwrap_or(*first).0.into(),
        Take::TimeOfMinimum => series::smallest(points).unwrap_or(*first).0.into(),
        Take::Change => (last.1 - first.1).into(),
        Take::Rate => line()?.slope.into(),
        Take::Linearity => line()?.r_squared.into(),
        Take::SettledAfter { value, within } => {
            series::settled_after(points, *value, *within).ok_or("it did not settle")?.into()
        }
        Take::Rises => series::largest_drop(points).into(),
        Take::Falls => series::largest_climb(points).into(),
        Take::TimesOfMinima(times) => deviation_of_minima(points, times)?,
        Take::Curve(curve) => deviation_from(curve, points)?,
    })
}

/// Largest deviation of the first local minima from the expected times.
fn deviation_of_minima(points: &[SeriesPoint], expected: &[f64]) -> Result<FoundValue, String> {
    let found = series::minima(points);
    let shown: Vec<String> = found.iter().take(expected.len()).map(|&time| short(time)).collect();
    let shown = format!("minima at {} s", shown.join(", "));
    if found.len() < expected.len() {
        return Err(format!("there are {} minima instead of {}: {shown}", found.len(), expected.len()));
    }
    let deviations = expected.iter().zip(&found).map(|(expected, found)| (found - expected).abs());
    Ok(FoundValue { number: deviations.fold(0.0, f64::max), remark: Some(shown) })
}

/// Largest deviation of a series from a reference curve, at the times of the curve.
fn deviation_from(curve: &Curve, points: &[SeriesPoint]) -> Result<FoundValue, String> {
    let mut worst = FoundValue::from(0.0);
    for &(time, reference) in &curve.points {
        let found =
            series::value_at(points, time).ok_or_else(|| format!("there is no output at t = {time} s"))?;
        let deviation = (found - reference).abs();
        if deviation.is_nan() {
            return Ok(deviation.into());
        }
        if deviation >= worst.number {
            let remark = format!("{} instead of {} at t = {} s", short(found), short(reference), short(time));
            worst = FoundValue { number: deviation, remark: Some(remark) };
        }
    }
    Ok(worst)
}

/// Verdict on an expectation before its number is known.
fn blank(expectation: &Expectation, precision: Precision) -> Verdict {
    let verdict =
        Verdict::blank(expectation.label.clone(), describe(expectation), &expectation.bounds, precision);
    let expected = match &expectation.take {
        Take::TimesOfMinima(times) => times.iter().map(|&time| short(time)).collect::<Vec<_>>().join(", "),
        Take::Curve(curve) => format!("as `{}`", curve.column),
        Take::Rises | Take::Falls => in_direction(expectation.take.word(), &expectation.bounds),
        _ => return verdict,
    };
    let is_deviation = matches!(expectation.take, Take::TimesOfMinima(_) | Take::Curve(_));
    Verdict { expected, is_deviation, ..verdict }
}

/// Expected direction in words, with the slack for steps against it: `rises`, `falls, slack 0.1`.
pub fn in_direction(direction: &str, bounds: &Bounds) -> String {
    match bounds.at_most {
        Some(slack) if slack > 0.0 => format!("{direction}, slack {}", short(slack)),
        _ => direction.to_owned(),
    }
}

/// Quantity and how its number is taken, in words.
fn describe(expectation: &Expectation) -> String {
    let over = expectation.over.as_ref().map(|over| format!(" / {over}"));
    let quantity = format!("{}{}", expectation.quantity, over.unwrap_or_default());
    let taken = match &expectation.take {
        Take::Final | Take::Mean | Take::Rises | Take::Falls | Take::Curve(_) => quantity,
        Take::At(time) => format!("{quantity} at {time} s"),
        Take::SettledAfter { value, within } => {
            format!("settled_after of {quantity} to {} ± {}", short(*value), short(*within))
        }
        take => format!("{} of {quantity}", take.word()),
    };
    match expectation.window {
        None if matches!(expectation.take, Take::Mean) => format!("{taken} over the run"),
        None => taken,
        Some((from, until)) => format!("{taken} over {from} to {until} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::stack;
    use super::*;
    use crate::observe::Base;
    use crate::observe::bounds::Tolerance;

    fn expect(quantity: &str, take: Take, bounds: Bounds) -> Expectation {
        let label = "label".to_owned();
        Expectation { label, quantity: quantity.into(), over: None, take, window: None, bounds }
    }

    fn value(value: f64, tolerance: f64) -> Bounds {
        let tolerance = Some(Tolerance { double: tolerance, single: 100.0 * tolerance });
        Bounds { value: Some(value), tolerance, ..Bounds::default() }
    }

    fn at_least(bound: f64) -> Bounds {
        Bounds { at_least: Some(bound), ..Bounds::default() }
    }

    /// Verdict where the quantity is `of(t)` at t = 0, 0.1, ... 1 s, and any other is the time.
    fn verdict_on(of: fn(f64) -> f64, expectation: Expectation) -> Verdict {
        let observer = Observer::new(&stack().world, None);
        let column = observer.find(&expectation.quantity);
        let at = |k: u64| {
            let time = 0.1 * k as f64;
            let mut values = vec![time; observer.columns().len()];
            if let Some(column) = column {
                values[column] = of(time);
            }
            Observation { time, step: k, values, base: Base::default() }
        };
        let observations: Vec<Observation> = (0..=10).map(at).collect();
        judge(&[expectation], &observer, &observations, Precision::Double).remove(0)
    }

    /// Verdict where every quantity is the time.
    fn verdict(expectation: Expectation) -> Verdict {
        verdict_on(|time| time, expectation)
    }

    #[test]
    fn the_final_value_counts() {
        let met = verdict(expect("height", Take::Final, value(1.0, 0.01)));
        assert_eq!((met.found, met.error, met.verdict), (Some(1.0), Some(0.0), Judgement::Met));
        assert_eq!((met.quantity.as_str(), met.expected.as_str()), ("height", "1"));
        assert_eq!(met.expected_with_tolerance(), "1 ± 0.01");
        let missed = verdict(expect("height", Take::Final, value(1.02, 0.01)));
        assert_eq!(missed.found_in_words(), "found 1, error 0.02, tolerance 0.01");
        assert_eq!(missed.verdict, Judgement::Missed);
    }

    #[test]
    fn a_window_takes_the_mean_of_its_outputs_with_both_ends() {
        // 0.3, 0.4, 0.5, 0.6, 0.7 (which 7 · 0.1 exceeds by rounding)
        let window = Some((0.3, 0.7));
        let found = verdict(Expectation { window, ..expect("height", Take::Mean, at_least(0.0)) });
        approx::assert_relative_eq!(found.found.expect("a value"), 0.5, max_relative = 1e-12);
        assert_eq!(found.quantity, "height over 0.3 to 0.7 s");
    }

    #[test]
    fn each_way_of_taking_gives_its_number() {
        // x(t) = (t - 0.5)², sampled at 0, 0.1, ... 1 s.
        let square = |time: f64| (time - 0.5) * (time - 0.5);
        let settled = Take::SettledAfter { value: 0.25, within: 0.1 };
        let cases = [
            (Take::Final, 0.25),
            (Take::At(0.55), 0.005),
            (Take::Mean, 0.1),
            (Take::Maximum, 0.25),
            (Take::Minimum, 0.0),
            (Take::TimeOfMaximum, 0.0),
            (Take::TimeOfMinimum, 0.5),
            (Take::Change, 0.0),
            (Take::Rate, 0.0),
            (Take::Linearity, 0.0),
            (settled, 0.9),
            (Take::Rises, 0.09),
            (Take::Falls, 0.09),
            (Take::TimesOfMinima(vec![0.48]), 0.02),
        ];
        for (take, expected) in cases {
            let found = verdict_on(square, expect("height", take.clone(), value(expected, 1e-12)));
            assert_eq!(found.verdict, Judgement::Met, "{take:?}: {found:?}");
        }
    }

    #[test]
    fn a_ratio_divides_two_numbers_taken_in_the_same_way() {
        let over = Some("rms_speed".to_owned());
        let ratio = Expectation { over, ..expect("height", Take::Rate, value(3.0, 1e-12)) };
        let found = verdict_on(|time| 3.0 * time + 1.0, ratio);
        assert_eq!(found.verdict, Judgement::Met, "{found:?}");
        assert_eq!(found.quantity, "rate of height / rms_speed");
        let at_zero =
            Expectation { over: Some("rms_speed".into()), ..expect("height", Take::At(0.0), at_least(0.0)) };
        assert!(verdict_on(|_| 1.0, at_zero).reason.is_some(), "nothing divides by zero");
    }

    #[test]
    fn a_curve_is_compared_at_its_own_times_and_the_worst_is_told() {
        let points = vec![(0.05, 0.05), (0.25, 0.30), (0.5, 0.49)];
        let curve = || Take::Curve(Curve { column: "lammps".into(), points: points.clone() });
        let met = verdict(expect("height", curve(), value(0.0, 0.051)));
        assert_eq!((met.verdict, met.expected.as_str()), (Judgement::Met, "as `lammps`"));
        assert_eq!(met.expected_with_tolerance(), "as `lammps`", "the tolerance is that of the deviation");
        assert!(met.found_in_words().starts_with("deviation "), "{}", met.found_in_words());
        assert_eq!(met.reason.as_deref(), Some("0.25 instead of 0.3 at t = 0.25 s"));
        assert_eq!(verdict(expect("height", curve(), value(0.0, 0.049))).verdict, Judgement::Missed);
        let gone = verdict_on(
            |time| if time > 0.2 { f64::NAN } else { time },
            expect("height", curve(), value(0.0, 9.0)),
        );
        assert_eq!((gone.found, gone.verdict), (None, Judgement::Missed));
    }

    #[test]
    fn too_few_minima_are_a_miss_that_tells_those_there_are() {
        let two = Take::TimesOfMinima(vec![0.5, 0.9]);
        let found = verdict_on(|time| (time - 0.5) * (time - 0.5), expect("height", two, value(0.0, 9.0)));
        assert_eq!((found.found, found.verdict), (None, Judgement::Missed));
        assert_eq!(found.reason.as_deref(), Some("there are 1 minima instead of 2: minima at 0.5 s"));
    }

    #[test]
    fn a_value_that_does_not_settle_is_missed() {
        let settled = Take::SettledAfter { value: 0.0, within: 0.5 };
        assert_eq!(
            verdict(expect("height", settled, at_least(0.0))).reason.as_deref(),
            Some("it did not settle")
        );
    }

    #[test]
    fn every_bound_that_is_given_must_hold() {
        let both = Bounds { at_most: Some(0.9), ..at_least(0.5) };
        let missed = verdict(expect("height", Take::Final, both));
        assert_eq!(
            (missed.expected.as_str(), missed.verdict),
            ("at least 0.5, at most 0.9", Judgement::Missed)
        );
        let wide = Bounds { at_most: Some(1.0), ..at_least(1.0) };
        assert_eq!(verdict(expect("height", Take::Final, wide)).verdict, Judgement::Met);
    }

    #[test]
    fn an_engine_in_single_precision_has_a_tolerance_of_its_own() {
        let observer = Observer::new(&stack().world, None);
        let values = vec![1.05; observer.columns().len()];
        let observations = [Observation { time: 0.0, step: 0, values, base: Base::default() }];
        let expectations = [expect("height", Take::Final, value(1.0, 0.01))];
        let on = |precision| judge(&expectations, &observer, &observations, precision).remove(0);
        let (double, single) = (on(Precision::Double), on(Precision::Single));
        assert_eq!((double.verdict, double.tolerance), (Judgement::Missed, Some(0.01)));
        assert_eq!((single.verdict, single.tolerance), (Judgement::Met, Some(1.0)));
    }

    #[test]
    fn what_is_only_shown_has_an_error_and_is_never_missed() {
        let shown = Bounds { value: Some(3.0), shown_only: true, ..Bounds::default() };
        let found = verdict(expect("height", Take::Final, shown.clone()));
        assert_eq!((found.error, found.verdict), (Some(2.0), Judgement::Shown));
        assert_eq!(verdict(expect("hight", Take::Final, shown)).verdict, Judgement::Shown);
    }

    #[test]
    fn a_quantity_that_does_not_exist_is_missed_with_a_reason() {
        let missed = verdict(expect("hight", Take::Final, at_least(0.0)));
        assert_eq!((missed.found, missed.verdict), (None, Judgement::Missed));
        assert!(missed.reason.expect("a reason").contains("no quantity `hight`"));
    }

    #[test]
    fn a_window_without_outputs_is_missed_with_a_reason() {
        let window = Some((0.31, 0.39));
        let missed = verdict(Expectation { window, ..expect("height", Take::Mean, at_least(0.0)) });
        assert!(missed.verdict == Judgement::Missed && missed.reason.is_some());
    }

    #[test]
    fn a_value_that_is_not_a_number_is_missed_whatever_the_bounds() {
        let early = |time: f64| if time < 0.05 { f64::NAN } else { time };
        let late = |time: f64| if time > 0.95 { f64::NAN } else { time };
        for take in [Take::Maximum, Take::Mean, Take::Rises, Take::Rate] {
            let missed = verdict_on(early, expect("height", take, Bounds::default()));
            assert!(missed.verdict == Judgement::Missed && missed.reason.is_some(), "{missed:?}");
        }
        assert_eq!(
            verdict_on(late, expect("height", Take::Final, Bounds::default())).verdict,
            Judgement::Missed
        );
        assert_eq!(
            verdict_on(early, expect("height", Take::Final, Bounds::default())).verdict,
            Judgement::Met
        );
    }

    #[test]
    fn a_run_that_ended_early_leaves_its_expectations_open() {
        let open = leave_open(&[expect("height", Take::Final, at_least(0.0))], 0.5, Precision::Double);
        assert_eq!(open[0].verdict, Judgement::NotReached);
        assert_eq!(open[0].reason.as_deref(), Some("the run ended at t = 0.5 s"));
    }
}
