//! Zachary's karate club: who met whom outside the club, and which side each
//! member took when it split (W. W. Zachary, "An information flow model for
//! conflict and fission in small groups", Journal of Anthropological Research
//! 33, 1977).

use crate::dataset::GraphDataset;
use crate::error::Result;
use crate::features::Features;
use crate::graph::Graph;
use crate::labels::Labels;

const MEMBERS: u32 = 34;

/// The members who left with the club's officer; the others stayed with the
/// instructor, Mr. Hi.
const OFFICER: [u32; 17] = [9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33];

/// Each friendship once, members counted from 0.
const FRIENDSHIPS: [(usize, usize); 78] = [
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (0, 5),
    (0, 6),
    (0, 7),
    (0, 8),
    (0, 10),
    (0, 11),
    (0, 12),
    (0, 13),
    (0, 17),
    (0, 19),
    (0, 21),
    (0, 31),
    (1, 2),
    (1, 3),
    (1, 7),
    (1, 13),
    (1, 17),
    (1, 19),
    (1, 21),
    (1, 30),
    (2, 3),
    (2, 7),
    (2, 8),
    (2, 9),
    (2, 13),
    (2, 27),
    (2, 28),
    (2, 32),
    (3, 7),
    (3, 12),
    (3, 13),
    (4, 6),
    (4, 10),
    (5, 6),
    (5, 10),
    (5, 16),
    (6, 16),
    (8, 30),
    (8, 32),
    (8, 33),
    (9, 33),
    (13, 33),
    (14, 32),
    (14, 33),
    (15, 32),
    (15, 33),
    (18, 32),
    (18, 33),
    (19, 33),
    (20, 32),
    (20, 33),
    (22, 32),
    (22, 33),
    (23, 25),
    (23, 27),
    (23, 29),
    (23, 32),
    (23, 33),
    (24, 25),
    (24, 27),
    (24, 31),
    (25, 31),
    (26, 29),
    (26, 33),
    (27, 33),
    (28, 31),
    (28, 33),
    (29, 32),
    (29, 33),
    (30, 32),
    (30, 33),
    (31, 32),
    (31, 33),
    (32, 33),
];

/// The club as a node data set: 34 members, 78 friendships, two factions, and
/// one-hot features that only identify members.
///
/// ```
/// let karate = egg_graph::synthetic::karate_club()?;
/// assert_eq!((karate.node_count(), karate.edge_count()), (34, 78));
/// assert_eq!(karate.node_labels().map(|factions| factions.class_sizes()), Some(vec![17, 17]));
/// # Ok::<(), egg_graph::Error>(())
/// ```
///
/// # Errors
/// None; the type is that of what it is made with.
pub fn karate_club() -> Result<GraphDataset> {
    let factions: Vec<Option<u32>> = (0..MEMBERS)
        .map(|member| Some(OFFICER.contains(&member).into()))
        .collect();
    let graph = Graph::from_edges(MEMBERS as usize, &FRIENDSHIPS)?
        .with_features(Features::one_hot((0..MEMBERS).collect(), MEMBERS as usize)?)?
        .with_node_labels(Labels::new(&factions, vec!["Mr. Hi".into(), "Officer".into()])?)?;
    Ok(GraphDataset::single("karate", graph))
}
