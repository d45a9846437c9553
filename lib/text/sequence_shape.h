// SPDX-License-Identifier: Apache-2.0
// What a tokenizer.json says about the shape of a sequence of ids, beside the ids themselves: the
// template of the post-processor around a text, `truncation` and `padding`. Each is applied only
// when it is asked for, and then as Hugging Face `tokenizers` does it for single texts: the ids of
// the text are cut so that they fit with the template, the template is put around them, and the
// whole is filled up. Nothing is made of the part that is cut off.
#ifndef NETCL_TEXT_SEQUENCE_SHAPE_H_
#define NETCL_TEXT_SEQUENCE_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "text/tokenizer.h"

namespace netcl::text {

struct Truncation {
  enum class Strategy { kLongestFirst, kOnlyFirst, kOnlySecond };  // one text: the first two agree
  uint64_t max_length = 0;
  Strategy strategy = Strategy::kLongestFirst;
  // How far the parts of a long text overlap. Only the first part is kept here, but a stride that
  // leaves no room is refused, as there.
  uint64_t stride = 0;
  bool at_left = false;  // cut at the beginning
};

struct Padding {
  std::optional<uint64_t> fixed_length;  // none: that of the longest sequence of the batch
  uint64_t multiple = 0;                 // lengths are rounded up to a multiple; 0: no rounding
  uint32_t pad_id = 0;
  bool at_left = false;
  // Not about ids; kept for writing the file.
  uint64_t pad_type_id = 0;
  std::string pad_token;
};

// What to apply. `extra` ids of every sequence are added by the caller after its template; they
// take room under truncation.
struct ShapeOptions {
  bool add_template = false;
  bool truncate = false;
  bool pad = false;
  uint64_t extra = 0;
};

// Immutable; every function is safe from several threads.
class SequenceShape {
 public:
  // Throws UsageError when the tokenizer has no template, truncation or padding to apply, and for
  // the strategy OnlySecond, which is about pairs of texts; FormatError when the template and
  // `extra` do not leave more than `stride` of max_length, or the padding's id is no token.
  SequenceShape(const BpeTokenizer& tokenizer, const ShapeOptions& options);

  // Cuts the ids of one text, encoded without template, and puts the template around them. Spans
  // are kept in step unless there are none; the template's are empty, at the ends of the text. A
  // part of a text gets the half of the template that belongs to its beginning or end; truncation
  // needs the whole.
  void apply(Encoding& encoding, uint64_t text_size, bool begins = true, bool ends = true) const;

  // True when pad() needs the length of the longest sequence of all.
  bool pads_to_longest() const { return pads_ && !padding_.fixed_length; }
  // Fills up to the length of the padding; `longest` is ignored for a fixed one. A sequence that is
  // as long stays as it is. Spans of what is filled in are empty, at the ends of the text.
  void pad(Encoding& encoding, uint64_t longest, uint64_t text_size) const;

 private:
  BpeTokenizer tokenizer_;
  bool add_template_;
  std::optional<uint64_t> room_;  // most ids of a text
  bool cut_at_left_ = false;
  bool pads_ = false;
  Padding padding_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_SEQUENCE_SHAPE_H_
