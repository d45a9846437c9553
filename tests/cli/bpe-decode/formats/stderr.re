bpe-decode: error: a.u16:1: id '.*' at position 0 is no number; .*
