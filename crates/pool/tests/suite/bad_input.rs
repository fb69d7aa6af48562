//! What poolings and structures refuse.

use candle_core::{DType, Device, Tensor};
use egg_graph::CsrMatrix;
use egg_nn::Pass;
use egg_pool::{Error, PoolingConfig, Structure};

use crate::samples::{build, normal, structure};

#[test]
fn wrong_rows_and_widths_are_refused() {
    let structure = structure(&[(3, vec![(0, 1)]), (2, vec![])]);
    for config in PoolingConfig::all() {
        let (pooling, _) = build(&config, 4, DType::F64, 0);
        for (rows, columns) in [(4, 4), (6, 4), (5, 3), (5, 5), (0, 4)] {
            let h = normal(rows, columns, 1);
            let error = pooling
                .pool(&(&h).into(), &structure, &mut Pass::Evaluation)
                .unwrap_err();
            match &error {
                Error::PoolingInput { pooling, found, .. } => {
                    assert_eq!(found, &[rows, columns]);
                    assert_eq!(*pooling, config.name());
                }
                other => panic!("{config}: {other}"),
            }
            assert!(error.to_string().contains("expected (5, 4)"), "{error}");
        }
        let h = normal(5, 4, 1).flatten_all().unwrap();
        let error = pooling
            .pool(&(&h).into(), &structure, &mut Pass::Evaluation)
            .unwrap_err();
        assert!(matches!(error, Error::PoolingInput { .. }), "{config}");
    }
}

#[test]
fn wrong_types_are_refused() {
    let structure = structure(&[(3, vec![(0, 1)])]);
    for config in PoolingConfig::all() {
        let (pooling, parameters) = build(&config, 2, DType::F64, 0);
        let h = Tensor::zeros((3, 2), DType::U8, &Device::Cpu).unwrap();
        let error = pooling
            .pool(&(&h).into(), &structure, &mut Pass::Evaluation)
            .unwrap_err();
        assert!(
            matches!(error, Error::Layer(egg_nn::Error::DType { .. })),
            "{config}: {error}"
        );
        let h = Tensor::zeros((3, 2), DType::F32, &Device::Cpu).unwrap();
        let found = pooling.pool(&(&h).into(), &structure, &mut Pass::Evaluation);
        assert_eq!(found.is_err(), parameters.trainable_count() > 0, "{config}");
    }
}

#[test]
fn invalid_structures_are_refused() {
    let refused = |offsets: &[usize], rows: &[&[u32]]| {
        let mut row_offsets = vec![0];
        for row in rows {
            row_offsets.push(row_offsets[row_offsets.len() - 1] + row.len());
        }
        let columns: Vec<u32> = rows.concat();
        let values = (0..columns.len()).map(|_| 1.0).collect();
        let matrix = CsrMatrix::new(row_offsets, columns, values, rows.len()).unwrap();
        Structure::new(offsets, matrix)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(refused(&[0, 2, 3], &[&[1], &[0], &[]]), Ok(()));
    assert_eq!(refused(&[0, 2, 3], &[&[0, 1], &[0], &[2]]), Ok(()));
    for (offsets, rows, part) in [
        (
            &[0, 1, 3][..],
            &[&[1][..], &[0], &[]][..],
            "joins nodes 0 and 1 of two graphs",
        ),
        (&[0, 3], &[&[1], &[], &[]], "not symmetric at row 0, column 1"),
        (
            &[0, 3],
            &[&[1, 2], &[0], &[1]],
            "not symmetric at row 0, column 2",
        ),
        (&[0, 2], &[&[1], &[0], &[]], "the graphs have 2 nodes"),
        (&[1, 3], &[&[1], &[0], &[]], "offset 0"),
        (&[], &[&[1], &[0], &[]], "offset 0"),
    ] {
        let error = refused(offsets, rows).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
    let uneven = CsrMatrix::new(vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0], 2).unwrap();
    assert!(matches!(
        Structure::new(&[0, 2], uneven),
        Err(Error::Structure { .. })
    ));
}
