bpe-encode: error: nope: cannot open: No such file or directory
bpe-encode: error: nope.json: .*No such file or directory.*
bpe-encode: error: d: is a directory; give a file
bpe-encode: error: d: is a directory; give a file
bpe-encode: error: d.*tokenizer.json.*
bpe-encode: error: no\\x0Asuch\\x1B\[31m: cannot open: No such file or directory
