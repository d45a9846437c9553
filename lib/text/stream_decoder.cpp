// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/error.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace netcl::text {

namespace {

// Length of the longest prefix of text[at...] that begins some well-formed character without
// completing one; 0 when text[at] begins none. Source: Unicode 16.0, table 3-7.
size_t unfinished_length(std::string_view text, size_t at) {
  const uint8_t lead = static_cast<uint8_t>(text[at]);
  const size_t wanted = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (wanted == 0) {
    return 0;
  }
  size_t length = 1;
  while (length < wanted && at + length < text.size()) {
    const uint8_t byte = static_cast<uint8_t>(text[at + length]);
    const uint8_t low = length > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    const uint8_t high = length > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (byte < low || byte > high) {
      break;
    }
    ++length;
  }
  return length;
}

}  // namespace

StreamDecoder::StreamDecoder(BpeTokenizer tokenizer, DecodeOptions options, Utf8Errors errors)
    : tokenizer_(std::move(tokenizer)), options_(std::move(options)), errors_(errors) {
  ids_done_ = options_.where_position;
  options_.continues = true;
}

void StreamDecoder::push(std::span<const uint32_t> ids, std::string& out) {
  options_.where_position = ids_done_;
  const size_t old_size = held_.size();
  held_ += tokenizer_.decode(ids, options_);
  if (at_start_ && held_.size() > old_size) {
    at_start_ = false;
    const char strip = tokenizer_.stripped_character();
    if (strip != 0 && held_[old_size] == strip) {
      held_.erase(old_size, 1);
    }
  }
  ids_done_ += ids.size();
  drain(false, out);
}

void StreamDecoder::finish(std::string& out) {
  drain(true, out);
  held_.clear();
  at_start_ = true;
}

void StreamDecoder::drain(bool at_end, std::string& out) {
  size_t at = 0;
  while (at < held_.size()) {
    const size_t bad = find_ill_formed(held_, at);
    out.append(held_, at, bad - at);
    at = bad;
    if (at == held_.size()) {
      break;
    }
    const size_t unfinished = unfinished_length(held_, at);
    if (!at_end && unfinished > 0 && at + unfinished == held_.size()) {
      break;
    }
    const size_t length = unfinished > 0 ? unfinished : 1;
    switch (errors_) {
      case Utf8Errors::kRaw:
        out.append(held_, at, length);
        break;
      case Utf8Errors::kReplace:
        append_utf8(kReplacementCharacter, out);
        break;
      case Utf8Errors::kStrict:
        throw base::FormatError(options_.where + ": decoded text is not valid UTF-8 at byte " +
                                std::to_string(bytes_done_ + at));
    }
    at += length;
  }
  bytes_done_ += at;
  held_.erase(0, at);
}

}  // namespace netcl::text
