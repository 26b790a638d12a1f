//! The benchmark: measurements on test beds, tests of a suite, the search for the peak, and several
//! tenants at once.
//!
//! [`measure()`] makes one run of a [`SystemUnderTest`](crate::SystemUnderTest). A [`TestBed`] makes
//! any number of them: [`AcceleratorBed`] on simulated accelerators, other beds on servers of a known
//! service time. [`run_test`] runs a test of a suite on a bed, and [`run_tenants`] several tenants.

mod accelerator_bed;
mod measure;
mod peak_search;
mod server_bed;
mod suite_test;
mod tenants;
mod test_bed;

pub use accelerator_bed::{AcceleratorBed, AcceleratorBedBuilder, AcceleratorRun};
pub use measure::{Measurement, measure};
pub use peak_search::search_messages;
pub use peak_search::{PeakSearch, Trial, find_peak};
pub use server_bed::ServerBed;
pub use suite_test::{BackgroundScores, TestOptions, TestResult, run_test};
pub use tenants::{MultiTenantResult, extend_to_queries, run_tenant_test};
pub use tenants::{TenantResult, TenantTest, find_factor, run_tenants};
pub use test_bed::{IdleQuery, TestBed, TestError, TestRun};
