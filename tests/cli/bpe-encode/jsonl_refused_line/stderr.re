bpe-encode: error: <stdin>:2: .*'?body'?.*
