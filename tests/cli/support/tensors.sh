# SPDX-License-Identifier: Apache-2.0
# Sourced by cases of the attention tools.

# tensor FILE SHAPE DATA [DTYPE]: a JSON tensor, for example: tensor q.json 3,2 1,0,0,2,1,1
tensor() {
  printf '{"dtype":"%s","shape":[%s],"data":[%s]}\n' "${4:-f32}" "$2" "$3" >"$1"
}

# The chapter's worked example.
chapter() {
  tensor q.json 3,2 1,0,0,2,1,1
  tensor k.json 3,2 1,0,1,1,0,2
  tensor v.json 3,2 10,1,20,2,30,3
}

# random FILE SHAPE SEED [DTYPE]: reproducible values in [-2, 2), multiples of 1/64.
random() {
  python3 "$SUPPORT/tensor_tool.py" random "$2" "$3" "${4:-f32}" >"$1"
}

# show FILE...: name, type, shape and values of tensors, four decimals.
show() {
  python3 "$SUPPORT/tensor_tool.py" show "$@"
}

# close A B: exits 1 unless both tensors agree to 1e-5.
close() {
  python3 "$SUPPORT/tensor_tool.py" close "$1" "$2"
}

# status COMMAND...: runs it and prints "exit N", so that a case can show several failures.
status() {
  local code=0
  "$@" || code=$?
  echo "exit $code"
}
