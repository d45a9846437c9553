// SPDX-License-Identifier: Apache-2.0
// Rewriting of text before it is split: Unicode normal forms and the simple steps of Hugging Face
// `tokenizers` that are exact for any input. Bytes that are no well-formed UTF-8 pass unchanged and
// take part in nothing. Every step remembers where its output came from.
// The normal forms use the data of utf8proc (unicode_data_version()); so do lower case and accents.
#ifndef NETCL_TEXT_NORMALIZER_H_
#define NETCL_TEXT_NORMALIZER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/big_buffer.h"
#include "text/byte_span.h"
#include "text/normal_form.h"
#include "text/regex_splitter.h"

namespace netcl::text {

struct NormalizerStep {
  enum class Kind {
    kNfc,
    kNfd,
    kNfkc,
    kNfkd,
    kLowercase,     // each character alone, full mapping (no final sigma)
    kStripAccents,  // drops marks (category M)
    kStrip,         // drops white space at the left and/or right end
    kPrepend,       // puts `content` before a text that is not empty
    kReplace,       // every `pattern`, leftmost first, becomes `content`
    kReplaceRegex,  // the same for every match of the regular expression `pattern`
  };
  Kind kind = Kind::kNfc;
  bool left = false;
  bool right = false;
  std::string pattern;
  std::string content;
  std::shared_ptr<const RegexMatcher> matcher;  // of kReplaceRegex: made from `pattern`

  friend bool operator==(const NormalizerStep& a, const NormalizerStep& b) {
    return std::tie(a.kind, a.left, a.right, a.pattern, a.content) ==
           std::tie(b.kind, b.left, b.right, b.pattern, b.content);
  }
};

// A kReplaceRegex step; `content` is put as it is. Throws FormatError when the pattern cannot be
// translated (regex_splitter.h).
NormalizerStep make_replace_regex_step(std::string_view pattern, std::string_view content);

// How long a text may be before and after each step, and the place shown when it is longer.
struct NormalizerLimit {
  uint64_t max_bytes = UINT64_MAX;
  std::string_view where = "text";
  uint64_t where_offset = 0;
};

// A normalized text and the way back to the original.
class NormalizedText {
 public:
  std::string_view text() const { return text_; }
  // Bytes of the original that bytes [begin, end) of text() came from: whole clusters where
  // characters were rewritten, an empty span for inserted text. `begin` <= `end` <= text().size().
  ByteSpan original(size_t begin, size_t end) const;

 private:
  friend class Normalizer;
  friend class LayerBuilder;
  // A run of output: a copy of the input from `in` on, or made from input [in, in_end).
  struct Run {
    size_t out = 0;
    size_t in = 0;
    size_t in_end = 0;
    bool copied = false;
  };
  std::string text_;
  std::vector<base::BigVector<Run>> layers_;  // one per step, in the order of the steps
  size_t original_size_ = 0;
};

// Immutable; apply() is safe from several threads.
class Normalizer {
 public:
  Normalizer() = default;
  explicit Normalizer(std::vector<NormalizerStep> steps);

  bool empty() const { return steps_.empty(); }
  const std::vector<NormalizerStep>& steps() const { return steps_; }

  // False when the text stays as it is because it is ASCII and every step keeps ASCII, or because
  // the one step makes a normal form in which it is already (one pass over the bytes); `out` is
  // then not touched. O(n log n) in the worst case (a long run of combining marks is sorted).
  // Throws FormatError, naming the byte of `text`, before the text or what a step makes of it grows
  // beyond the limit, and when a pattern hits its match limit.
  bool apply(std::string_view text, NormalizedText& out, const NormalizerLimit& limit = {}) const;
  // The normal form that is all there is to it, or null. Parts of a text cut by find_safe_cut()
  // with it (document_cut.h) are normalized as in the whole.
  const NormalForm* form() const { return form_; }
  // apply() for a short text whose origin does not matter.
  std::string normalize(std::string_view text) const;

 private:
  std::vector<NormalizerStep> steps_;
  bool keeps_ascii_ = true;
  const NormalForm* form_ = nullptr;
};

// Unicode version of the normal forms, e.g. "15.0.0".
std::string unicode_data_version();

}  // namespace netcl::text

#endif  // NETCL_TEXT_NORMALIZER_H_
