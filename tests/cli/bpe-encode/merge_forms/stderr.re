bpe-encode: error: missing.json.*
bpe-encode: error: three.json.*
