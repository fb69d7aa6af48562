//! The paper's two models.

use std::fmt;
use std::str::FromStr;

use egg_pool::ConvolutionConfig;
use egg_pool::convolution::{Gcn, Gin};

/// Table 2 or Table 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// Table 2.
    Gcn,
    /// Table 3.
    Gin,
}

impl Architecture {
    /// Both, in the order of the tables.
    pub const ALL: &'static [Self] = &[Self::Gcn, Self::Gin];

    /// As it is called in names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gcn => "gcn",
            Self::Gin => "gin",
        }
    }
}

impl From<Architecture> for ConvolutionConfig {
    fn from(architecture: Architecture) -> Self {
        match architecture {
            Architecture::Gcn => Gcn.into(),
            Architecture::Gin => Gin.into(),
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Architecture {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|known| known.name() == name);
        found.copied().ok_or_else(|| "gcn or gin".to_owned())
    }
}
