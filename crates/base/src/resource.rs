//! The resources of a process that the operating system limits.

use std::fmt;

use crate::byte_size::ByteSize;

/// A resource that a process has only a limited amount of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Addresses: memory, stacks and mapped files, `ulimit -v`.
    AddressSpace,
    /// Memory and stacks, `ulimit -d`.
    Data,
    /// Memory of a control group: a container, a service, a batch job.
    ControlGroup,
    /// Open files, `ulimit -n`.
    OpenFiles,
    /// Threads, `ulimit -u` or the limit of a control group.
    Threads,
    /// Mapped files, `vm.max_map_count`.
    Mappings,
}

impl Resource {
    /// An amount of the resource, as messages print it.
    pub fn amount(self, n: u64) -> String {
        match self {
            Resource::AddressSpace | Resource::Data | Resource::ControlGroup => ByteSize(n).exact(),
            Resource::OpenFiles | Resource::Threads | Resource::Mappings => n.to_string(),
        }
    }

    /// How to raise the limit to `least`.
    #[must_use]
    pub fn remedy(self, least: u64) -> String {
        match self {
            Resource::AddressSpace => format!("raise it (`ulimit -v {}`)", least.div_ceil(1 << 10)),
            Resource::Data => format!("raise it (`ulimit -d {}`)", least.div_ceil(1 << 10)),
            Resource::ControlGroup => {
                format!("give the container, service or job {least} bytes of memory")
            }
            Resource::OpenFiles => format!("raise it (`ulimit -n {least}`)"),
            Resource::Threads => "raise it (`ulimit -u`, pids.max)".into(),
            Resource::Mappings => format!("raise it (`sysctl vm.max_map_count={least}`)"),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::AddressSpace => "address space (ulimit -v)",
            Resource::Data => "data (ulimit -d)",
            Resource::ControlGroup => "memory (control group)",
            Resource::OpenFiles => "open files (ulimit -n)",
            Resource::Threads => "threads",
            Resource::Mappings => "mapped files (vm.max_map_count)",
        })
    }
}
