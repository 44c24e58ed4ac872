//! Formulas of variables, with the operators and functions of LAMMPS.

use exmex::{BinOp, Express, FlatEx, MakeOperators, MatchLiteral, Operator, literal_matcher_from_pattern};

/// Operators of LAMMPS from the weakest on; equal ones from left to right, and all below the sign of a number: `-2^2` is 4.
#[derive(Debug, Clone)]
struct FormulaOperators;

impl MakeOperators<f64> for FormulaOperators {
    fn make<'a>() -> Vec<Operator<'a, f64>> {
        let bin = |apply: fn(f64, f64) -> f64, prio: i64| BinOp { apply, prio, is_commutative: false };
        let one = |name, apply: fn(f64) -> f64| Operator::make_unary(name, apply);
        let two = |name, apply: fn(f64, f64) -> f64, prio| Operator::make_bin(name, bin(apply, prio));
        vec![
            Operator::make_constant("PI", std::f64::consts::PI),
            two("||", |a, b| truth(a != 0.0 || b != 0.0), 1),
            two("&&", |a, b| truth(a != 0.0 && b != 0.0), 2),
            two("==", |a, b| truth(a == b), 3),
            two("!=", |a, b| truth(a != b), 3),
            two("<=", |a, b| truth(a <= b), 4),
            two(">=", |a, b| truth(a >= b), 4),
            two("<", |a, b| truth(a < b), 4),
            two(">", |a, b| truth(a > b), 4),
            Operator::make_bin_unary("+", bin(|a, b| a + b, 5), |a| a),
            Operator::make_bin_unary("-", bin(|a, b| a - b, 5), |a| -a),
            two("*", |a, b| a * b, 6),
            two("/", |a, b| a / b, 6),
            two("%", |a, b| a % b, 6),
            two("^", f64::powf, 7),
            two("atan2", f64::atan2, 0),
            one("!", |a| truth(a == 0.0)),
            one("sqrt", f64::sqrt),
            one("exp", f64::exp),
            one("ln", f64::ln),
            one("log", f64::log10),
            one("abs", f64::abs),
            one("sin", f64::sin),
            one("cos", f64::cos),
            one("tan", f64::tan),
            one("asin", f64::asin),
            one("acos", f64::acos),
            one("atan", f64::atan),
            one("ceil", f64::ceil),
            one("floor", f64::floor),
            one("round", f64::round),
        ]
    }
}

fn truth(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

literal_matcher_from_pattern!(FormulaNumber, r"^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?");

/// A formula that was read.
type ReadFormula = FlatEx<f64, FormulaOperators, FormulaNumber>;

/// Value of a formula; `value_of` gives the values of the names in it, such as `v_gap`.
///
/// # Errors
/// What is wrong, in words: a name without a value, or a formula that cannot be read.
pub fn value(formula: &str, value_of: &dyn Fn(&str) -> Result<f64, String>) -> Result<f64, String> {
    // A formula that was read is large. None is kept while the formulas of its names are read, or deep ones would fill the stack.
    let values: Vec<f64> =
        names(formula)?.iter().map(|name| value_of(name)).collect::<Result<_, String>>()?;
    let value = evaluated(formula, &values)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("`{formula}` is {value}, expected a finite number"))
    }
}

/// Names in a formula, in their order.
#[inline(never)]
fn names(formula: &str) -> Result<Vec<String>, String> {
    let read = ReadFormula::parse(formula).map_err(|_| unreadable(formula))?;
    Ok(read.var_names().to_vec())
}

#[inline(never)]
fn evaluated(formula: &str, values: &[f64]) -> Result<f64, String> {
    ReadFormula::parse(formula).and_then(|read| read.eval(values)).map_err(|_| unreadable(formula))
}

fn unreadable(formula: &str) -> String {
    format!("`{formula}` is no formula of numbers, variables and functions that are known before a run")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(formula: &str) -> Result<f64, String> {
        value(formula, &|name| match name {
            "v_two" => Ok(2.0),
            other => Err(format!("no `{other}`")),
        })
    }

    #[test]
    fn formulas_have_the_precedence_of_lammps() {
        for (formula, expected) in [
            ("2-3-4", -5.0),
            ("8/4/2", 1.0),
            ("2^3^2", 64.0),
            ("-2^2", 4.0),
            ("2*3/4*2", 3.0),
            ("12/2*3", 18.0),
            ("7%4*2", 6.0),
            ("2+3*4^2", 50.0),
            ("1.e-5*5.e6", 50.0),
            (".5+v_two", 2.5),
            ("log(1000)+ln(exp(2))", 5.0),
            ("atan2(1.0,1.0)*4/PI", 1.0),
            ("(0.67/0.25)^(40/(3.*50000))", (0.67f64 / 0.25).powf(40.0 / 150000.0)),
            ("(1<2)+(3>=3)*2+!(1)", 3.0),
            ("2*sqrt(16)-abs(-3)", 5.0),
        ] {
            let found = of(formula).unwrap_or_else(|error| panic!("{formula}: {error}"));
            assert!((found - expected).abs() < 1e-12, "{formula} = {found}, expected {expected}");
        }
    }

    #[test]
    fn what_has_no_value_is_told() {
        assert_eq!(of("2*v_three").expect_err("unknown"), "no `v_three`");
        assert!(of("2*").expect_err("cut off").contains("`2*` is no formula"));
        assert!(of("1/0").expect_err("infinite").contains("finite"));
        assert!(of("c_1[2]+1").is_err());
    }
}
