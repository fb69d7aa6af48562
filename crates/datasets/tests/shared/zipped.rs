//! Archives that tests make.

use std::io::{Cursor, Write};

use zip::write::{SimpleFileOptions, ZipWriter};

/// A deflated zip with these members.
pub(crate) fn zipped(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
