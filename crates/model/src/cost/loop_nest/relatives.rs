//! Choices of accelerators that depend on each other: what another accelerator with less of something chose is a
//! candidate too, so that more hardware is never worse by its mapping (docs/explanation/mapper.md, section 6.3).

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use crate::hardware::{Accelerator, Flexibility};
use crate::model::Network;

use super::super::{ChooserId, Infeasible, NetworkCost};
use super::choose::{Choice, Choose, ChooseLayer, Offer, WalkFacts};
use super::network::cost_by;
use super::prepared::{NestReport, PreparedNetwork};
use super::rules::{self, LayerRules};
use super::{Energies, Evaluation, Machine, Mapping, Nest, NocLevel};

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
        for base in bases {
            family.add(base);
            let members = rules::candidates(base);
            let places: Vec<_> = members.iter().filter_map(|it| family.position(it)).collect();
            family.bases.extend(places);
        }
        family.bases.sort_unstable();
        family.bases.dedup();
        family
    }

    /// Adds an accelerator unless the family has it. One that chooses by periods makes its choices of those by other
    /// objectives, each of which is a member.
    pub fn add(&mut self, accelerator: &Accelerator) {
        for member in rules::candidates(accelerator) {
            if self.position(&member).is_none() {
                self.members.push(member);
            }
        }
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

    /// Whether a choice of some member is a candidate of another one.
    pub fn is_related(&self) -> bool {
        let asks = |it| !self.lesser(it).is_empty() || !self.bases_of(it).is_empty();
        self.members.iter().any(asks)
    }

    /// Whether both have the same accelerators, in whatever order.
    pub fn is_same(&self, other: &Self) -> bool {
        let has = |it: &Accelerator, is_base: bool| {
            other.position(it).is_some_and(|at| other.bases.contains(&at) == is_base)
        };
        let mut members = self.members.iter().enumerate();
        self.len() == other.len() && members.all(|(at, it)| has(it, self.bases.contains(&at)))
    }

    /// The first accelerator of this family whose choices may be others in `larger`, which has all members of this one, with
    /// the new member whose choices are candidates there; `None` if all choices are the same.
    pub fn changed_in<'a>(&'a self, larger: &'a Self) -> Option<[&'a Accelerator; 2]> {
        // Choices of members that are in both and ask only such members are the same, one after another.
        let choosing = self.members.iter().filter(|it| it.flexibility != Flexibility::None);
        choosing.into_iter().find_map(|member| {
            let asked = [larger.lesser(member), larger.bases_of(member)].concat();
            let mut asked = asked.into_iter().map(|at| &larger.members[at]);
            asked.find(|it| self.position(it).is_none()).map(|new| [member, new])
        })
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

/// The choices of accelerators for the layers of a network, by loop nests as they are written, whatever the tensors that
/// a layer finds in shared memory.
#[derive(Debug, Default)]
struct Offers(FxHashMap<Nest, Vec<Offer>>);

impl Offers {
    /// Adds a choice unless it is known.
    fn add(&mut self, nest: &Nest, offer: Offer) {
        let Some(of_nest) = self.0.get_mut(nest) else {
            self.0.insert(nest.clone(), vec![offer]);
            return;
        };
        let Choice { nest, mapping, .. } = &*offer.choice;
        match of_nest.iter_mut().find(|it| is_choice(it, &offer.choice, nest, mapping)) {
            Some(known) => known.facts = known.facts.or(offer.facts),
            None => of_nest.push(offer),
        }
    }

    /// Adds the choices of another accelerator, with the facts that `of_here` leaves of theirs.
    fn extend(&mut self, other: &Self, of_here: impl Fn(WalkFacts) -> Option<WalkFacts>) {
        for (nest, offers) in &other.0 {
            for Offer { choice, facts } in offers {
                let offer = Offer { choice: Arc::clone(choice), facts: facts.and_then(&of_here) };
                self.add(nest, offer);
            }
        }
    }

    fn of(&self, nest: &Nest) -> &[Offer] {
        self.0.get(nest).map_or(&[], Vec::as_slice)
    }
}

/// Whether an offer is `choice`, or has its form and mapping.
fn is_choice(offer: &Offer, choice: &Arc<Choice>, nest: &Nest, mapping: &Mapping) -> bool {
    Arc::ptr_eq(&offer.choice, choice) || has_form(offer, nest, mapping)
}

fn has_form(offer: &Offer, nest: &Nest, mapping: &Mapping) -> bool {
    offer.choice.mapping == *mapping && offer.choice.nest == *nest
}

/// What is known of a network on a member: its cost, and its choices.
#[derive(Debug)]
struct Known {
    cost: Result<Arc<NetworkCost>, Infeasible>,
    /// Those of directives are found when another member first asks for them.
    offers: OnceLock<Offers>,
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
    /// Members with less, by member.
    lesser: Vec<Vec<usize>>,
    /// Whether the choices of a member are candidates of another one, by member.
    is_asked: Vec<bool>,
    memo: Mutex<Memo>,
}

impl Relatives {
    /// Choices by `rule`, compared in a family.
    pub fn new(rule: Arc<dyn Choose>, family: Family) -> Self {
        let lesser: Vec<_> = family.members.iter().map(|it| family.lesser(it)).collect();
        let mut is_asked = vec![false; family.len()];
        lesser.iter().flatten().chain(&family.bases).for_each(|&it| is_asked[it] = true);
        Self { rule, family, lesser, is_asked, memo: Mutex::default() }
    }

    /// Cost of a network on an accelerator. That of a member is computed once.
    fn among(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Result<Arc<NetworkCost>, Infeasible> {
        match self.family.position(accelerator) {
            // Without bases, the choices of a member are those that it offers.
            Some(member) if self.family.bases_of(accelerator).is_empty() => {
                self.known(member, network).get_or_init(|| self.know(member, network)).cost.clone()
            }
            _ => {
                let candidates = rules::candidates(accelerator);
                let all = rules::of_all(Some(self), &candidates, network);
                cost_by(network, accelerator, all).map(Arc::new)
            }
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
            let cost = cost_by(network, accelerator, Vec::new()).map(Arc::new);
            return Known { cost, offers: OnceLock::new() };
        };
        let others = self.offers(&self.lesser[member], network, accelerator);
        let made = Rc::<RefCell<Offers>>::default();
        let kept = self.is_asked[member].then(|| Rc::clone(&made));
        let among = Among { own, others, made: kept };
        let cost = cost_by(network, accelerator, vec![Box::new(among)]).map(Arc::new);
        Known { cost, offers: made.take().into() }
    }

    /// The choices of members for a network, as an accelerator may take them.
    fn offers(&self, members: &[usize], network: &Network, accelerator: &Accelerator) -> Offers {
        let here = Machine::from_accelerator(accelerator);
        let mut all = Offers::default();
        for &member in members {
            let other = &self.family.members[member];
            let there = Machine::from_accelerator(other);
            let known = self.known(member, network);
            let known = known.get_or_init(|| self.know(member, network));
            let of_directives = || match self.is_asked[member] {
                true => offers_of_directives(network, other),
                false => Offers::default(),
            };
            let offers = known.offers.get_or_init(of_directives);
            all.extend(offers, |facts| facts_here(facts, &there, &here));
        }
        all
    }
}

/// Facts of a mapping on one machine that hold on another one.
fn facts_here(facts: WalkFacts, there: &Machine, here: &Machine) -> Option<WalkFacts> {
    if !walks_alike(there, here) {
        return None;
    }
    let transfers = |it: &Machine, level| {
        let &NocLevel { down, up, weights, .. } = it.noc_level(level);
        (down, up, weights)
    };
    let n_levels = there.noc_levels.len().max(here.noc_levels.len());
    let is_equal = (0..n_levels).all(|level| transfers(there, level) == transfers(here, level));
    let cycles = if is_equal { facts.cycles } else { facts.compute_cycles };
    Some(WalkFacts { cycles, ..facts })
}

/// Whether every mapping makes the same steps on two machines, with the same energy on chip but for the shared memory.
fn walks_alike(a: &Machine, b: &Machine) -> bool {
    let steps = |it: &Machine, level| NocLevel {
        down: NocLevel::IDEAL.down,
        up: NocLevel::IDEAL.up,
        weights: it.noc_level(level).weights.and(NocLevel::IDEAL.weights),
        ..*it.noc_level(level)
    };
    let on_chip = |it: &Machine| {
        let Energies { mac, register, scratchpad, cluster, noc, forward, .. } = it.energies;
        (mac, register, scratchpad, cluster, noc, forward)
    };
    let n_levels = a.noc_levels.len().max(b.noc_levels.len());
    a.rate.max(1) == b.rate.max(1)
        && on_chip(a) == on_chip(b)
        && (0..n_levels).all(|level| steps(a, level) == steps(b, level))
}

/// The mappings of an accelerator that has no choice; none if the network cannot run.
fn offers_of_directives(network: &Network, accelerator: &Accelerator) -> Offers {
    let mut offers = Offers::default();
    let Ok(mut prepared) = PreparedNetwork::new(network, accelerator, None) else { return offers };
    for layer in 0..network.layers().len() {
        for NestReport { written, nest, mapping, .. } in prepared.nests(layer, &LayerRules::none())
        {
            let choice = Arc::new(Choice { nest, mapping, certainty: None });
            offers.add(&written, Offer { choice, facts: None });
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
        let others = self.offers(&asked, network, accelerator);
        Some(Box::new(Among { own, others, made: None }))
    }

    fn cost(
        &self,
        network: &Network,
        accelerator: &Accelerator,
    ) -> Option<Result<Arc<NetworkCost>, Infeasible>> {
        Some(self.among(network, accelerator))
    }
}

/// The choices of an accelerator among its own and those of others.
struct Among<'a> {
    own: Box<dyn ChooseLayer + 'a>,
    others: Offers,
    /// Choices that were made, if they are kept.
    made: Option<Rc<RefCell<Offers>>>,
}

impl ChooseLayer for Among<'_> {
    fn choose_among(&self, nest: &Nest, machine: &Machine, others: &[Offer]) -> Option<Choice> {
        let known = self.others.of(nest);
        match others {
            [] => self.own.choose_among(nest, machine, known),
            _ => self.own.choose_among(nest, machine, &[known, others].concat()),
        }
    }

    fn note(
        &self,
        written: &Nest,
        (nest, mapping): (&Nest, &Mapping),
        evaluation: &Evaluation,
        machine: &Machine,
    ) {
        let Some(made) = &self.made else { return };
        let mut others = self.others.of(written).iter();
        let same = others.find(|it| has_form(it, nest, mapping));
        let new = || Choice { nest: nest.clone(), mapping: *mapping, certainty: None };
        let choice = same.map_or_else(|| Arc::new(new()), |it| Arc::clone(&it.choice));
        let facts = Some(WalkFacts::new(evaluation, machine));
        made.borrow_mut().add(written, Offer { choice, facts });
    }

    fn id(&self) -> ChooserId {
        self.own.id()
    }
}
