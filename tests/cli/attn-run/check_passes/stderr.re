attn-run: check: passed, max error [0-9.e-]+
attn-run: check: passed, max error [0-9.e-]+
