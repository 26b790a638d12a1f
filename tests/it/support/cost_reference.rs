//! Second implementation of the published artifact's layer cost model, for comparison. It follows
//! `docs/explanation/cost-model-maestro.md` as closely as possible. Every level enumerates all 3^6 assignments of a
//! status to its six directives, in 128-bit integers and without any precomputed table.

use xrsim::dataflow::{Axis, Mapping, Size};
use xrsim::hardware::Accelerator;
use xrsim::model::{ConvKind, ConvShape};

/// Axis order of section 3.1.
const AXES: [Axis; 6] = [Axis::C, Axis::K, Axis::R, Axis::S, Axis::X, Axis::Y];

/// Counts of one layer.
#[derive(Debug, PartialEq, Default)]
pub struct Counts {
    pub runtimes: Vec<i128>,
    pub energy_nj: f64,
    /// Counters in the order of the published tables, from `l2_rd_input` to `l1_req_output`.
    pub counters: [i128; 19],
    /// Largest magnitude of any count of any level.
    pub peak: i128,
}

#[derive(Clone, Copy)]
struct Directive {
    spatial: bool,
    m: i128,
    o: i128,
    v: Axis,
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Init,
    Steady,
    Edge,
}

#[derive(Clone, Copy, PartialEq)]
enum Label {
    I,
    H,
    S,
    E,
}

/// One level, with the quantities that section 4 and the following ones define.
struct Level {
    list: Vec<Directive>,
    d: [i128; 6],
    u: i128,
    b: i128,
    v_i: Vec<Axis>,
    v_w: Vec<Axis>,
    v_o: Vec<Axis>,
}

#[derive(Default)]
struct Sums {
    runtime: i128,
    rd_up: [i128; 2],
    wr_dn: [i128; 3],
    rd_dn: [i128; 3],
    psums: i128,
    req_up: [i128; 3],
}

/// Sections 3 to 9 for one layer; `None` where the dataflow does not fit the hardware.
pub fn evaluate(shape: &ConvShape, accelerator: &Accelerator) -> Option<Counts> {
    let d0 = [shape.c, shape.k, shape.r, shape.s, shape.x, shape.y].map(i128::from);
    let lists = elaborate(accelerator, &d0);
    let l_total = lists.len();
    let levels = accelerator.noc.levels().iter();
    let mut bandwidths: Vec<_> = levels.map(|level| level.bandwidth).collect();
    let last = *bandwidths.last()?;
    bandwidths.extend([last; 3]);
    if l_total > bandwidths.len() {
        return None;
    }
    let clusters = accelerator.dataflow.levels()[1..].iter();
    let clusters: Vec<i128> =
        clusters.map(|level| level.units.and_then(Size::fixed).unwrap().into()).collect();
    let u0 = i128::from(accelerator.pes) / clusters.iter().product::<i128>();
    if u0 == 0 {
        return None;
    }
    let mut levels = Vec::new();
    let mut d = d0;
    for (l, list) in lists.into_iter().enumerate() {
        let next = AXES.map(|v| directive(&list, v).m.min(d[v as usize]));
        levels.push(Level {
            list,
            d,
            u: if l == 0 { u0 } else { clusters[l - 1] },
            b: bandwidths[l_total - 1 - l].into(),
            v_i: vec![Axis::C, Axis::Y, Axis::X],
            v_w: vec![Axis::K, Axis::C, Axis::R, Axis::S],
            v_o: match shape.kind {
                ConvKind::Depthwise => vec![Axis::C, Axis::Y, Axis::X],
                _ => vec![Axis::K, Axis::Y, Axis::X],
            },
        });
        d = next;
    }
    let mut counts = Counts::default();
    let mut delta = 0;
    for (l, level) in levels.iter().enumerate().rev() {
        let sums = level.sums(delta, &mut counts.peak);
        counts.runtimes.insert(0, sums.runtime);
        delta = i128::from(sums.runtime as i32);
        if l == 0 {
            counts.finish(level, &sums, accelerator);
        }
    }
    Some(counts)
}

fn number(size: Size) -> i128 {
    size.fixed().unwrap().into()
}

/// Section 3: the completed directive list of every level.
fn elaborate(accelerator: &Accelerator, d0: &[i128; 6]) -> Vec<Vec<Directive>> {
    let mut lists: Vec<Vec<Directive>> = Vec::new();
    for level in accelerator.dataflow.levels() {
        let n = level.directives.len() as i128;
        let kernel = |axis| {
            let on = level.directives.iter().find(|other| other.axis == axis);
            on.map_or(n, |other| number(other.size))
        };
        let mut list = Vec::new();
        for written in &level.directives {
            let m = number(written.size);
            let (v, m) = match written.axis {
                Axis::OutputY => (Axis::Y, m + kernel(Axis::R) - 1),
                Axis::OutputX => (Axis::X, m + kernel(Axis::S) - 1),
                v => (v, m),
            };
            list.push(Directive {
                spatial: written.mapping == Mapping::Spatial,
                m,
                o: number(written.offset),
                v,
            });
        }
        let mapped: Vec<Axis> = list.iter().map(|directive| directive.v).collect();
        match lists.last() {
            None => {
                for v in AXES {
                    if !mapped.contains(&v) {
                        let whole = d0[v as usize];
                        list.push(Directive { spatial: false, m: whole, o: whole, v });
                    }
                }
            }
            Some(outer) => {
                for inherited in outer {
                    if !mapped.contains(&inherited.v) {
                        list.insert(0, Directive { spatial: false, ..*inherited });
                    }
                }
            }
        }
        lists.push(list);
    }
    lists
}

fn directive(list: &[Directive], v: Axis) -> &Directive {
    list.iter().find(|directive| directive.v == v).unwrap()
}

fn k(v: Axis) -> Option<Axis> {
    match v {
        Axis::Y => Some(Axis::R),
        Axis::X => Some(Axis::S),
        _ => None,
    }
}

impl Level {
    fn d(&self, v: Axis) -> i128 {
        self.d[v as usize]
    }

    /// (4.1)
    fn e(&self, v: Axis) -> i128 {
        k(v).map_or(self.d(v), |kernel| self.d(v) - self.d(kernel) + 1)
    }

    fn s(&self) -> usize {
        self.list.iter().position(|directive| directive.spatial).unwrap()
    }

    /// (4.2)
    fn edge_s(&self) -> bool {
        let first = &self.list[self.s()];
        self.e(first.v) % (first.o * self.u) != 0
    }

    /// (4.3)
    fn u_edge(&self) -> i128 {
        let first = &self.list[self.s()];
        if self.e(first.v) <= first.m {
            return 1;
        }
        self.e(first.v) % (first.o * self.u) / first.o
    }

    fn covers(&self, x: &Directive) -> bool {
        if x.spatial { (self.u - 1) * x.o + x.m >= self.d(x.v) } else { x.m >= self.d(x.v) }
    }

    fn over(&self, x: &Directive) -> bool {
        if x.spatial { x.o * self.u > self.d(x.v) } else { x.m > self.d(x.v) }
    }

    fn absorbed(&self, x: &Directive) -> bool {
        if x.spatial { x.o * self.u >= self.d(x.v) } else { x.m >= self.d(x.v) }
    }

    fn edge(&self, x: &Directive) -> bool {
        if x.spatial { self.edge_s() } else { self.e(x.v) % x.o != 0 }
    }

    fn trips(&self, x: &Directive) -> i128 {
        let stride = if x.spatial { x.o * self.u } else { x.o };
        self.e(x.v) / stride + i128::from(self.e(x.v) % stride != 0)
    }

    /// (4.4)
    fn n(&self, x: &Directive, status: Status) -> i128 {
        match status {
            Status::Init => 1,
            Status::Steady if self.covers(x) => 0,
            Status::Steady => self.trips(x) - if self.edge(x) { 2 } else { 1 },
            Status::Edge => (self.edge(x) && !self.absorbed(x)).into(),
        }
    }

    /// (5.1)
    fn a(&self, labels: &[Label; 6]) -> i128 {
        let s = self.s();
        let over = self.over(&self.list[s]);
        match labels[s] {
            Label::E => self.u_edge(),
            Label::I | Label::H if over => self.u_edge(),
            _ => self.u,
        }
    }

    /// (5.2)
    fn fresh(&self, tensor: &[Axis], lead: bool) -> i128 {
        let factor = |&v: &Axis| {
            let x = directive(&self.list, v);
            match (x.spatial, lead) {
                (true, true) => x.m,
                (true, false) => x.m.min(x.o),
                (false, _) if self.over(x) => self.d(v) % x.o,
                (false, _) => x.m,
            }
        };
        tensor.iter().map(factor).product()
    }

    /// Section 5.3.
    fn load(&self, tensor: &[Axis], labels: &[Label; 6], lead: bool) -> i128 {
        let Some(p) = labels.iter().rposition(|label| matches!(label, Label::S | Label::E)) else {
            return self.fresh(tensor, lead);
        };
        let v_p = self.list[p].v;
        if !tensor.contains(&v_p) {
            let j =
                (0..6).find(|&pos| tensor.contains(&self.list[pos].v) && labels[pos] != Label::H);
            return match j {
                None => 0,
                Some(min) if min < p => 0,
                Some(_) => self.fresh(tensor, lead),
            };
        }
        let factor = |pos: usize| {
            let x = &self.list[pos];
            match (x.spatial, lead) {
                (true, true) => x.m,
                (true, false) => x.m.min(x.o),
                (false, _) if pos == p => x.m.min(x.o),
                (false, _) if labels[pos] == Label::H => self.d(x.v),
                (false, _) => x.m,
            }
        };
        (0..6).filter(|&pos| tensor.contains(&self.list[pos].v)).map(factor).product()
    }

    /// (5.4)
    fn ingress(&self, tensor: &[Axis], labels: &[Label; 6]) -> i128 {
        let a = self.a(labels);
        let spread = self.list.iter().any(|x| x.spatial && tensor.contains(&x.v));
        let lead = self.load(tensor, labels, true);
        if spread && a > 1 { lead + (a - 1) * self.load(tensor, labels, false) } else { lead }
    }

    /// (6.1)
    fn tile(&self, x: &Directive, c: Label, edge_unit: bool) -> i128 {
        let d = self.d(x.v);
        if !x.spatial {
            return match c {
                Label::E => d % x.o,
                Label::I | Label::H if self.over(x) => d,
                _ => x.m,
            };
        }
        if c == Label::E || c == Label::I && self.over(x) {
            if d < x.m {
                return d;
            }
            if edge_unit && d % x.o != 0 {
                return d % x.o;
            }
        }
        x.m
    }

    /// (6.2)
    fn n_part(&self, labels: &[Label; 6], edge_unit: bool) -> i128 {
        let factor = |pos: usize| {
            let x = &self.list[pos];
            let tile = self.tile(x, labels[pos], edge_unit);
            match x.v {
                Axis::R | Axis::S => x.m,
                Axis::Y | Axis::X => (tile - directive(&self.list, k(x.v).unwrap()).m + 1).max(1),
                _ => tile,
            }
        };
        (0..6).map(factor).product()
    }

    /// (6.3)
    fn n_out(&self, labels: &[Label; 6]) -> i128 {
        let factor = |pos: usize| {
            let x = &self.list[pos];
            let kernel = k(x.v).map(|kernel| directive(&self.list, kernel).m);
            match kernel {
                _ if !self.v_o.contains(&x.v) => 1,
                Some(kernel) if x.m >= kernel => x.m - kernel + 1,
                _ => self.tile(x, labels[pos], false),
            }
        };
        (0..6).map(factor).product()
    }

    /// (7.1)
    fn delay(&self, a: i128) -> i128 {
        a / self.b + i128::from(a % self.b != 0)
    }

    /// (8.1), and the first case's part of (8.3).
    fn sums(&self, delta: i128, peak: &mut i128) -> Sums {
        let mut sums = Sums::default();
        for index in 0..3usize.pow(6) {
            let status = |pos: usize| {
                [Status::Init, Status::Steady, Status::Edge][index / 3usize.pow(pos as u32) % 3]
            };
            let n: i128 = (0..6).map(|pos| self.n(&self.list[pos], status(pos))).product();
            if n == 0 {
                continue;
            }
            let first = (0..6).all(|pos| status(pos) == Status::Init);
            let labels: [Label; 6] = std::array::from_fn(|pos| match status(pos) {
                Status::Init if !first && self.covers(&self.list[pos]) => Label::H,
                Status::Init => Label::I,
                Status::Steady => Label::S,
                Status::Edge => Label::E,
            });
            self.add(&mut sums, n, &labels, first, delta);
            let Sums { runtime, rd_up, wr_dn, rd_dn, psums, req_up } = &sums;
            let all = [rd_up.as_slice(), wr_dn, rd_dn, req_up, &[*runtime, *psums]].concat();
            *peak = all.iter().fold(*peak, |peak, count| peak.max(count.abs()));
        }
        sums
    }

    fn add(&self, sums: &mut Sums, n: i128, labels: &[Label; 6], first: bool, delta: i128) {
        let n_part = self.n_part(labels, false);
        if n_part == 0 {
            return;
        }
        let a = self.a(labels);
        let n_out = self.n_out(labels);
        let ingress = [&self.v_i, &self.v_w].map(|tensor| self.ingress(tensor, labels));
        let load = [&self.v_i, &self.v_w].map(|tensor| self.load(tensor, labels, true));
        let comp = if delta != 0 { delta } else { n_part };
        let tau = self.delay(n_out).max(comp).max(self.delay(ingress[0] + ingress[1]));
        sums.runtime += n * tau;
        for t in 0..2 {
            sums.rd_up[t] += n * ingress[t];
            sums.wr_dn[t] += n * a * load[t];
            sums.rd_dn[t] += n * a * n_part;
        }
        sums.wr_dn[2] += n * n_part;
        sums.rd_dn[2] += n * (n_part - 1);
        sums.psums += n * ((a - 1) * n_part + self.n_part(labels, true));
        if first {
            sums.req_up = [2 * ingress[0], 2 * ingress[1], 2 * n_out];
        }
    }
}

impl Counts {
    /// (8.2), (8.3) and section 9, from the sums of level 0.
    fn finish(&mut self, level: &Level, sums: &Sums, accelerator: &Accelerator) {
        let product = |tensor: &[Axis], f: &dyn Fn(Axis) -> i128| -> i128 {
            tensor.iter().map(|&v| f(v)).product()
        };
        let wr_up = [
            product(&level.v_i, &|v| level.d(v)),
            product(&level.v_w, &|v| level.d(v)),
            product(&level.v_o, &|v| level.e(v)),
        ];
        let req_dn = [&level.v_i, &level.v_w, &level.v_o]
            .map(|tensor| 2 * product(tensor, &|v| directive(&level.list, v).m));
        let ([rd_i, rd_w], wr_dn, rd_dn, req_up) =
            (sums.rd_up, sums.wr_dn, sums.rd_dn, sums.req_up);
        self.counters = [
            rd_i, rd_w, 0, wr_up[0], wr_up[1], wr_up[2], rd_dn[0], rd_dn[1], rd_dn[2], wr_dn[0],
            wr_dn[1], wr_dn[2], sums.psums, req_up[0], req_up[1], req_up[2], req_dn[0], req_dn[1],
            req_dn[2],
        ];
        self.peak = self.counters.iter().fold(self.peak, |peak, count| peak.max(count.abs()));
        let table = &accelerator.energy;
        let mut sum = 0.0;
        for count in [rd_i, wr_up[0], rd_w, wr_up[1], wr_up[2]] {
            sum += count as f64 * table.shared_memory_per_mac;
        }
        for count in [rd_dn[0], wr_dn[0], rd_dn[1], wr_dn[1], rd_dn[2], wr_dn[2]] {
            sum += count as f64 * table.scratchpad_per_mac;
        }
        sum += sums.psums as f64;
        self.energy_nj = sum * table.mac_nj;
    }
}
