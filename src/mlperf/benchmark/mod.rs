//! The benchmark: measurements on test beds, tests of a suite, the search for the peak, and several
//! tenants at once.
//!
//! [`measure()`] makes one run of a [`SystemUnderTest`](crate::mlperf::SystemUnderTest). A [`TestBed`] makes
//! any number of them: [`AcceleratorBed`] on simulated accelerators, [`ServerBed`] on servers of a known
//! service time. [`run_test`] runs a test of a suite on a bed, and [`run_tenant_test`] several tenants.

mod accelerator_bed;
mod measure;
mod peak_search;
mod server_bed;
mod suite_test;
mod tenants;
mod test_bed;

pub use accelerator_bed::{AcceleratorBed, AcceleratorRun};
pub use accelerator_bed::AcceleratorBedBuilder;
pub use measure::{Measurement, measure};
pub(crate) use peak_search::search_messages;
pub use peak_search::find_peak;
pub use peak_search::PeakSearch;
pub use peak_search::Trial;
pub(crate) use server_bed::ServerBed;
pub use suite_test::{TestOptions, run_test};
pub use suite_test::TestResult;
pub use suite_test::BackgroundScores;
pub use tenants::{TenantResult, TenantTest, find_factor, run_tenants};
pub(crate) use tenants::{MultiTenantResult, extend_to_queries, run_tenant_test};
pub use test_bed::TestBed;
pub use test_bed::TestError;
pub use test_bed::TestRun;
pub use test_bed::IdleQuery;
