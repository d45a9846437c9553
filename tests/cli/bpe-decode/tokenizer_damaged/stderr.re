bpe-decode: error: cut.json.*
