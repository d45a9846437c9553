bpe-train: error: place: counts that do not fit into memory need \d+ bytes here, but \d+ are free; choose another place or allow more memory
