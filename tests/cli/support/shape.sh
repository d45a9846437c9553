# SPDX-License-Identifier: Apache-2.0
# Sourced after tiny.sh by cases of --template, --truncate and --pad.
shape() {  # shape KEY JSON...: puts members of the top level into t.json
  python3 - "$@" <<'END'
import json, sys
tokenizer = json.load(open("t.json"))
for key, value in zip(sys.argv[1::2], sys.argv[2::2]):
    tokenizer[key] = json.loads(value)
json.dump(tokenizer, open("t.json", "w"))
END
}
bos='{"SpecialToken":{"id":"<|endoftext|>","type_id":0}}'
text='{"Sequence":{"id":"A","type_id":0}}'
mask='{"SpecialToken":{"id":"[MASK]","type_id":0}}'
special='{"<|endoftext|>":{"id":"<|endoftext|>","ids":[261],"tokens":["<|endoftext|>"]},"[MASK]":{"id":"[MASK]","ids":[262],"tokens":["[MASK]"]}}'
template='{"type":"TemplateProcessing","single":['$bos,$text,$mask'],"pair":[],"special_tokens":'$special'}'
