bpe-train: error: memory limit: learning from 400000 distinct pre-tokens of 6244446 bytes needs \d+ bytes of memory; a limit of that size would do; see 'bpe-train --help'
bpe-train: error: memory limit of 26214400 bytes: too small to count with 2 threads; the least is 27262976; see 'bpe-train --help'
bpe-train: error: nowhere: cannot hold temporary files: No such file or directory
bpe-train: error: --temp-dir requires --memory-limit; see 'bpe-train --help'
