//! Choices of accelerators that depend on each other: what another accelerator with less of something chose is a
//! candidate too, so that more hardware is never worse by its mapping (docs/explanation/mapper.md, section 6.3).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::hardware::Accelerator;
use crate::model::Network;

use super::super::{Infeasible, NetworkCost};
use super::choose::{Choice, Choose, ChooseLayer};
use super::model::cost_by;
use super::prepared::{NestReport, PreparedNetwork};
use super::{Machine, Nest};

/// Accelerators that one command costs.
#[derive(Debug, Clone, Default)]
pub struct Family {
    /// Accelerators that differ in more than their names.
    members: Vec<Accelerator>,
    /// Indices of those that the others are changes of.
    bases: Vec<usize>,
}

impl Family {
    /// Most accelerators whose choices are compared.
    pub const MOST: usize = 1024;

    /// The family of `all`, in whatever order, of which `bases` are those that a command changes, or none.
    pub fn new<'a>(
        all: impl IntoIterator<Item = &'a Accelerator>,
        bases: impl IntoIterator<Item = &'a Accelerator>,
    ) -> Self {
        let mut family = Self::default();
        for accelerator in all {
            family.add(accelerator);
        }
        family.bases = bases.into_iter().map(|base| family.add(base)).collect();
        family.bases.sort_unstable();
        family.bases.dedup();
        family
    }

    /// Adds an accelerator unless the family has it, and returns its index.
    pub fn add(&mut self, accelerator: &Accelerator) -> usize {
        self.position(accelerator).unwrap_or_else(|| {
            self.members.push(accelerator.clone());
            self.members.len() - 1
        })
    }

    /// Number of accelerators that differ in more than their names.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no accelerators.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether there are more accelerators than are compared.
    pub fn is_too_large(&self) -> bool {
        self.len() > Self::MOST
    }

    /// Whether both have the same accelerators, in whatever order.
    pub fn is_same(&self, other: &Self) -> bool {
        let has = |it: &Accelerator, is_base: bool| {
            other.position(it).is_some_and(|at| other.bases.contains(&at) == is_base)
        };
        let mut members = self.members.iter().enumerate();
        self.len() == other.len() && members.all(|(at, it)| has(it, self.bases.contains(&at)))
    }

    fn position(&self, accelerator: &Accelerator) -> Option<usize> {
        self.members.iter().position(|known| known.costs_as(accelerator))
    }

    /// Members that have less than an accelerator. One that differs in flexibility only is left out: the search for
    /// more flexibility begins with its choice.
    fn lesser(&self, accelerator: &Accelerator) -> Vec<usize> {
        let is_asked = |other: &Accelerator| {
            let alike = Accelerator { flexibility: accelerator.flexibility, ..other.clone() };
            other.has_less(accelerator) && !accelerator.has_at_most(&alike)
        };
        (0..self.len()).filter(|&at| is_asked(&self.members[at])).collect()
    }

    /// Bases whose mappings an accelerator that is no less flexible may try; none for a base.
    fn bases_of(&self, accelerator: &Accelerator) -> Vec<usize> {
        let bases = || self.bases.iter().copied();
        if bases().any(|at| self.members[at].costs_as(accelerator)) {
            return Vec::new();
        }
        let is_asked = |other: &Accelerator| {
            other.flexibility <= accelerator.flexibility && other.has_dataflow_of(accelerator)
        };
        bases().filter(|&at| is_asked(&self.members[at])).collect()
    }
}

/// The choices of an accelerator for the layers of a network, by loop nests as they are written, whatever the tensors
/// that a layer finds in shared memory.
#[derive(Debug, Default)]
struct Offers(HashMap<Nest, Vec<Arc<Choice>>>);

impl Offers {
    /// Adds a choice unless it is known.
    fn add(&mut self, nest: &Nest, choice: &Arc<Choice>) {
        let is_known = |of_nest: &[Arc<Choice>]| of_nest.iter().any(|it| is_same(it, choice));
        match self.0.get_mut(nest) {
            Some(of_nest) if is_known(of_nest) => {}
            Some(of_nest) => of_nest.push(Arc::clone(choice)),
            None => drop(self.0.insert(nest.clone(), vec![Arc::clone(choice)])),
        }
    }

    fn extend(&mut self, other: &Self) {
        for (nest, choices) in &other.0 {
            choices.iter().for_each(|choice| self.add(nest, choice));
        }
    }

    fn of(&self, nest: &Nest) -> &[Arc<Choice>] {
        self.0.get(nest).map_or(&[], Vec::as_slice)
    }
}

fn is_same(a: &Arc<Choice>, b: &Arc<Choice>) -> bool {
    Arc::ptr_eq(a, b) || (a.mapping == b.mapping && a.nest == b.nest)
}

/// What is known of a network on a member: its cost, and its choices.
#[derive(Debug)]
struct Known {
    cost: Result<NetworkCost, Infeasible>,
    offers: Arc<Offers>,
}

/// Networks and what is known of them, by index of the member and of the network.
#[derive(Debug, Default)]
struct Memo {
    networks: Vec<Network>,
    known: HashMap<(usize, usize), Arc<OnceLock<Known>>>,
}

/// A rule of choices in which accelerators of a family also have the choices of those with less.
#[derive(Debug)]
pub struct Relatives {
    rule: Arc<dyn Choose>,
    family: Family,
    memo: Mutex<Memo>,
}

impl Relatives {
    /// Choices by `rule`, compared in a family.
    pub fn new(rule: Arc<dyn Choose>, family: Family) -> Self {
        Self { rule, family, memo: Mutex::default() }
    }

    /// Cost of a network on an accelerator. That of a member is computed once.
    pub(super) fn cost(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<NetworkCost, Infeasible> {
        match self.family.position(accelerator) {
            // Without bases, the choices of a member are those that it offers.
            Some(member) if self.family.bases_of(accelerator).is_empty() => {
                self.known(member, network).get_or_init(|| self.know(member, network)).cost.clone()
            }
            _ => cost_by(network, accelerator, self.in_network(accelerator, network).as_deref()),
        }
    }

    /// The place of what is known of a network on a member.
    fn known(&self, member: usize, network: &Network) -> Arc<OnceLock<Known>> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |it: &Network| it.shares_layers(network) || it.layers() == network.layers();
        let at = memo.networks.iter().position(is_it).unwrap_or_else(|| {
            memo.networks.push(network.clone());
            memo.networks.len() - 1
        });
        Arc::clone(memo.known.entry((member, at)).or_default())
    }

    /// Costs a network on a member by its own choices and those of members with less.
    fn know(&self, member: usize, network: &Network) -> Known {
        let accelerator = &self.family.members[member];
        let Some(own) = self.rule.on(accelerator) else {
            let offers = Arc::new(offers_of_directives(network, accelerator));
            return Known { cost: cost_by(network, accelerator, None), offers };
        };
        let others = self.offers(&self.family.lesser(accelerator), network);
        let made = Some(RefCell::default());
        let among = Among { own, others, made };
        let cost = cost_by(network, accelerator, Some(&among));
        let offers = among.made.map(RefCell::into_inner).unwrap_or_default();
        Known { cost, offers: Arc::new(offers) }
    }

    /// The choices of members for a network.
    fn offers(&self, members: &[usize], network: &Network) -> Offers {
        let mut all = Offers::default();
        for &member in members {
            let known = self.known(member, network);
            all.extend(&known.get_or_init(|| self.know(member, network)).offers);
        }
        all
    }
}

/// The mappings of an accelerator that has no choice; none if the network cannot run.
fn offers_of_directives(network: &Network, accelerator: &Accelerator) -> Offers {
    let mut offers = Offers::default();
    let Ok(mut prepared) = PreparedNetwork::new(network, accelerator, None) else { return offers };
    for layer in 0..network.layers().len() {
        for NestReport { written, nest, mapping, .. } in prepared.nests(layer, None) {
            offers.add(&written, &Arc::new(Choice { nest, mapping, certainty: None }));
        }
    }
    offers
}

impl Choose for Relatives {
    fn on<'a>(&'a self, accelerator: &'a Accelerator) -> Option<Box<dyn ChooseLayer + 'a>> {
        self.rule.on(accelerator)
    }

    fn in_network<'a>(
        &'a self,
        accelerator: &'a Accelerator,
        network: &Network,
    ) -> Option<Box<dyn ChooseLayer + 'a>> {
        let own = self.rule.on(accelerator)?;
        let mut asked = self.family.lesser(accelerator);
        asked.extend(self.family.bases_of(accelerator));
        let others = self.offers(&asked, network);
        Some(Box::new(Among { own, others, made: None }))
    }

    fn relatives(&self) -> Option<&Relatives> {
        Some(self)
    }
}

/// The choices of an accelerator among its own and those of others.
struct Among<'a> {
    own: Box<dyn ChooseLayer + 'a>,
    others: Offers,
    /// Choices that were made, if they are kept.
    made: Option<RefCell<Offers>>,
}

impl ChooseLayer for Among<'_> {
    fn choose_among(
        &self,
        nest: &Nest,
        machine: &Machine,
        others: &[Arc<Choice>],
    ) -> Option<Choice> {
        let known = self.others.of(nest);
        let choice = match others {
            [] => self.own.choose_among(nest, machine, known)?,
            _ => self.own.choose_among(nest, machine, &[known, others].concat())?,
        };
        if let Some(made) = &self.made {
            let without = || Arc::new(Choice { certainty: None, ..choice.clone() });
            let same =
                known.iter().find(|it| it.mapping == choice.mapping && it.nest == choice.nest);
            made.borrow_mut().add(nest, &same.cloned().unwrap_or_else(without));
        }
        Some(choice)
    }
}
