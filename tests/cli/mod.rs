//! The commands, as a user calls them.

mod answers;
mod captures;
mod code;
mod commands;
mod count;
mod evaluate;
mod identity;
mod least_memory;
mod sections;
mod versions;
