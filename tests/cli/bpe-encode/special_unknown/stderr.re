bpe-encode: error: .*nope.*
bpe-encode: error: .*
bpe-encode: error: --append: .*nope.* is no token of the tokenizer.*
