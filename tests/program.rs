//! The program, as a user starts it, and what goes wrong where it takes a process of its own.

mod common;

mod cli;
mod command_line;
mod deduplication;
mod defects;
mod documented_commands;
mod help;
mod looking_up;
mod passages;
mod processes;
mod received_directories;
