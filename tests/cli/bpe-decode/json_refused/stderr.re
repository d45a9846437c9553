bpe-decode: error: <stdin>@3: not valid JSON: .*
bpe-decode: error: <stdin>: id "2" at position 1 is no whole number
bpe-decode: error: <stdin>: row 1: '2' is no list of ids; expected \[1,2,3\] or \{"ids":\[1,2,3\]\}
bpe-decode: error: <stdin>: id \[2\] at position 1 is no whole number
bpe-decode: error: <stdin>@4: not valid JSON: .*
bpe-decode: error: <stdin>: id true at position 0 is no whole number
bpe-decode: error: <stdin>: row 0: id \[1\] at position 0 is no whole number
bpe-decode: error: <stdin>: id 1e3 at position 0 is no whole number
bpe-decode: error: <stdin>: id 18446744073709551616 at position 0 is out of range; ids are 0 to 4294967295
bpe-decode: error: <stdin>: id -0 at position 0 is out of range; ids are 0 to 4294967295
bpe-decode: error: <stdin>: id -9223372036854775809 at position 1 is out of range; ids are 0 to 4294967295
bpe-decode: error: <stdin>: row 1: id 1\.50 at position 1 is no whole number
bpe-decode: error: <stdin>: row 1: id 99999999999999999999 at position 0 is out of range; ids are 0 to 4294967295
bpe-decode: error: <stdin>@5: not valid JSON: number overflow parsing '1e400'
bpe-decode: error: <stdin>: id 1\.5 at position 0 is no whole number
bpe-decode: error: <stdin>:1: field 'ids' is missing
bpe-decode: error: <stdin>:1: field 'ids' is no array
bpe-decode: error: <stdin>:1: '7' is no list of ids; expected \[1,2,3\] or \{"ids":\[1,2,3\]\}
bpe-decode: error: <stdin>:1: empty, where a JSON value was expected
bpe-decode: error: <stdin>:1@11: not valid JSON: .*
bpe-decode: error: <stdin>@512: JSON nested deeper than 512 levels
