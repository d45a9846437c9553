// SPDX-License-Identifier: Apache-2.0
// Rows of a table by index: out[r, :] = table[ids[r], :].
//
// out: [rows, dim]; table: [V, dim]; ids: [rows], each in [0, V) (checked by the host).
// Work-item (c, r) copies element c of row r; the global size of axis 0 is dim rounded up to a
// multiple of the group size. The copy is bitwise, so the element type matters by its size only.
//
// Macros: ELEMENT  unsigned type of the element size: uchar, ushort, uint (default), ulong
// Local memory: none. Source: the chapter's section 2.
#ifndef ELEMENT
#define ELEMENT uint
#endif

__kernel void embedding(__global ELEMENT* out, __global const ELEMENT* table,
                        __global const long* ids, ulong dim) {
  const size_t column = get_global_id(0);
  const size_t row = get_global_id(1);
  if (column < dim) {
    out[row * dim + column] = table[(size_t)ids[row] * dim + column];
  }
}
