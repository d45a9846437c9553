bpe-encode: stats: 1 documents, 11 bytes, 6 ids, 1\.833 bytes per id, [0-9.]+ s, [0-9.]+ MB/s
