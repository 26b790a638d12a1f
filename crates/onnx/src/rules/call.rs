//! Operands and attributes of a call.

use super::super::fact::{Element, Elements, Fact};
use super::super::graph::Attribute;
use super::folding::{self, Known};
use super::{Call, Fault, invalid, shape};

impl<'a> Call<'a> {
    /// Name of the operator.
    pub(crate) fn operator(&self) -> &'a str {
        &self.node.operator
    }

    /// Facts about an input that the operator cannot do without.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is left out.
    pub(crate) fn input(&self, index: usize) -> Result<&'a Fact, Fault> {
        match self.optional(index) {
            Some(fact) => Ok(fact),
            None => invalid(format!("input {index} is missing")),
        }
    }

    /// Facts about an input, if it is there.
    pub(crate) fn optional(&self, index: usize) -> Option<&'a Fact> {
        self.inputs.get(index)?.as_deref()
    }

    /// Whether an input is there and not empty.
    pub(crate) fn has(&self, index: usize) -> bool {
        self.optional(index).is_some_and(|fact| fact.count() > 0)
    }

    /// Elements of an input as integers.
    ///
    /// # Errors
    ///
    /// [`Fault::Elements`], if they are not known; [`Fault::Invalid`], if they are no integers.
    pub(crate) fn elements(&self, index: usize) -> Result<&'a [i64], Fault> {
        match self.input(index)?.elements.as_deref() {
            Some(Elements::Ints(ints)) => Ok(ints),
            Some(Elements::Floats(floats)) if floats.is_empty() => Ok(&[]),
            Some(Elements::Floats(_)) => invalid(format!("input {index} is not of integers")),
            None => Err(Fault::Elements(index)),
        }
    }

    /// Elements of an input as numbers.
    pub(super) fn floats(&self, index: usize) -> Result<&'a [f64], Fault> {
        match self.input(index)?.elements.as_deref() {
            Some(Elements::Floats(floats)) => Ok(floats),
            Some(Elements::Ints(ints)) if ints.is_empty() => Ok(&[]),
            Some(Elements::Ints(_)) => invalid(format!("input {index} is of integers")),
            None => Err(Fault::Elements(index)),
        }
    }

    /// The only element of an input as an integer.
    pub(crate) fn scalar(&self, index: usize) -> Result<i64, Fault> {
        match self.elements(index)? {
            [value] => Ok(*value),
            more => invalid(format!("{} elements of input {index}, which has 1", more.len())),
        }
    }

    /// An attribute, if it is given.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        let (_, attribute) = self.node.attributes.iter().find(|(own, _)| **own == *name)?;
        (!matches!(attribute, Attribute::OfFunction(_))).then_some(attribute)
    }

    /// An attribute that is an integer, if it is given.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(crate) fn int_if(&self, name: &str) -> Result<Option<i64>, Fault> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Int(value)) => Ok(Some(*value)),
            Some(_) => invalid(format!("`{name}` is not an integer")),
        }
    }

    /// An attribute that is an integer.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(crate) fn int(&self, name: &str, default: i64) -> Result<i64, Fault> {
        Ok(self.int_if(name)?.unwrap_or(default))
    }

    /// An attribute that is a switch.
    pub(super) fn flag(&self, name: &str) -> Result<bool, Fault> {
        Ok(self.int(name, 0)? != 0)
    }

    /// An attribute of integers, if it is given.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(crate) fn ints(&self, name: &str) -> Result<Option<&'a [i64]>, Fault> {
        match self.attribute(name) {
            None => Ok(None),
            Some(Attribute::Ints(values)) => Ok(Some(values)),
            // An empty list has no type.
            Some(Attribute::Floats(values)) if values.is_empty() => Ok(Some(&[])),
            Some(_) => invalid(format!("`{name}` is not a list of integers")),
        }
    }

    /// An attribute that is a number.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(crate) fn float(&self, name: &str, default: f32) -> Result<f32, Fault> {
        match self.attribute(name) {
            None => Ok(default),
            Some(Attribute::Float(value)) => Ok(*value),
            Some(_) => invalid(format!("`{name}` is not a number")),
        }
    }

    /// An attribute that is a text.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(crate) fn text(&self, name: &str, default: &'a str) -> Result<&'a str, Fault> {
        match self.attribute(name) {
            None => Ok(default),
            Some(Attribute::Text(value)) => Ok(value),
            Some(_) => invalid(format!("`{name}` is not a text")),
        }
    }

    /// The attribute `axis` as an index into the axes of an input.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if the input has no such axis.
    pub(crate) fn axis(&self, default: i64, input: usize) -> Result<usize, Fault> {
        shape::axis(self.int("axis", default)?, self.input(input)?.shape.len())
    }

    /// Integers that are an attribute before an opset, and an input from it on.
    pub(super) fn moved(
        &self,
        name: &str,
        input: usize,
        from: i64,
    ) -> Result<Option<&'a [i64]>, Fault> {
        // `com.microsoft` counts its opsets apart, and always has inputs.
        let is_standard = self.node.domain.is_empty();
        if is_standard && self.opset < from {
            return match self.optional(input) {
                Some(_) => invalid(format!("`{name}` is an attribute before opset {from}")),
                None => self.ints(name),
            };
        }
        if self.attribute(name).is_some() {
            return invalid(format!("`{name}` is an input from opset {from} on"));
        }
        match self.optional(input) {
            Some(_) => self.elements(input).map(Some),
            None => Ok(None),
        }
    }

    /// Checks that there are at most so many inputs.
    pub(super) fn at_most(&self, most: usize) -> Result<(), Fault> {
        match self.inputs.iter().rposition(Option::is_some) {
            Some(last) if last >= most => {
                invalid(format!("{} inputs, and the operator has {most}", last + 1))
            }
            _ => Ok(()),
        }
    }

    /// Whether all inputs that are there are constants.
    pub(super) fn is_constant(&self) -> bool {
        self.inputs.iter().flatten().all(|fact| fact.is_constant)
    }

    /// An output whose elements are not known.
    pub(super) fn output(&self, element: Element, shape: Vec<u64>) -> Fact {
        Fact { element, shape, elements: None, is_constant: self.is_constant() }
    }

    /// An output with its elements, if they are known and fit its type.
    pub(super) fn known(&self, element: Element, shape: Vec<u64>, elements: Known) -> Fact {
        let elements = folding::settle(element, elements);
        Fact { elements, ..self.output(element, shape) }
    }

    /// An output with the elements of an input in another shape.
    pub(super) fn reshaped(&self, input: &Fact, shape: Vec<u64>) -> Fact {
        Fact { elements: input.elements.clone(), ..self.output(input.element, shape) }
    }
}
