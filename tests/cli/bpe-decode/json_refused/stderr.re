bpe-decode: error: <stdin>@3: not valid JSON: .*
bpe-decode: error: <stdin>: id "2" at position 1 is no whole number
bpe-decode: error: <stdin>: row 1: '2' is no list of ids; expected \[1,2,3\] or \{"ids":\[1,2,3\]\}
bpe-decode: error: <stdin>: id \[2\] at position 1 is no whole number
bpe-decode: error: <stdin>@4: not valid JSON: .*
bpe-decode: error: <stdin>: id true at position 0 is no whole number
bpe-decode: error: <stdin>: row 0: id \[1\] at position 0 is no whole number
bpe-decode: error: <stdin>: id 1000\.0 at position 0 is no whole number
bpe-decode: error: <stdin>:1: field 'ids' is missing
bpe-decode: error: <stdin>:1: field 'ids' is no array
bpe-decode: error: <stdin>:1: '7' is no list of ids; expected \[1,2,3\] or \{"ids":\[1,2,3\]\}
bpe-decode: error: <stdin>:1@0: not valid JSON: .*
bpe-decode: error: <stdin>:1@11: not valid JSON: .*
bpe-decode: error: <stdin>: JSON nested deeper than 512 levels
