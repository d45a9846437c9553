# SPDX-License-Identifier: Apache-2.0
# Sourced by cases: writes t.json, a small tokenizer. he=256 ll=257 hell=258 hello=259 (space+w)=260,
# <|endoftext|>=261 and [MASK]=262 are special, <tab>=263 is added but not special.
"$SUPPORT/make_tokenizer.py" h+e l+l he+ll hell+o Ġ+w \
  --added '<|endoftext|>' --added '[MASK]' --added-plain '<tab>' >t.json

# status COMMAND...: runs it and prints "exit N", so that a case can show several failures.
status() {
  local code=0
  "$@" || code=$?
  echo "exit $code"
}
