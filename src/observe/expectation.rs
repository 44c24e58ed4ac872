//! Whether a run came to the numbers that its scenario expects.

use super::{Observation, Observer};
use crate::scenario::Expectation;

/// What became of an expectation.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Verdict {
    /// The quantity and where it was taken: `height`, `height over 2 to 3 s`.
    pub quantity: String,
    /// What was expected: `0.3 ± 0.01`, `at least 2`.
    pub expected: String,
    /// What was found; absent when there was nothing to judge.
    pub found: Option<f64>,
    /// The judgement.
    pub verdict: Judgement,
    /// Why there was nothing to judge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A judgement on an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Judgement {
    /// The number is within its bounds.
    Met,
    /// It is not, or it does not exist.
    Missed,
    /// The run ended before its time.
    NotReached,
}

/// Judges all expectations by the observations of a complete run.
pub fn judge(
    expectations: &[Expectation],
    observer: &Observer,
    observations: &[Observation],
) -> Vec<Verdict> {
    let judge_one = |expectation: &Expectation| match find_value(expectation, observer, observations) {
        Ok(found) => {
            let verdict = if is_within(expectation, found) { Judgement::Met } else { Judgement::Missed };
            Verdict { found: Some(found), verdict, ..blank(expectation, None) }
        }
        Err(reason) => blank(expectation, Some(reason)),
    };
    expectations.iter().map(judge_one).collect()
}

/// The verdicts of a run that ended at `time` \[s\], before its duration.
pub fn leave_open(expectations: &[Expectation], time: f64) -> Vec<Verdict> {
    let reason = format!("the run ended at t = {time} s");
    let open =
        |expectation| Verdict { verdict: Judgement::NotReached, ..blank(expectation, Some(reason.clone())) };
    expectations.iter().map(open).collect()
}

/// The final value of a quantity, or its mean over the outputs in a window.
fn find_value(
    expectation: &Expectation,
    observer: &Observer,
    observations: &[Observation],
) -> Result<f64, String> {
    let quantity = &expectation.quantity;
    let column = observer.find(quantity).ok_or_else(|| format!("there is no quantity `{quantity}`"))?;
    let values = match expectation.window {
        None => observations.last().map(|last| last.values[column]).into_iter().collect(),
        Some(window) => values_within(window, column, observations),
    };
    if values.is_empty() {
        return Err("there is no output in the window; lower output.every".into());
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if mean.is_nan() { Err("it has no meaning in this state (not a number)".into()) } else { Ok(mean) }
}

/// Values at the outputs in a window, its ends included.
fn values_within((from, to): (f64, f64), column: usize, observations: &[Observation]) -> Vec<f64> {
    // Times are multiples of the step: rounding must not put an output outside that lies on an end.
    let slack = 1e-9 * to.abs();
    let is_inside = |time: f64| (from - slack..=to + slack).contains(&time);
    let inside = observations.iter().filter(|observation| is_inside(observation.time));
    inside.map(|observation| observation.values[column]).collect()
}

fn is_within(expectation: &Expectation, found: f64) -> bool {
    let near = expectation.value.is_none_or(|(value, tolerance)| (found - value).abs() <= tolerance);
    let above = expectation.at_least.is_none_or(|bound| found >= bound);
    let below = expectation.at_most.is_none_or(|bound| found <= bound);
    near && above && below
}

/// A miss of an expectation, for `reason`.
fn blank(expectation: &Expectation, reason: Option<String>) -> Verdict {
    let quantity = match expectation.window {
        None => expectation.quantity.clone(),
        Some((from, to)) => format!("{} over {from} to {to} s", expectation.quantity),
    };
    let bounds = [
        expectation.value.map(|(value, tolerance)| format!("{value} ± {tolerance}")),
        expectation.at_least.map(|bound| format!("at least {bound}")),
        expectation.at_most.map(|bound| format!("at most {bound}")),
    ];
    let expected = bounds.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Verdict { quantity, expected, found: None, verdict: Judgement::Missed, reason }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::stack;
    use super::*;

    fn expect(quantity: &str) -> Expectation {
        Expectation { quantity: quantity.into(), value: None, at_least: None, at_most: None, window: None }
    }

    /// Observations in which every quantity equals the time: 0, 0.1, ... 1 s.
    fn observations(observer: &Observer) -> Vec<Observation> {
        let at = |k: u64| {
            let time = 0.1 * k as f64;
            Observation { time, step: k, values: vec![time; observer.columns().len()] }
        };
        (0..=10).map(at).collect()
    }

    fn verdict(expectation: Expectation) -> Verdict {
        let observer = Observer::new(&stack().world, None);
        judge(&[expectation], &observer, &observations(&observer)).remove(0)
    }

    #[test]
    fn without_a_window_the_final_value_counts() {
        let found = verdict(Expectation { value: Some((1.0, 0.01)), ..expect("height") });
        assert_eq!((found.found, found.verdict), (Some(1.0), Judgement::Met));
        assert_eq!((found.quantity.as_str(), found.expected.as_str()), ("height", "1 ± 0.01"));
        let missed = verdict(Expectation { value: Some((1.02, 0.01)), ..expect("height") });
        assert_eq!(missed.verdict, Judgement::Missed);
    }

    #[test]
    fn a_window_takes_the_mean_of_its_outputs_with_both_ends() {
        // 0.3, 0.4, 0.5, 0.6, 0.7 (which 7 · 0.1 exceeds by rounding)
        let window = Some((0.3, 0.7));
        let found = verdict(Expectation { window, at_least: Some(0.0), ..expect("height") });
        approx::assert_relative_eq!(found.found.expect("a value"), 0.5, max_relative = 1e-12);
        assert_eq!(found.quantity, "height over 0.3 to 0.7 s");
    }

    #[test]
    fn every_bound_that_is_given_must_hold() {
        let both = Expectation { at_least: Some(0.5), at_most: Some(0.9), ..expect("height") };
        assert_eq!(verdict(both.clone()).expected, "at least 0.5, at most 0.9");
        assert_eq!(verdict(both).verdict, Judgement::Missed);
        let wide = Expectation { at_least: Some(1.0), at_most: Some(1.0), ..expect("height") };
        assert_eq!(verdict(wide).verdict, Judgement::Met);
    }

    #[test]
    fn a_quantity_that_does_not_exist_is_missed_with_a_reason() {
        let missed = verdict(Expectation { at_least: Some(0.0), ..expect("hight") });
        assert_eq!((missed.found, missed.verdict), (None, Judgement::Missed));
        assert!(missed.reason.expect("a reason").contains("no quantity `hight`"));
    }

    #[test]
    fn a_window_without_outputs_is_missed_with_a_reason() {
        let missed = verdict(Expectation { window: Some((0.31, 0.39)), ..expect("height") });
        assert!(missed.verdict == Judgement::Missed && missed.reason.is_some());
    }

    #[test]
    fn a_value_that_is_not_a_number_is_missed_whatever_the_bounds() {
        let observer = Observer::new(&stack().world, None);
        let mut observations = observations(&observer);
        observations[10].values.fill(f64::NAN);
        let missed = judge(&[expect("height")], &observer, &observations).remove(0);
        assert!(missed.verdict == Judgement::Missed && missed.reason.is_some());
    }

    #[test]
    fn a_run_that_ended_early_leaves_its_expectations_open() {
        let open = leave_open(&[expect("height")], 0.5);
        assert_eq!(open[0].verdict, Judgement::NotReached);
        assert_eq!(open[0].reason.as_deref(), Some("the run ended at t = 0.5 s"));
    }
}
