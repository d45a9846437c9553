#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the pre-tokens of a corpus with Apache Spark, for `bpe-train --from-counts`.

usage: spark-submit spark_bpe_counts.py --out DIR [options] INPUT...

INPUT is whatever a Spark data source loads: files, directories or patterns such as s3a://bucket/docs/*.parquet.
Each row of the text column is one document; rows that are null are left out. Each partition is fed, one JSON line a
document, to `bpe-train --jsonl --counts-out -` on the machine where it lies (RDD.pipe); the counts of all partitions
are added up by key and written to DIR/part-*, each a whole file of counts with sorted words. Then:

    bpe-train --from-counts DIR/part-* --vocab-size 128000 -o tokenizer.json

gives, byte for byte, what bpe-train gives for all documents on one machine. A task that fails or whose machine is
lost is run again by Spark, which changes nothing. bpe-train must lie at the same path on every machine, or travel
along: spark-submit --files build/release/tools/bpe-train ... --bpe-train ./bpe-train. Runs on Python 3.8 and PySpark
3.5; scripts/requirements-spark.txt pins the release that is tested. scripts/README.md has a sizing for 10 TB.
"""
import argparse
import json
import operator
import os
import shlex
import sys
import zlib

HEADER_MARK = "!!"
SUM_MARK = "~~"
# Sums of one file; those of the others are added up like words.
OWN_SUMS = ("~~pieces", "~~words")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("inputs", nargs="+", metavar="INPUT")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder to make, in any file system of Spark's")
    parser.add_argument("--format", default="json", help="Spark data source: json (default), parquet, text, orc ...")
    parser.add_argument("--option", action="append", default=[], metavar="K=V",
                        help="option of the data source, such as wholetext=true")
    parser.add_argument("--column", help="column of the text; default: text, with --format text value")
    parser.add_argument("--partitions", type=int, metavar="N", help="of the result; default: Spark's")
    parser.add_argument("--bpe-train", default="bpe-train", metavar="PATH", help="the program on every machine")
    parser.add_argument("--pattern", metavar="NAME", help="as of bpe-train, like the following")
    parser.add_argument("--pattern-regex", metavar="RE")
    parser.add_argument("--add-prefix-space", action="store_true")
    parser.add_argument("--special", action="append", default=[], metavar="TOK")
    arguments = parser.parse_args()
    for option in arguments.option:
        if "=" not in option:
            parser.error(f"--option '{option}' is not K=V")
    if arguments.partitions is not None and arguments.partitions < 1:
        parser.error("--partitions is a positive number")
    return arguments


def counting_command(arguments: argparse.Namespace) -> str:
    # One thread: Spark has a task for every core already.
    words = [arguments.bpe_train, "--jsonl", "--counts-out", "-", "--threads", "1", "--progress", "none"]
    if arguments.pattern is not None:
        words += ["--pattern", arguments.pattern]
    if arguments.pattern_regex is not None:
        words += ["--pattern-regex", arguments.pattern_regex]
    if arguments.add_prefix_space:
        words.append("--add-prefix-space")
    for token in arguments.special:
        words += ["--special", token]
    return shlex.join(words)


def json_lines(rows):
    """A line for each document. RDD.pipe takes the end of this generator for the end of the input, whatever ended
    it; so an error becomes a line that bpe-train refuses, which fails the task."""
    try:
        for row in rows:
            if row[0] is not None:
                yield json.dumps({"text": row[0]})
    except Exception as error:  # noqa: BLE001
        yield f"the input of this task failed: {error!r}".replace("\n", " ")


def key_and_count(line: str):
    """Of a line of counts: (escaped word or sum, number), none for the header and for sums that do not add up."""
    if line.startswith(HEADER_MARK):
        return []
    key, number = line.split("\t")
    return [] if key in OWN_SUMS else [(key, int(number))]


def partition_of(key: str) -> int:
    return zlib.crc32(key.encode())


class CountsFile:
    """Turns the sorted keys and counts of a partition into the lines of a file of counts."""

    def __init__(self, header: str):
        self.header = header

    def __call__(self, pairs):
        sums = {"~~bytes": 0, "~~documents": 0, "~~pieces": 0, "~~words": 0}
        yield self.header
        for key, count in pairs:  # the sums sort behind all words
            if key.startswith(SUM_MARK):
                sums[key] += count
                continue
            sums["~~pieces"] += count
            sums["~~words"] += 1
            yield f"{key}\t{count}"
        for key, number in sums.items():
            yield f"{key}\t{number}"


def main() -> int:
    arguments = parse_arguments()
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.appName("bpe-counts").getOrCreate()
    context = spark.sparkContext
    command = counting_command(arguments)
    environment = {"PATH": os.environ.get("PATH", os.defpath)}

    reader = spark.read.format(arguments.format)
    for option in arguments.option:
        name, value = option.split("=", 1)
        reader = reader.option(name, value)
    table = reader.load(arguments.inputs)
    column = arguments.column or ("value" if arguments.format == "text" else "text")
    if column not in table.columns:
        print(f"spark_bpe_counts: no column '{column}'; there are {', '.join(table.columns)}", file=sys.stderr)
        return 2

    # No documents: shows that the program is there and its options are good, and gives the header.
    header = context.parallelize([], 1).pipe(command, environment, checkCode=True).first()
    count = arguments.partitions or context.defaultParallelism
    (table.select(column).rdd
     .mapPartitions(json_lines)
     .pipe(command, environment, checkCode=True)
     .flatMap(key_and_count)
     .reduceByKey(operator.add, count, partition_of)
     .repartitionAndSortWithinPartitions(count, partition_of)  # partitioned so already: it only sorts
     .mapPartitions(CountsFile(header))
     .saveAsTextFile(arguments.out))
    print(f"counts in {arguments.out}; next: bpe-train --from-counts {arguments.out}/part-* -o tokenizer.json")
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
