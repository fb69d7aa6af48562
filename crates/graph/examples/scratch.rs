fn main() {
    let p = std::env::args().nth(1).unwrap();
    let t = std::time::Instant::now();
    let d = egg_graph::read_tu(p.as_ref(), &Default::default()).unwrap();
    eprintln!(
        "{} {} {} {} {} {:?} {:?}",
        d.name(),
        d.len(),
        d.node_count(),
        d.edge_count(),
        d.features().width(),
        d.notes(),
        t.elapsed()
    );
    let t = std::time::Instant::now();
    eprintln!("{} {:?}", d.fingerprint(), t.elapsed());
}
