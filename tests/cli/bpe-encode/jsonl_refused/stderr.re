bpe-encode: error: <stdin>:1@15: not valid JSON: .*
bpe-encode: error: <stdin>:1@14: not valid JSON: .*
bpe-encode: error: <stdin>:1@10: not valid JSON: .*
bpe-encode: error: <stdin>:1@0: byte order mark before JSON; remove the first 3 bytes
bpe-encode: error: <stdin>:1@512: JSON nested deeper than 512 levels
bpe-encode: error: <stdin>:1: field 'text': expected a string, found number
bpe-encode: error: <stdin>:1: field 'text' is missing; the object has 'txt'; --text-field chooses one
bpe-encode: error: <stdin>:1: not a JSON object; each line must be one with the field 'text'
bpe-encode: error: <stdin>:1: empty, where a JSON value was expected
bpe-encode: error: <stdin>:1@11: not valid JSON: .*
bpe-encode: error: <stdin>:1@13: not valid JSON: .*
bpe-encode: error: <stdin>:1@9: not valid JSON: .*
bpe-encode: error: <stdin>:1@12: duplicate JSON key 'text'
