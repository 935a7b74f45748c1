//! Flags about object stores, which all commands have.

use std::path::PathBuf;

use clap::Args;

use lookalike_base::{Result, refuse};
use lookalike_store::{check_secret, remote};

/// How object stores are reached.
#[derive(Debug, Args)]
pub struct StoreFlags {
    /// Reach object stores at this address
    ///
    /// For servers with the interface of S3 (MinIO, Ceph, R2), of Google Cloud Storage or Azure, or
    /// of the Hugging Face hub. Without it, AWS_ENDPOINT_URL or HF_ENDPOINT of the environment
    /// applies, or the provider's address.
    ///
    /// Example: --endpoint http://localhost:9000
    #[arg(long, value_name = "URL", global = true)]
    pub endpoint: Option<String>,
    /// The region of S3 buckets
    ///
    /// Without it, AWS_REGION of the environment applies, or us-east-1.
    ///
    /// Example: --region eu-central-1
    #[arg(long, value_name = "REGION", global = true)]
    pub region: Option<String>,
    /// Read public objects without credentials
    ///
    /// Without it, credentials come from the environment (AWS_ACCESS_KEY_ID, AWS_PROFILE and
    /// others, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME and others, HF_TOKEN),
    /// from ~/.aws/credentials, or from the machine's role in the cloud.
    #[arg(long, global = true, help_heading = "Object stores")]
    pub anonymous: bool,
    /// Also reach the bucket or host of this address
    ///
    /// A command reaches the buckets and hosts whose addresses its command line has, and no others:
    /// a directory, a list or a plan may be from somebody else, and requests have your credentials.
    /// Give the flag for each bucket or host that you trust, or all of them, with commas between
    /// them, in LOOKALIKE_ALLOW_STORE of the environment.
    ///
    /// Example: --allow-store s3://crawl
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', global = true)]
    pub allow_store: Vec<String>,
}

/// More of `--allow-store`.
const ALLOW: &str = "LOOKALIKE_ALLOW_STORE";

impl StoreFlags {
    /// The addresses of the arguments, and those of the buckets and hosts that are allowed.
    ///
    /// # Errors
    /// `BadParameter` for a value that is not an address.
    pub(crate) fn allowed(&self, mut all: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
        let more = std::env::var(ALLOW).unwrap_or_default();
        let more = more
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty());
        for text in self.allow_store.iter().map(|text| &**text).chain(more) {
            check_secret(text.as_ref())?;
            if cfg!(feature = "remote") && !remote::is_address(text.as_ref()) {
                let what = "give the address of a bucket or host, such as s3://crawl or \
                            https://example.org";
                return refuse("allow-store", text, what);
            }
            all.push(text.into());
        }
        Ok(all)
    }

    /// Sets how the stores of this command are reached.
    pub(crate) fn configure(&self, named: Vec<PathBuf>) {
        #[cfg(feature = "remote")]
        remote::configure(self.settings(named));
        #[cfg(not(feature = "remote"))]
        let _ = named;
    }

    #[cfg(feature = "remote")]
    fn settings(&self, named: Vec<PathBuf>) -> remote::Settings {
        let known = ["AWS_", "AZURE_", "GOOGLE_", "HF_"];
        let known = |name: &str| known.iter().any(|prefix| name.starts_with(prefix));
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        remote::Settings {
            named: Some(named),
            endpoint: self.endpoint.clone(),
            region: self.region.clone(),
            anonymous: self.anonymous,
            variables: variables.filter(|(name, _)| known(name)).collect(),
            more: Some(of_files),
        }
    }
}

/// The settings of the profile `AWS_PROFILE` in the files of the AWS command line, as variables.
/// Nothing if the environment has keys itself.
#[cfg(feature = "remote")]
fn of_files() -> std::result::Result<Vec<(String, String)>, String> {
    use std::env::var;
    if var("AWS_ACCESS_KEY_ID").is_ok() {
        return Ok(Vec::new());
    }
    let named = var("AWS_PROFILE").ok();
    let profile = named.clone().unwrap_or_else(|| "default".into());
    let home = var("HOME").unwrap_or_default();
    let mut found = Vec::new();
    for (variable, name, heading) in [
        ("AWS_CONFIG_FILE", "config", format!("profile {profile}")),
        (
            "AWS_SHARED_CREDENTIALS_FILE",
            "credentials",
            profile.clone(),
        ),
    ] {
        let usual = || PathBuf::from(&home).join(".aws").join(name);
        let path = var(variable).map_or_else(|_| usual(), PathBuf::from);
        // A user without the file has no credentials in it.
        let text = lookalike_store::disk::read_all(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        found.extend(of_profile(&text, &[&heading, &profile]));
    }
    match named {
        // A user who names a profile does not mean the role of the machine.
        Some(named) if !found.iter().any(|(name, _)| name == "AWS_ACCESS_KEY_ID") => Err(format!(
            "the profile `{named}` (AWS_PROFILE) has no aws_access_key_id in the files of the AWS \
             command line; profiles with roles or single sign-on are not read"
        )),
        _ => Ok(found),
    }
}

/// The settings below one of some headings of an INI file, as the variables of the environment that
/// mean the same.
#[cfg(feature = "remote")]
fn of_profile(text: &str, headings: &[&str]) -> Vec<(String, String)> {
    const KNOWN: &str =
        "aws_access_key_id aws_secret_access_key aws_session_token region endpoint_url";
    let mut applies = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(heading) = line
            .strip_prefix('[')
            .and_then(|line| line.strip_suffix(']'))
        {
            applies = headings.contains(&heading.trim());
        } else if applies
            && let Some((name, value)) = line.split_once('=')
            && let name = name.trim()
            && KNOWN.split(' ').any(|known| known == name)
        {
            let name = name.strip_prefix("aws_").unwrap_or(name);
            let variable = format!("AWS_{}", name.to_uppercase());
            found.push((variable, value.trim().to_string()));
        }
    }
    found
}

#[cfg(all(test, feature = "remote"))]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_what_its_heading_has() {
        let text = "[default]\naws_access_key_id = a\n# x\n[ profile b ]\nregion=eu\nother = 1\n";
        let of = |heading| of_profile(text, &[heading]);
        assert_eq!(of("default"), [("AWS_ACCESS_KEY_ID".into(), "a".into())]);
        assert_eq!(of("profile b"), [("AWS_REGION".into(), "eu".into())]);
        assert_eq!(of("c"), []);
    }
}
