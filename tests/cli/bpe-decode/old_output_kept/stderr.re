bpe-decode: error: <stdin>:2: .*9999.*
