bpe-encode: error: a@5: .*
bpe-encode: error: a@5: .*
bpe-encode: error: a.jsonl:2@2: .*
