bpe-encode: error: a@6: .*
bpe-encode: error: a@6: .*
