//! The results of the ten stages agree with the definitions, whatever the memory, the threads and
//! the way taken.

mod add;
mod against;
mod characters;
mod code;
mod conditions;
mod definitions;
mod dependencies;
mod determinism;
mod doubtful;
mod elements;
mod facade;
mod fields;
mod format;
mod generate_crawl;
mod kept_text;
mod oracle;
mod parquet;
mod places;
mod prefix;
mod preflight;
mod readers;
mod reading;
mod real_corpora;
mod review;
mod rows;
mod same_documents;
mod scripts;
mod sections;
mod tables;
mod units;
mod verified;
