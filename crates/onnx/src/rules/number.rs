//! Arithmetic on elements: integers exact or not at all, numbers in 64 bits.

use std::cmp::Ordering;

use crate::fact::{Element, Number};

use Number::{Float, Int};

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

pub(super) fn mul(a: Number, b: Number) -> Option<Number> {
    both(a, b, i64::checked_mul, |a, b| a * b)
}

pub(super) fn max(a: Number, b: Number) -> Option<Number> {
    Some(if order(a, b)??.is_lt() { b } else { a })
}

pub(super) fn min(a: Number, b: Number) -> Option<Number> {
    Some(if order(a, b)??.is_lt() { a } else { b })
}

/// Order of two elements, if there is one; `None` of a mixture of types.
fn order(a: Number, b: Number) -> Option<Option<Ordering>> {
    match (a, b) {
        (Int(a), Int(b)) => Some(Some(a.cmp(&b))),
        (Float(a), Float(b)) => Some(a.partial_cmp(&b)),
        _ => None,
    }
}

/// Remainder with the sign of the divisor, of integers alone.
fn modulo(a: Number, b: Number) -> Option<Number> {
    let (a, b) = (a.int()?, b.int()?);
    let rest = a.checked_rem(b)?;
    Some(Int(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }))
}

/// Power of the type of the base.
fn pow(a: Number, b: Number) -> Option<Number> {
    match (a, b) {
        (Int(a), Int(b)) => a.checked_pow(u32::try_from(b).ok()?).map(Int),
        (Int(a), Float(b)) => integer((a as f64).powf(b)).map(Int),
        (Float(a), b) => Some(Float(a.powf(b.value()))),
    }
}

fn compare(a: Number, b: Number, holds: impl Fn(Ordering) -> bool) -> Option<Number> {
    Some(Int(i64::from(order(a, b)?.is_some_and(holds))))
}

fn truth(a: Number, b: Number, holds: impl Fn(bool, bool) -> bool) -> Option<Number> {
    Some(Int(i64::from(holds(a.int()? != 0, b.int()? != 0))))
}

/// Function of two elements that an operator applies; `fmod` is the remainder with the sign of the dividend.
pub(super) fn binary(operator: &str) -> Option<Binary> {
    Some(match operator {
        "Add" | "Sum" => add,
        "Sub" => |a, b| both(a, b, i64::checked_sub, |a, b| a - b),
        "Mul" => mul,
        "Div" => |a, b| both(a, b, i64::checked_div, |a, b| a / b),
        "Max" => max,
        "Min" => min,
        "Mod" => modulo,
        "fmod" => |a, b| both(a, b, i64::checked_rem, |a, b| a % b),
        "Pow" => pow,
        "Equal" => |a, b| compare(a, b, Ordering::is_eq),
        "Greater" => |a, b| compare(a, b, Ordering::is_gt),
        "GreaterOrEqual" => |a, b| compare(a, b, Ordering::is_ge),
        "Less" => |a, b| compare(a, b, Ordering::is_lt),
        "LessOrEqual" => |a, b| compare(a, b, Ordering::is_le),
        "And" => |a, b| truth(a, b, |a, b| a && b),
        "Or" => |a, b| truth(a, b, |a, b| a || b),
        "Xor" => |a, b| truth(a, b, |a, b| a != b),
        _ => return None,
    })
}

fn one(
    number: Number,
    int: impl Fn(i64) -> Option<i64>,
    float: impl Fn(f64) -> f64,
) -> Option<Number> {
    match number {
        Int(value) => int(value).map(Int),
        Float(value) => Some(Float(float(value))),
    }
}

fn of_float(number: Number, function: impl Fn(f64) -> f64) -> Option<Number> {
    number.float().map(|value| Float(function(value)))
}

fn sign(value: f64) -> f64 {
    if value == 0.0 || value.is_nan() { value } else { value.signum() }
}

/// Function of one element that an operator applies.
pub(super) fn unary(operator: &str) -> Option<Unary> {
    Some(match operator {
        "Neg" => |number| one(number, i64::checked_neg, |value| -value),
        "Abs" => |number| one(number, i64::checked_abs, f64::abs),
        "Sign" => |number| one(number, |value| Some(value.signum()), sign),
        "Not" => |number| number.int().map(|value| Int(i64::from(value == 0))),
        "Relu" => {
            |number| one(number, |value| Some(value.max(0)), |it| if it < 0.0 { 0.0 } else { it })
        }
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
    match number {
        _ if element == Element::BOOL => Some(Int(i64::from(number.value() != 0.0))),
        Int(_) if element.is_integer() => Some(number),
        Float(value) if element.is_integer() => integer(value).map(Int),
        _ => matches!(element.0, 1 | 10 | 11 | 16).then_some(Float(number.value())),
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
    let Some(bits) = element.bits().filter(|_| element.is_integer()) else { return false };
    let is_signed = matches!(element.0, 3 | 5 | 6 | 7 | 22 | 26);
    match bits {
        _ if element == Element::BOOL => (0..=1).contains(&value),
        64 => is_signed || value >= 0,
        _ if is_signed => (-(1 << (bits - 1))..1 << (bits - 1)).contains(&value),
        _ => (0..1 << bits).contains(&value),
    }
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
