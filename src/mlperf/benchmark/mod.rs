//! The benchmark: measurements on test beds, tests of a suite, the search for the peak, and several
//! models at once.

mod accelerator_bed;
mod measure;
mod peak_search;
mod server_bed;
mod suite_test;
mod tenants;
mod test_bed;

pub use accelerator_bed::{AcceleratorBed, AcceleratorBedBuilder, AcceleratorRun};
pub use measure::{Measurement, measure};
pub use peak_search::{PeakSearch, Precision, SearchMethod, Trial, find_peak, search_messages};
pub use server_bed::ServerBed;
pub use suite_test::{BackgroundScores, TestOptions, TestResult, effective_settings, run_test};
pub use tenants::{
    TenantQuery, TenantResult, TenantStream, TenantTest, find_factor, run_tenants, tenant_queries,
    tenant_seed,
};
pub use test_bed::{IdleQuery, TestBed, TestError, TestRun};
