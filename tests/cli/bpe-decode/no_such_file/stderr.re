bpe-decode: error: nope: cannot open: No such file or directory
bpe-decode: error: nope.json: .*No such file or directory.*
bpe-decode: error: d: is a directory; give a file
