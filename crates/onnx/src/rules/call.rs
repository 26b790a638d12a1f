//! Operands and attributes of a call.

use std::borrow::Cow;

use super::folding::{self, Known};
use super::{Call, Fault, invalid, shape};
use crate::fact::{Element, Fact, Number};
use crate::graph::Attribute;

/// Integers of an attribute or an input, if they are there.
type Moved<'a> = Result<Option<Cow<'a, [i64]>>, Fault>;

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

    /// Facts about every input from the first of them on, or every so many.
    pub(super) fn all(&self, first: usize, step: usize) -> Result<Vec<&'a Fact>, Fault> {
        (first..self.inputs.len()).step_by(step).map(|index| self.input(index)).collect()
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
    pub(crate) fn elements(&self, index: usize) -> Result<Vec<i64>, Fault> {
        let ints = self.known(index)?.iter().map(|number| number.int()).collect::<Option<_>>();
        ints.ok_or_else(|| Fault::Invalid(format!("input {index} is not of integers")))
    }

    /// Elements of an input as numbers.
    pub(super) fn floats(&self, index: usize) -> Result<Vec<f64>, Fault> {
        let floats = self.known(index)?.iter().map(|number| number.float()).collect::<Option<_>>();
        floats.ok_or_else(|| Fault::Invalid(format!("input {index} is of integers")))
    }

    /// Elements of an input.
    pub(super) fn known(&self, index: usize) -> Result<&'a [Number], Fault> {
        self.input(index)?.known().ok_or(Fault::Elements(index))
    }

    /// The only element of an input as an integer.
    pub(crate) fn scalar(&self, index: usize) -> Result<i64, Fault> {
        match self.elements(index)?[..] {
            [value] => Ok(value),
            ref more => invalid(format!("{} elements of input {index}, which has 1", more.len())),
        }
    }

    /// The only element of an input as an integer, if it is known.
    pub(super) fn scalar_if_known(&self, index: usize) -> Result<Option<i64>, Fault> {
        match self.scalar(index) {
            Err(Fault::Elements(_)) => Ok(None),
            found => found.map(Some),
        }
    }

    /// An attribute, if it is given.
    pub(super) fn attribute(&self, name: &str) -> Option<&'a Attribute> {
        let attribute = self.node.attribute(name)?;
        (!matches!(attribute, Attribute::OfFunction(_))).then_some(attribute)
    }

    /// An attribute as `of` reads it, if it is given.
    fn read<T>(
        &self,
        name: &str,
        kind: &str,
        of: impl Fn(&'a Attribute) -> Option<T>,
    ) -> Result<Option<T>, Fault> {
        let wrong = || Fault::Invalid(format!("`{name}` is not {kind}"));
        self.attribute(name).map(|attribute| of(attribute).ok_or_else(wrong)).transpose()
    }

    /// An attribute that is an integer, if it is given.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(crate) fn int_if(&self, name: &str) -> Result<Option<i64>, Fault> {
        self.read(name, "an integer", Attribute::int)
    }

    /// An attribute that is an integer.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(crate) fn int(&self, name: &str, default: i64) -> Result<i64, Fault> {
        Ok(self.int_if(name)?.unwrap_or(default))
    }

    /// An attribute that is an extent.
    pub(super) fn extent(&self, name: &str, default: i64) -> Result<u64, Fault> {
        shape::extent(self.int(name, default)?, &format!("`{name}`"))
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
        self.read(name, "a list of integers", Attribute::ints)
    }

    /// An attribute that is a number.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(super) fn float(&self, name: &str, default: f32) -> Result<f32, Fault> {
        Ok(self.read(name, "a number", Attribute::float)?.unwrap_or(default))
    }

    /// An attribute that is a text.
    ///
    /// # Errors
    ///
    /// [`Fault::Invalid`], if it is something else.
    pub(super) fn text(&self, name: &str, default: &'a str) -> Result<&'a str, Fault> {
        Ok(self.read(name, "a text", Attribute::text)?.unwrap_or(default))
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
    pub(super) fn moved(&self, name: &str, input: usize, from: i64) -> Moved<'a> {
        // `com.microsoft` counts its opsets apart, and always has inputs.
        let is_attribute = self.node.domain.is_empty() && self.opset < from;
        let is_input = self.optional(input).is_some();
        if is_attribute {
            ensure!(!is_input, "`{name}` is an attribute before opset {from}");
            return Ok(self.ints(name)?.map(Cow::Borrowed));
        }
        ensure!(self.attribute(name).is_none(), "`{name}` is an input from opset {from} on");
        is_input.then(|| self.elements(input).map(Cow::Owned)).transpose()
    }

    /// Checks that there are at most so many inputs.
    pub(super) fn at_most(&self, most: usize) -> Result<(), Fault> {
        let count = self.inputs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        ensure!(count <= most, "{count} inputs, and the operator has {most}");
        Ok(())
    }

    /// An output whose elements are not known.
    pub(super) fn output(&self, element: Element, shape: Vec<u64>) -> Fact {
        let is_constant = self.inputs.iter().flatten().all(|fact| fact.is_constant);
        Fact { element, shape, elements: None, is_constant }
    }

    /// An output with its elements, if they are known and fit its type.
    pub(super) fn folded(&self, element: Element, shape: Vec<u64>, elements: Known) -> Fact {
        let elements = folding::settle(element, elements);
        Fact { elements, ..self.output(element, shape) }
    }

    /// An output of the shape and type of an input.
    pub(super) fn like(&self, input: &Fact) -> Fact {
        self.output(input.element, input.shape.clone())
    }

    /// An output with the elements of an input in another shape.
    pub(super) fn reshaped(&self, input: &Fact, shape: Vec<u64>) -> Fact {
        Fact { elements: input.elements.clone(), ..self.output(input.element, shape) }
    }
}
