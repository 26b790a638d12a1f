//! Arithmetic on elements: integers exact or not at all, numbers in 64 bits.

use super::super::fact::{Element, Elements};

/// One element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// An integer or a truth value.
    Int(i64),
    /// A number.
    Float(f64),
}

use Number::{Float, Int};

/// Element at an index.
pub(super) fn get(elements: &Elements, index: usize) -> Option<Number> {
    match elements {
        Elements::Ints(ints) => ints.get(index).copied().map(Int),
        Elements::Floats(floats) => floats.get(index).copied().map(Float),
    }
}

/// Elements of one kind; `None` of a mixture or if one is not known.
pub(super) fn collect(numbers: impl Iterator<Item = Option<Number>>) -> Option<Elements> {
    let mut numbers = numbers.peekable();
    match numbers.peek() {
        Some(Some(Float(_))) => numbers
            .map(|number| match number {
                Some(Float(value)) => Some(value),
                _ => None,
            })
            .collect::<Option<_>>()
            .map(Elements::Floats),
        _ => numbers
            .map(|number| match number {
                Some(Int(value)) => Some(value),
                _ => None,
            })
            .collect::<Option<_>>()
            .map(Elements::Ints),
    }
}

/// A function of two elements; `None` where it has no value.
pub(super) type Binary = fn(Number, Number) -> Option<Number>;

/// A function of one element; `None` where it has no value.
pub(super) type Unary = fn(Number) -> Option<Number>;

fn both(
    a: Number,
    b: Number,
    ints: impl Fn(i64, i64) -> Option<i64>,
    floats: impl Fn(f64, f64) -> f64,
) -> Option<Number> {
    match (a, b) {
        (Int(a), Int(b)) => ints(a, b).map(Int),
        (Float(a), Float(b)) => Some(Float(floats(a, b))),
        _ => None,
    }
}

pub(super) fn add(a: Number, b: Number) -> Option<Number> {
    both(a, b, i64::checked_add, |a, b| a + b)
}

fn sub(a: Number, b: Number) -> Option<Number> {
    both(a, b, i64::checked_sub, |a, b| a - b)
}

pub(super) fn mul(a: Number, b: Number) -> Option<Number> {
    both(a, b, i64::checked_mul, |a, b| a * b)
}

fn div(a: Number, b: Number) -> Option<Number> {
    both(a, b, i64::checked_div, |a, b| a / b)
}

pub(super) fn max(a: Number, b: Number) -> Option<Number> {
    ordered(a, b, |less| !less)
}

pub(super) fn min(a: Number, b: Number) -> Option<Number> {
    ordered(a, b, |less| less)
}

fn ordered(a: Number, b: Number, first: impl Fn(bool) -> bool) -> Option<Number> {
    match (a, b) {
        (Int(x), Int(y)) => Some(if first(x < y) { a } else { b }),
        (Float(x), Float(y)) => {
            let less = x.partial_cmp(&y)?.is_lt();
            Some(if first(less) { a } else { b })
        }
        _ => None,
    }
}

/// Remainder with the sign of the divisor, of integers alone.
fn modulo(a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        (Int(a), Int(b)) => {
            let rest = a.checked_rem(b)?;
            Some(Int(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }))
        }
        _ => None,
    }
}

/// Remainder with the sign of the dividend.
pub(super) fn fmod(a: Number, b: Number) -> Option<Number> {
    both(a, b, i64::checked_rem, |a, b| a % b)
}

/// Power of the type of the base.
fn pow(a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        (Int(a), Int(b)) => a.checked_pow(u32::try_from(b).ok()?).map(Int),
        (Int(a), Float(b)) => integer((a as f64).powf(b)).map(Int),
        (Float(a), Int(b)) => Some(Float(a.powf(b as f64))),
        (Float(a), Float(b)) => Some(Float(a.powf(b))),
    }
}

fn compare(a: Number, b: Number, holds: impl Fn(std::cmp::Ordering) -> bool) -> Option<Number> {
    let order = match (a, b) {
        (Int(a), Int(b)) => Some(a.cmp(&b)),
        (Float(a), Float(b)) => a.partial_cmp(&b),
        _ => return None,
    };
    Some(Int(i64::from(order.is_some_and(holds))))
}

fn truth(a: Number, b: Number, holds: impl Fn(bool, bool) -> bool) -> Option<Number> {
    match (a, b) {
        (Int(a), Int(b)) => Some(Int(i64::from(holds(a != 0, b != 0)))),
        _ => None,
    }
}

/// Function of two elements that an operator applies.
pub(super) fn binary(operator: &str) -> Option<Binary> {
    Some(match operator {
        "Add" | "Sum" => add,
        "Sub" => sub,
        "Mul" => mul,
        "Div" => div,
        "Max" => max,
        "Min" => min,
        "Mod" => modulo,
        "Pow" => pow,
        "Equal" => |a, b| compare(a, b, |order| order.is_eq()),
        "Greater" => |a, b| compare(a, b, |order| order.is_gt()),
        "GreaterOrEqual" => |a, b| compare(a, b, |order| order.is_ge()),
        "Less" => |a, b| compare(a, b, |order| order.is_lt()),
        "LessOrEqual" => |a, b| compare(a, b, |order| order.is_le()),
        "And" => |a, b| truth(a, b, |a, b| a && b),
        "Or" => |a, b| truth(a, b, |a, b| a || b),
        "Xor" => |a, b| truth(a, b, |a, b| a != b),
        _ => return None,
    })
}

fn of_float(number: Number, function: impl Fn(f64) -> f64) -> Option<Number> {
    match number {
        Float(value) => Some(Float(function(value))),
        Int(_) => None,
    }
}

fn neg(number: Number) -> Option<Number> {
    Some(match number {
        Int(value) => Int(value.checked_neg()?),
        Float(value) => Float(-value),
    })
}

fn abs(number: Number) -> Option<Number> {
    Some(match number {
        Int(value) => Int(value.checked_abs()?),
        Float(value) => Float(value.abs()),
    })
}

fn sign(number: Number) -> Option<Number> {
    Some(match number {
        Int(value) => Int(value.signum()),
        Float(value) if value == 0.0 || value.is_nan() => Float(value),
        Float(value) => Float(value.signum()),
    })
}

fn not(number: Number) -> Option<Number> {
    match number {
        Int(value) => Some(Int(i64::from(value == 0))),
        Float(_) => None,
    }
}

fn relu(number: Number) -> Option<Number> {
    Some(match number {
        Int(value) => Int(value.max(0)),
        Float(value) if value < 0.0 => Float(0.0),
        Float(_) => number,
    })
}

/// Function of one element that an operator applies.
pub(super) fn unary(operator: &str) -> Option<Unary> {
    Some(match operator {
        "Neg" => neg,
        "Abs" => abs,
        "Sign" => sign,
        "Not" => not,
        "Relu" => relu,
        "Floor" => |number| of_float(number, f64::floor),
        "Ceil" => |number| of_float(number, f64::ceil),
        "Round" => |number| of_float(number, f64::round_ties_even),
        "Sqrt" => |number| of_float(number, f64::sqrt),
        "Reciprocal" => |number| of_float(number, f64::recip),
        "Exp" => |number| of_float(number, f64::exp),
        "Log" => |number| of_float(number, f64::ln),
        _ => return None,
    })
}

/// Integer part of a number; `None` if it is none or out of range.
pub(super) fn integer(value: f64) -> Option<i64> {
    // Both ends are exact in 64 bits of floating point.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value);
    fits.then_some(value as i64)
}

/// Element in another type; `None` where the standard says nothing.
pub(super) fn cast(number: Number, element: Element) -> Option<Number> {
    let is_float = matches!(element.0, 1 | 10 | 11 | 16);
    match number {
        Int(value) if element == Element::BOOL => Some(Int(i64::from(value != 0))),
        Float(value) if element == Element::BOOL => Some(Int(i64::from(value != 0.0))),
        Int(_) if element.is_integer() => Some(number),
        Float(value) if element.is_integer() => integer(value).map(Int),
        Int(value) if is_float => Some(Float(value as f64)),
        Float(_) if is_float => Some(number),
        _ => None,
    }
}

/// Element as its type holds it; `None` if it does not fit.
pub(super) fn settle(number: Number, element: Element) -> Option<Number> {
    match number {
        Int(value) => fits(value, element).then_some(number),
        Float(value) => round(value, element).map(Float),
    }
}

fn fits(value: i64, element: Element) -> bool {
    let (low, high) = match element.0 {
        2 => (0, i64::from(u8::MAX)),
        3 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        4 => (0, i64::from(u16::MAX)),
        5 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        6 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        7 => (i64::MIN, i64::MAX),
        9 => (0, 1),
        12 => (0, i64::from(u32::MAX)),
        13 => (0, i64::MAX),
        21 => (0, 15),
        22 => (-8, 7),
        25 => (0, 3),
        26 => (-2, 1),
        _ => return false,
    };
    (low..=high).contains(&value)
}

fn round(value: f64, element: Element) -> Option<f64> {
    match element.0 {
        1 => Some(f64::from(value as f32)),
        10 => digits(value, 11, -14).filter(|rounded| rounded.abs() <= 65_504.0),
        11 => Some(value),
        16 => digits(value, 8, -126),
        _ => None,
    }
}

/// Value with so many binary digits, and fewer below 2^`least`.
fn digits(value: f64, digits: i32, least: i32) -> Option<f64> {
    if value == 0.0 || !value.is_finite() {
        return (value == 0.0).then_some(value);
    }
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let scale = f64::powi(2.0, digits - 1 - exponent.max(least));
    Some((value * scale).round_ties_even() / scale)
}
