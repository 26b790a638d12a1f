//! Reports of results for people: tables, texts, pages, and figures of results.
//!
//! A report writes to the writer that it is given. It knows no paths and computes no scores.
//!
//! It uses all crates that make or hold results, and `xrsim-figures`. A kind of page is a function of [`html`] that
//! fills an article, and a line in `KINDS` of `xrsim-cli`; a table for people is a module here.

#![warn(missing_docs, unreachable_pub)]
#![cfg_attr(not(test), deny(clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod area;
pub mod area_terms;
pub mod comparison;
pub mod cost;
pub mod day;
pub mod dominant;
pub mod gaps;
pub mod html;
pub mod idle_pes;
pub(crate) mod latex;
pub mod layers;
pub mod mapping;
pub mod mlperf;
pub mod network;
pub mod objectives;
pub mod overview;
pub mod points;
pub mod power;
pub mod scores;
pub mod search;
pub mod sensitivity;
pub mod table;
pub mod timeline;
pub mod why;
pub(crate) mod words;
