bpe-decode: error: a:1.*
bpe-decode: error: <stdin>:1.*
