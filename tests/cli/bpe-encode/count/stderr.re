bpe-encode: error: --count .*
bpe-encode: error: --count .*
