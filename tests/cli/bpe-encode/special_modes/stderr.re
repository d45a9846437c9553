bpe-encode: error: a@2: .*<\|endoftext\|>.*
bpe-encode: error: a@2: .*<\|endoftext\|>.*
