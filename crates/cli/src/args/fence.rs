//! The user's confirmation that a target may be loaded.

use clap::Args;

/// The user's confirmation for a target behind a router.
#[derive(Clone, Copy, Debug, Default, Args)]
#[command(next_help_heading = "Fence")]
pub struct FenceOptions {
    /// Confirm that you may load a target behind a router; without this, sysdyno asks on the terminal
    ///
    /// Targets on this host or on a directly connected network need no confirmation. Neither do networks listed in
    /// SYSDYNO_TARGET_ALLOW, or under 'allow' in the [target] table of /etc/sysdyno.toml. Once such a list exists, nothing else
    /// can be loaded, with or without this option.
    #[arg(long)]
    pub target_is_mine: bool,
}
