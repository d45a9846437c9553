bpe-encode: error: <stdin>@6: .*
