//! Tables of keys, from which both the reader of a mapping and its schema are made.

use crate::form::{self, Form, Key};
use xrsim_model::renamed::Renamed;

use super::read::{Fields, Problems};
use super::tree::Node;
use super::values::Reader;

/// A mapping whose keys `read` asks for.
pub(crate) struct Keys<F> {
    /// Kind of the described thing, with its article.
    what: &'static str,
    about: &'static str,
    renamed: &'static [Renamed],
    inherited: Vec<&'static str>,
    is_whole: bool,
    read: F,
}

/// Values of mappings that describe `what`, with the keys that `read` asks for.
pub(crate) fn mapping<T, F>(what: &'static str, read: F) -> Keys<F>
where
    F: Fn(&mut Fields<'_, '_, '_>) -> Option<T>,
{
    Keys { what, about: "", renamed: &[], inherited: Vec::new(), is_whole: false, read }
}

impl<T, F: Fn(&mut Fields<'_, '_, '_>) -> Option<T>> Keys<F> {
    /// The same values with this description, see [`Form::documented`].
    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The same values, whose keys may also have these old names.
    pub(crate) fn with_renamed(self, renamed: &'static [Renamed]) -> Self {
        Self { renamed, ..self }
    }

    /// The same values, of which these keys may be absent.
    pub(crate) fn inheriting(self, inherited: Vec<&'static str>) -> Self {
        Self { inherited, ..self }
    }

    /// The same values, but none of a mapping with any problem.
    pub(crate) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// The value of keys that stand beside others in `fields`.
    pub(crate) fn among(&self, fields: &mut Fields<'_, '_, '_>) -> Option<T> {
        (self.read)(fields)
    }

    /// The keys for a schema.
    pub(crate) fn described(&self) -> Vec<Key> {
        Fields::keys_of(&self.inherited, |fields| drop((self.read)(fields)))
    }
}

impl<T, F: Fn(&mut Fields<'_, '_, '_>) -> Option<T>> Reader for Keys<F> {
    type Value = T;

    fn read(&self, node: &Node<'_>, problems: &mut Problems) -> Option<T> {
        let n_before = problems.len();
        let fields = Fields::from_mapping(node, self.what, problems)?;
        let mut fields = fields.with_renamed(self.renamed).inheriting(&self.inherited);
        let value = (self.read)(&mut fields);
        fields.finish();
        value.filter(|_| !self.is_whole || problems.len() == n_before)
    }

    fn form(&self) -> Form {
        form::object(self.described()).documented(self.about)
    }
}

/// Makes a function that returns the reader of a mapping, [`Keys`], from a table of its keys.
///
/// An entry has the name of the field, which is that of the key unless another one follows `as`; the type of the field;
/// the presence of the key; and the reader of its value. Its documentation is the description of the key in schemas. A
/// key is `required`, `optional` (the field is an `Option`), or has a default: `or("text", reader)`; see [`Fields`] for
/// the others. `among(keys)` is all keys of another table.
///
/// After `->` stands the type of the value: an existing one, whose fields then have no types here, or `struct` and the
/// name of a new one. Then follows its kind with its article, and a list of old names if there are any.
///
/// A block `check(fields) { .. }` sees every field by its name as an `Option`, before the value is made of them.
macro_rules! keys {
    (
        $(#[doc = $about:literal])*
        $vis:vis fn $reader:ident($($arg:ident: $arg_type:ty),*)
            -> $type:ident: $what:literal $(, $renamed:ident)?
        {
            $($(#[doc = $doc:literal])* $field:ident $(as $key:literal)? =
                $presence:ident($($value:tt)*);)*
        }
        $(check($fields:ident) $check:block)?
    ) => {
        $(#[doc = $about])*
        $vis fn $reader($($arg: $arg_type),*) -> $crate::yaml::keys::Keys<
            impl Fn(&mut $crate::yaml::Fields<'_, '_, '_>) -> Option<$type>
        > {
            let keys = $crate::yaml::keys::mapping($what, move |fields| {
                $(
                    let $field = $crate::yaml::keys::keys!(
                        @read $presence fields [$($key)? $field] [$($doc)*] $($value)*
                    );
                )*
                $({
                    let $fields = fields;
                    $check
                })?
                Some($type {
                    $($field: $crate::yaml::keys::keys!(@value $presence $field)),*
                })
            });
            keys.about(concat!($($about),*))$(.with_renamed(&$renamed))?
        }
    };
    (
        $(#[doc = $about:literal])*
        $vis:vis fn $reader:ident($($arg:ident: $arg_type:ty),*)
            -> struct $type:ident: $what:literal $(, $renamed:ident)?
        {
            $($(#[doc = $doc:literal])* $field:ident $(as $key:literal)?: $value_type:ty =
                $presence:ident($($value:tt)*);)*
        }
        $(check($fields:ident) $check:block)?
    ) => {
        $(#[doc = $about])*
        $vis struct $type {
            $($(#[doc = $doc])* $field: $value_type),*
        }

        $crate::yaml::keys::keys! {
            $(#[doc = $about])*
            $vis fn $reader($($arg: $arg_type),*) -> $type: $what $(, $renamed)? {
                $($(#[doc = $doc])* $field $(as $key)? = $presence($($value)*);)*
            }
            $(check($fields) $check)?
        }
    };
    (@read among $fields:ident [$($key:tt)*] [$($doc:literal)*] $keys:expr) => {
        $keys.among($fields)
    };
    (@read $presence:ident $fields:ident [$key:literal $field:ident] [$($doc:literal)*] $($value:tt)*) => {
        $fields.about(concat!($($doc),*)).$presence($key, $($value)*)
    };
    (@read $presence:ident $fields:ident [$field:ident] [$($doc:literal)*] $($value:tt)*) => {
        $fields.about(concat!($($doc),*)).$presence(stringify!($field), $($value)*)
    };
    (@value optional $field:ident) => { $field };
    (@value if_given $field:ident) => { $field };
    (@value unless $field:ident) => { $field };
    (@value $presence:ident $field:ident) => { $field? };
}

pub(crate) use keys;
