//! Tests of tables, outputs of benchmarks, the table of algorithms, scores and intervals.

use std::sync::Arc;

use super::*;
use crate::report::MeasuredRow;

fn rows(text: &str) -> Result<Vec<MeasuredRow>, String> {
    let input = Input::from_bytes("rows.csv", text.as_bytes().to_vec());
    let read = rows::read(input, None);
    read.map(|read| read.rows.into_iter().map(|read| read.row).collect()).map_err(shown)
}

fn shown(diagnostics: Vec<Diagnostic>) -> String {
    Invalid { diagnostics, ..Invalid::default() }.to_string()
}

fn benchmark(text: &str, nodes: Option<u32>) -> Result<Vec<MeasuredRow>, String> {
    let facts = BenchmarkFacts { system: Some("X".to_owned()), algorithm: None, shape: None, nodes, operation: None };
    let read = benchmarks::read(&Arc::from("out.txt"), text, &facts).expect("a benchmark");
    read.map(|read| read.into_iter().map(|read| read.row).collect()).map_err(shown)
}

#[test]
fn columns_stand_in_any_order_and_comments_begin_cells() {
    let text = "# system: Fugaku\n# source: PICO\n# empty cells: as above\n\
                time_s,size_B,algorithm,operation,nodes,source\n0.5,64 KiB,ring,allgather,8,a\n2 ms,8,,,,-\n";
    let read = rows(text).unwrap();
    assert_eq!(read.len(), 2);
    assert_eq!((read[0].size_bytes, read[0].time_s, read[0].source.as_str()), (65536, 0.5, "PICO a"));
    let MeasuredRow { system, operation, algorithm, nodes, ranks, source, time_s, .. } = &read[1];
    assert_eq!((system.as_str(), operation.as_str(), algorithm.as_str()), ("Fugaku", "allgather", "ring"));
    assert_eq!((*nodes, *ranks, source.as_str(), *time_s), (8, 8, "PICO", 0.002));
}

#[test]
fn mistakes_of_a_table_have_line_and_column() {
    let head = "system,operation,algorithm,nodes,ranks,shape,size_B,time_s\n";
    let wrong = |line: &str| rows(&format!("{head}{line}\n")).unwrap_err();
    for (line, message) in [
        ("X,bcast,binomial,8,8,,64,-1", "rows.csv:2:26"),
        ("X,bcast,binomial,8,8,,64,", "is no measured time"),
        ("X,bcast,binomial,8,4,,64,1", "4 ranks do not use 8 nodes"),
        ("X,bcast,binomial,8,8,4x4,64,1", "does not have 8 nodes"),
        ("X,bcast,binomial,eight,8,,64,1", "\"eight\" is no number of nodes"),
        ("X,bcast,,8,8,,64,1", "a row without algorithm"),
        (",bcast,binomial,8,8,,64,1", "--system NAME"),
        ("X,bcast,binomial,,,,64,1", "a row without nodes"),
        ("X,bcast,binomial,8,8,,many,1", "rows.csv:2:23"),
    ] {
        assert!(wrong(line).contains(message), "{line}: {}", wrong(line));
    }
    assert!(rows("1,2,3\n").unwrap_err().contains("does not name the columns"));
    assert!(rows("").unwrap_err().contains("is empty"));
    assert!(rows("operation,size_B,time_s\n").unwrap_err().contains("algorithm"));
}

#[test]
fn sizes_of_osu_are_those_of_a_block_where_ranks_have_blocks() {
    let text = "# OSU MPI All-to-All Personalized Exchange Latency Test v7.3\n# Datatype: MPI_CHAR.\n\
                # Size       Avg Latency(us)\n4                       1.50\n1048576              2000.25\n";
    let read = benchmark(text, Some(16)).unwrap();
    let facts = |row: &MeasuredRow| (row.operation.clone(), row.size_bytes, row.ranks);
    assert_eq!(facts(&read[1]), ("alltoall".to_owned(), 16 << 20, 16));
    assert!((read[1].time_s - 2000.25e-6).abs() < 1e-12);
    let text = "# OSU MPI Allreduce Latency Test\n# Size Avg Latency(us)\n64 3.5\n";
    assert_eq!(facts(&benchmark(text, Some(16)).unwrap()[0]), ("allreduce".to_owned(), 64, 16));
    assert!(benchmark(text, None).unwrap_err().contains("give --nodes"));
    let wrong = benchmark("# OSU MPI Allreduce Latency Test\n64 -3.5\n", Some(16)).unwrap_err();
    assert!(wrong.contains("out.txt:2:4") && wrong.contains("\"-3.5\""), "{wrong}");
    assert!(benchmark("# OSU MPI Allreduce Latency Test\n", Some(16)).unwrap_err().contains("without times"));
}

#[test]
fn rows_of_imb_have_the_time_of_the_slowest_rank_and_their_own_ranks() {
    let text = "# Benchmarking Alltoall\n# #processes = 32\n# ( 32 additional processes waiting in MPI_Barrier)\n\
                #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n 0 1000 0.04 0.05 0.04\n\
                 1024 1000 20.5 30.5 25.0\n# Benchmarking PingPong\n# #processes = 2\n\
                #bytes #repetitions t[usec] Mbytes/sec\n 8 1000 1.25 6.4\n";
    let read = benchmark(text, None).unwrap();
    let facts: Vec<_> =
        read.iter().map(|row| (row.operation.as_str(), row.ranks, row.size_bytes, row.time_s)).collect();
    assert_eq!(
        facts,
        [("alltoall", 32, 0, 0.05 * 1e-6), ("alltoall", 32, 32768, 30.5 * 1e-6), ("ping-pong", 2, 8, 1.25 * 1e-6)]
    );
}

#[test]
fn sizes_of_nccl_tests_are_those_of_the_vector() {
    let text = "# nccl-tests version 2.13\n# Collective test starting: all_gather_perf\n#  Rank  0 Group  0 Pid 1 on n0\n\
                #  Rank  1 Group  0 Pid 2 on n1\n#       size         count      type   redop    root     time   algbw   busbw\n\
                #        (B)    (elements)                               (us)  (GB/s)  (GB/s)\n\
                1048576  262144  float none -1  120.5  8.7  4.4 0  119.0 8.8 4.4 0\n# Avg bus bandwidth    : 4.4\n";
    let read = benchmark(text, None).unwrap();
    assert_eq!(
        (read.len(), read[0].operation.as_str(), read[0].ranks, read[0].size_bytes),
        (1, "allgather", 2, 1 << 20)
    );
    assert_eq!(read[0].time_s, 120.5 * 1e-6);
}

#[test]
fn every_name_in_the_built_in_rows_is_in_the_table_of_algorithms() {
    for entry in library::measured() {
        let read = rows::read(Input::from_bytes(entry.name, entry.text.as_bytes().to_vec()), None);
        for read in read.unwrap_or_else(|mistakes| panic!("{}", shown(mistakes))).rows {
            let MeasuredRow { operation, algorithm, .. } = &read.row;
            let known = algorithms::played(operation, algorithm);
            assert!(known.is_ok(), "{operation} {algorithm}: {known:?}");
        }
    }
}

#[test]
fn no_name_is_in_the_table_of_algorithms_twice() {
    let mut names: Vec<_> = algorithms::names().collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn workloads_take_blocks_and_the_algorithm_that_suits_the_ranks() {
    let of = |operation, algorithm, ranks, bytes| algorithms::workload(operation, algorithm, ranks, (bytes, 4));
    assert!(of("alltoall", "linear", 32, 32 << 20).unwrap().0.contains("size = \"1048576 B\""));
    assert!(of("bcast", "binomial", 32, 4096).unwrap().0.contains("size = \"4096 B\""));
    assert!(of("allgather", "recursive-doubling", 60, 6000).unwrap().0.contains("\"bruck\""));
    assert!(of("allgather", "recursive-doubling", 64, 6400).unwrap().0.contains("\"recursive-doubling\""));
    // 67,108,864 B in 60 blocks are 1,118,480 B each, all but one part in a million.
    assert!(of("allgather", "ring", 60, 64 << 20).unwrap().0.contains("size = \"1118480 B\""));
    assert_eq!(of("allgather", "ring", 60, 256).unwrap_err(), "blocks are no whole elements of 4 bytes");
    assert_eq!(of("allgather", "gtbc", 8, 256).unwrap_err(), "the algorithm has no public definition");
    assert_eq!(of("barrier", "ring", 8, 256).unwrap_err(), "unknown operation `barrier`");
    assert_eq!(of("bcast", "telepathy", 8, 256).unwrap_err(), "unknown algorithm `telepathy` of bcast");
}

#[test]
fn every_machine_reads_and_every_built_in_placement_is_one_of_a_machine() {
    let machines = machine::machines(&[]).unwrap();
    assert!(machines.len() >= 4);
    let placements = Placements { folder: None };
    for entry in library::placements() {
        let system = entry.name.split('-').next().unwrap();
        let machine = machines.iter().find(|machine| machine.name == system).unwrap();
        assert!(placements.nodes(entry.name, machine).unwrap().is_some(), "{}", entry.name);
    }
}

/// Rows of one kind whose measured times are these multiples of their predictions.
fn predicted(multiples: &[f64]) -> Vec<MeasuredRow> {
    let row = |(at, multiple): (usize, &f64)| MeasuredRow {
        operation: "bcast".to_owned(),
        algorithm: format!("a{at}"),
        time_s: *multiple,
        predicted_s: vec![Some(1.0)],
        ratio: Some(1.0 / multiple),
        scored: true,
        ..MeasuredRow::default()
    };
    multiples.iter().enumerate().map(row).collect()
}

#[test]
fn an_interval_is_made_of_the_other_rows() {
    let report = |multiples: &[f64]| score::report("", &["max-min".to_owned()], &[], predicted(multiples), 0);
    // The row itself, ten times slower than the others, does not widen its own interval.
    let found = report(&[10.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!((found.rows[0].low_s, found.rows[0].high_s), (Some(1.0), Some(1.0)));
    // Eight others: the 95 % quantile lies 0.65 of the way from the second largest value to the largest.
    let high = found.rows[1].high_s.unwrap();
    assert!((high - (1.0 + 0.65 * 9.0)).abs() < 1e-12, "{high}");
    assert_eq!(found.coverage, Some(8.0 / 9.0));
    assert_eq!(report(&[1.0; 8]).rows[0].low_s, None);
}

#[test]
fn the_error_is_a_factor_whichever_way_it_goes() {
    let found = score::report("", &["max-min".to_owned()], &[], predicted(&[2.0, 0.5, 1.2]), 0);
    let all = &found.errors[0];
    assert_eq!((all.rows, all.median, found.worst[0]), (3, 2.0, 0));
    assert!((all.within_25 - 1.0 / 3.0).abs() < 1e-12);
}
