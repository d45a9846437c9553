bpe-decode: error: <stdin>:2: .*7777.*position 1.*
