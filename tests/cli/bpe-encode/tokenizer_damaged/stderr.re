bpe-encode: error: cut\.json@3000: not valid JSON: .*
bpe-encode: error: empty: is empty; a tokenizer is .*
bpe-encode: error: unigram\.json\.model: type 'Unigram' is not supported; only BPE is
bpe-encode: error: bad\.tiktoken:2: 'not' is not the base64 of a token
bpe-encode: error: zero: looks like binary data; a tokenizer is .*
