// SPDX-License-Identifier: Apache-2.0
#include "text/sequence_shape.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

using base::FormatError;
using base::UsageError;

namespace {

template <typename T>
void keep(std::vector<T>& values, size_t count, bool at_end) {
  if (values.size() <= count) {
    return;
  }
  if (at_end) {
    values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(count));
  } else {
    values.resize(count);
  }
}

// Puts `ids` before or after the encoding; their spans are empty, at `at` of the text.
void put(Encoding& encoding, const std::vector<uint32_t>& ids, bool in_front, uint64_t at,
         bool has_spans) {
  encoding.ids.insert(in_front ? encoding.ids.begin() : encoding.ids.end(), ids.begin(), ids.end());
  if (has_spans) {
    encoding.spans.insert(in_front ? encoding.spans.begin() : encoding.spans.end(), ids.size(),
                          ByteSpan{at, at});
  }
}

uint64_t room_for_text(const TokenizerParts& parts, const ShapeOptions& options) {
  const Truncation& truncation = *parts.truncation;
  if (truncation.strategy == Truncation::Strategy::kOnlySecond) {
    throw UsageError(parts.where +
                     ": truncation.strategy 'OnlySecond' is about pairs of texts; texts here are "
                     "single");
  }
  const uint64_t taken =
      options.extra +
      (options.add_template ? parts.template_prefix.size() + parts.template_suffix.size() : 0);
  if (truncation.max_length < taken) {
    throw FormatError(parts.where + ": truncation.max_length " +
                      std::to_string(truncation.max_length) + " is less than the " +
                      std::to_string(taken) + " ids that are put around every text");
  }
  const uint64_t room = truncation.max_length - taken;
  if (room > 0 && truncation.stride >= room) {
    throw FormatError(parts.where + ": truncation.stride " + std::to_string(truncation.stride) +
                      " must be less than the " + std::to_string(room) +
                      " ids of max_length that are left for the text");
  }
  return room;
}

}  // namespace

SequenceShape::SequenceShape(const BpeTokenizer& tokenizer, const ShapeOptions& options)
    : tokenizer_(tokenizer), add_template_(options.add_template) {
  const TokenizerParts& parts = tokenizer_.parts();
  const auto require = [&](bool there, const char* what) {
    if (!there) {
      throw UsageError(parts.where + ": the tokenizer has no " + what + " to apply");
    }
  };
  if (options.add_template) {
    require(!parts.template_prefix.empty() || !parts.template_suffix.empty(), "template");
  }
  if (options.truncate) {
    require(parts.truncation.has_value(), "truncation");
    room_ = room_for_text(parts, options);
    cut_at_left_ = parts.truncation->at_left;
  }
  if (options.pad) {
    require(parts.padding.has_value(), "padding");
    pads_ = true;
    padding_ = *parts.padding;
    if (!tokenizer_.contains(padding_.pad_id)) {
      throw FormatError(parts.where + ": padding.pad_id " + std::to_string(padding_.pad_id) +
                        " is no token");
    }
  }
}

void SequenceShape::apply(Encoding& encoding, uint64_t text_size, bool begins, bool ends) const {
  const bool has_spans = encoding.spans.size() == encoding.ids.size();
  if (room_) {
    const size_t room = static_cast<size_t>(std::min<uint64_t>(*room_, SIZE_MAX));
    keep(encoding.ids, room, cut_at_left_);
    keep(encoding.spans, room, cut_at_left_);
  }
  if (add_template_) {
    const TokenizerParts& parts = tokenizer_.parts();
    if (begins) {
      put(encoding, parts.template_prefix, true, 0, has_spans);
    }
    if (ends) {
      put(encoding, parts.template_suffix, false, text_size, has_spans);
    }
  }
}

void SequenceShape::pad(Encoding& encoding, uint64_t longest, uint64_t text_size) const {
  if (!pads_) {
    return;
  }
  uint64_t length = padding_.fixed_length.value_or(longest);
  if (padding_.multiple > 0 && length % padding_.multiple > 0) {
    length += padding_.multiple - length % padding_.multiple;
  }
  if (encoding.ids.size() >= length) {
    return;
  }
  const bool has_spans = encoding.spans.size() == encoding.ids.size();
  const std::vector<uint32_t> filling(length - encoding.ids.size(), padding_.pad_id);
  put(encoding, filling, padding_.at_left, padding_.at_left ? 0 : text_size, has_spans);
}

}  // namespace netcl::text
