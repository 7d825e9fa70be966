//! Shares of several types with large expectations, compared with the answers of deepgnn-ge 0.1.66 on the same graph.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::fmt::Write as _;

use common::{Built, opened};
use isomorph_sampling::{Ask, Choice, Draw, EdgeSampler, Generator, Missing, NodeSampler, Picks, Sampler, TypeSet};

/// Sixty nodes of three types, each with four edges of two types.
fn graph() -> Built {
    let mut text = String::new();
    for node in 0..60 {
        let ty = node % 3;
        write!(text, "-1 {node} {ty} {}", (1 + (node * 7) % 5) * (1 + ty * 2)).unwrap();
        for kind in 0..2 {
            for edge in 0..4 {
                let (target, weight) = ((node + 1 + edge * 3 + kind) % 60, (1 + (node + edge + kind) % 3) * (1 + kind));
                write!(text, " {node} {target} {kind} {weight}").unwrap();
            }
        }
        text.push('\n');
    }
    Built::of(&text, 1)
}

/// FNV-1a over ids.
fn hash(ids: &[i64]) -> u64 {
    ids.iter().fold(0xcbf2_9ce4_8422_2325, |hash, id| (hash ^ *id as u64).wrapping_mul(0x100_0000_01b3))
}

fn of_types<const N: usize>(types: &[i32]) -> [usize; N] {
    std::array::from_fn(|ty| types.iter().filter(|other| **other == ty as i32).count())
}

#[test]
fn nodes_are_shared_as_in_the_published_engine() {
    let built = graph();
    let graph = opened(&built.path);
    let mut sampler = NodeSampler::new(&graph, &TypeSet::all(), Choice::Weighted, Generator::Compat).unwrap();
    for (count, seed, wanted, known) in [
        (60, 1, [5, 24, 31], 0x77e5_90b5_c2e9_82be),
        (60, 2, [6, 17, 37], 0x8269_f989_93ae_3aa4),
        (60, 3, [9, 20, 31], 0x1158_4f29_c345_0bf6),
        (60, 4, [5, 22, 33], 0xa5de_f636_38db_3590),
        (60, 5, [4, 18, 38], 0xdfca_62f6_e99a_ef09),
        (60, 99, [5, 18, 37], 0x4156_eeb9_621d_2177),
        (300, 1, [34, 107, 159], 0x734b_b845_bd25_a172),
        (300, 2, [35, 90, 175], 0x48e3_41fe_d299_5780),
        (300, 3, [29, 110, 161], 0xb490_35d8_13bf_3176),
        (300, 4, [35, 82, 183], 0x72b2_f9ea_58f0_f1ad),
        (300, 5, [30, 94, 176], 0x0f2d_49ac_d76b_8fb8),
        (300, 99, [34, 111, 155], 0x0a3e_5835_9890_7990),
        (2000, 1, [221, 679, 1100], 0x9b36_573a_7027_dc49),
        (2000, 2, [222, 642, 1136], 0xb040_3a5d_73a0_77cd),
        (2000, 3, [212, 684, 1104], 0x508f_c1b9_909f_1db8),
        (2000, 4, [221, 689, 1090], 0x9113_d9b5_b05d_8354),
        (2000, 5, [211, 628, 1161], 0x05d1_ce16_db17_5dba),
        (2000, 99, [220, 647, 1133], 0x5bb7_7388_d8fb_a143),
    ] {
        let (mut ids, mut types) = (vec![0; count], vec![0; count]);
        assert_eq!(sampler.sample(Draw::of(seed), -1, &mut ids, &mut types).unwrap(), count);
        assert_eq!((of_types::<3>(&types), hash(&ids)), (wanted, known), "{count} nodes of seed {seed}");
    }
}

#[test]
fn edges_are_shared_as_in_the_published_engine() {
    let built = graph();
    let graph = opened(&built.path);
    let mut sampler = EdgeSampler::new(&graph, &TypeSet::all(), Choice::Weighted, Generator::Compat).unwrap();
    for (count, seed, wanted, known) in [
        (300, 1, [100, 200], 0xa11c_7e52_efc0_b209),
        (300, 2, [101, 199], 0xeb6c_f162_fb1b_3ef1),
        (300, 3, [94, 206], 0x3c36_8675_fcce_65f2),
        (2000, 1, [663, 1337], 0xc346_3c03_2f11_f866),
        (2000, 2, [665, 1335], 0x5999_79a0_9c83_075a),
        (2000, 3, [725, 1275], 0x85e1_af01_b933_fcf3),
    ] {
        let (mut sources, mut targets, mut types) = (vec![0; count], vec![0; count], vec![0; count]);
        let filled = sampler.sample(Draw::of(seed), -1, &mut sources, &mut targets, &mut types).unwrap();
        assert_eq!(filled, count);
        assert_eq!((of_types::<2>(&types), hash(&targets)), (wanted, known), "{count} edges of seed {seed}");
    }
}

#[test]
fn neighbours_are_shared_as_in_the_published_engine() {
    let built = graph();
    let graph = opened(&built.path);
    let mut sampler = Sampler::new(&graph, Generator::Compat, 1);
    let (nodes, all): (Vec<i64>, _) = ((0..60).collect(), TypeSet::all());
    for (count, seed, of_the_first, known) in [
        (10, 1, 203, 0xf0cb_4ba7_366c_4521),
        (10, 2, 206, 0xf2df_c6fd_c267_9924),
        (40, 1, 859, 0x23b1_cf12_fd5c_5279),
        (40, 2, 819, 0xfc87_7a87_0c0c_033e),
        (200, 1, 4109, 0xeec2_fa6d_79bb_b00b),
        (200, 2, 4116, 0xcbf0_bd62_c0a9_35f5),
    ] {
        let room = nodes.len() * count;
        let (mut ids, mut types) = (vec![0; room], vec![0; room]);
        let mut picks = Picks { ids: &mut ids, weights: &mut [], types: &mut types, created: &mut [], exact: &mut [] };
        let ask = Ask::new(&nodes, &all);
        sampler.weighted(&ask, count, Draw::of(seed), &Missing::default(), &mut picks).unwrap();
        assert_eq!((of_types::<2>(&types)[0], hash(&ids)), (of_the_first, known), "{count} neighbours of seed {seed}");
    }
}
