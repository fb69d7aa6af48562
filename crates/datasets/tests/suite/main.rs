//! Data sets from outside: found by name, fetched in spite of kills and full disks, compared with
//! the real files where they are here.

#[cfg(unix)]
mod killed;
mod loading;
#[path = "../shared/real_data.rs"]
mod real_data;
#[path = "../shared/zipped.rs"]
mod zipped;
