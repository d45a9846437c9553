bpe-encode: error: cut\.json@3000: not valid JSON: .*
bpe-encode: error: empty: no tokens in this \.tiktoken file
bpe-encode: error: unigram\.json\.model: type 'Unigram' is not supported; only BPE is
bpe-encode: error: bad\.tiktoken:2: 'not' is not the base64 of a token
bpe-encode: error: zero:1: '\\x.*
