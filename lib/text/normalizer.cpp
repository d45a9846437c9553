// SPDX-License-Identifier: Apache-2.0
#include "text/normalizer.h"

#include <algorithm>
#include <utility>

#include <utf8proc.h>

#include "base/error.h"
#include "text/unicode.h"

namespace netcl::text {

// The output of a step would be longer than it may be; `at` is the place in the step's input.
struct StepTooLong {
  size_t at = 0;
};

// Collects the output of one step and where it came from.
class LayerBuilder {
 public:
  LayerBuilder(std::string_view input, uint64_t max_bytes) : input_(input), max_bytes_(max_bytes) {
    text_.reserve(input.size());
  }

  // Output: input [begin, end) as it is.
  void copy(size_t begin, size_t end) {
    if (begin == end) {
      return;
    }
    const bool continues = !runs_.empty() && runs_.back().copied &&
                           runs_.back().in + (text_.size() - runs_.back().out) == begin;
    require_room(end - begin, begin + (max_bytes_ - text_.size()));
    if (!continues) {
      runs_.push_back({text_.size(), begin, begin, true});
    }
    text_ += input_.substr(begin, end - begin);
  }

  // Output: `made`, from input [begin, end).
  void replace(size_t begin, size_t end, std::string_view made) {
    if (!made.empty()) {
      require_room(made.size(), begin);
      runs_.push_back({text_.size(), begin, end, false});
      text_ += made;
    }
  }

  void finish(NormalizedText& out) {
    out.text_ = std::move(text_);
    out.layers_.push_back(std::move(runs_));
  }

 private:
  void require_room(size_t bytes, size_t at) const {
    if (bytes > max_bytes_ - text_.size()) {
      throw StepTooLong{at};
    }
  }

  std::string_view input_;
  uint64_t max_bytes_;
  std::string text_;
  base::BigVector<NormalizedText::Run> runs_;
};

namespace {

std::string to_utf8(const std::vector<int32_t>& characters) {
  std::string text;
  for (const int32_t c : characters) {
    append_utf8(static_cast<char32_t>(c), text);
  }
  return text;
}

void apply_form(const NormalForm& form, std::string_view text, LayerBuilder& out) {
  std::vector<int32_t> cluster;
  size_t at = 0;
  for (;;) {
    const size_t begin = form.find_abnormal(text, at);
    out.copy(at, begin);
    at = begin;
    if (at == text.size()) {
      return;
    }
    // A cluster: one character and those after it that are no boundaries.
    const DecodedChar first = decode_utf8(text, at);
    at += first.byte_count;
    if (!first.well_formed) {
      out.copy(begin, at);
      continue;
    }
    cluster.assign(1, static_cast<int32_t>(first.code_point));
    while (at < text.size()) {
      const DecodedChar next = decode_utf8(text, at);
      if (!next.well_formed || form.is_boundary(next.code_point)) {
        break;
      }
      cluster.push_back(static_cast<int32_t>(next.code_point));
      at += next.byte_count;
    }
    if (cluster.size() == 1 && form.is_inert(first.code_point)) {
      out.copy(begin, at);
      continue;
    }
    const std::string made = to_utf8(form.normalize(cluster));
    if (made == text.substr(begin, at - begin)) {
      out.copy(begin, at);
    } else {
      out.replace(begin, at, made);
    }
  }
}

// Calls map(character, made) for each well-formed character; false = the character stays.
template <typename Map>
void apply_per_character(std::string_view text, LayerBuilder& out, const Map& map) {
  std::string made;
  for (size_t at = 0; at < text.size();) {
    const DecodedChar c = decode_utf8(text, at);
    made.clear();
    if (c.well_formed && map(c.code_point, made)) {
      out.replace(at, at + c.byte_count, made);
    } else {
      out.copy(at, at + c.byte_count);
    }
    at += c.byte_count;
  }
}

bool lower(char32_t c, std::string& made) {
  if (c == 0x130) {  // the one character whose lower case is two: i and a dot above
    made = "i\xCC\x87";
    return true;
  }
  const char32_t mapped = static_cast<char32_t>(utf8proc_tolower(static_cast<int32_t>(c)));
  if (mapped != c) {
    append_utf8(mapped, made);
  }
  return mapped != c;
}

void strip(const NormalizerStep& step, std::string_view text, LayerBuilder& out) {
  size_t begin = 0;
  size_t end = 0;  // after the last character that is no white space
  bool seen = false;
  for (size_t at = 0; at < text.size();) {
    const DecodedChar c = decode_utf8(text, at);
    if (!is_space(c.code_point)) {
      begin = seen ? begin : at;
      end = at + c.byte_count;
      seen = true;
    }
    at += c.byte_count;
  }
  if (!seen) {
    if (!step.left && !step.right) {
      out.copy(0, text.size());
    }
    return;
  }
  out.copy(step.left ? begin : 0, step.right ? end : text.size());
}

void replace(const NormalizerStep& step, std::string_view text, LayerBuilder& out) {
  size_t at = 0;
  while (true) {
    const size_t found = text.find(step.pattern, at);
    if (found == std::string_view::npos) {
      out.copy(at, text.size());
      return;
    }
    out.copy(at, found);
    at = found + step.pattern.size();
    out.replace(found, at, step.content);
  }
}

void replace_matches(const NormalizerStep& step, std::string_view text, LayerBuilder& out) {
  size_t at = 0;
  step.matcher->find(text, [&](const Piece& match) {
    out.copy(at, match.begin);
    out.replace(match.begin, match.end, step.content);
    at = match.end;
  });
  out.copy(at, text.size());
}

// The normal form that a step makes, or null.
const NormalForm* form_of(const NormalizerStep& step) {
  using Kind = NormalizerStep::Kind;
  switch (step.kind) {
    case Kind::kNfc:
      return &NormalForm::get(true, false);
    case Kind::kNfd:
      return &NormalForm::get(false, false);
    case Kind::kNfkc:
      return &NormalForm::get(true, true);
    case Kind::kNfkd:
      return &NormalForm::get(false, true);
    default:
      return nullptr;
  }
}

void apply_step(const NormalizerStep& step, std::string_view text, LayerBuilder& out) {
  using Kind = NormalizerStep::Kind;
  switch (step.kind) {
    case Kind::kNfc:
    case Kind::kNfd:
    case Kind::kNfkc:
    case Kind::kNfkd:
      return apply_form(*form_of(step), text, out);
    case Kind::kLowercase:
      return apply_per_character(text, out, lower);
    case Kind::kStripAccents:
      return apply_per_character(text, out, [](char32_t c, std::string&) { return is_mark(c); });
    case Kind::kStrip:
      return strip(step, text, out);
    case Kind::kPrepend:
      if (!text.empty()) {
        out.replace(0, 0, step.content);
        out.copy(0, text.size());
      }
      return;
    case Kind::kReplace:
      return replace(step, text, out);
    case Kind::kReplaceRegex:
      return replace_matches(step, text, out);
  }
}

bool keeps_ascii(const NormalizerStep& step) {
  using Kind = NormalizerStep::Kind;
  return step.kind == Kind::kNfc || step.kind == Kind::kNfd || step.kind == Kind::kNfkc ||
         step.kind == Kind::kNfkd || step.kind == Kind::kStripAccents;
}

}  // namespace

NormalizerStep make_replace_regex_step(std::string_view pattern, std::string_view content) {
  NormalizerStep step;
  step.kind = NormalizerStep::Kind::kReplaceRegex;
  step.pattern = pattern;
  step.content = content;
  step.matcher = make_regex_matcher(pattern);
  return step;
}

ByteSpan NormalizedText::original(size_t begin, size_t end) const {
  size_t from = begin;
  size_t to = end;
  for (size_t layer = layers_.size(); layer-- > 0;) {
    const base::BigVector<Run>& runs = layers_[layer];
    const auto run_of = [&](size_t out) {
      return std::prev(std::upper_bound(runs.begin(), runs.end(), out,
                                        [](size_t at, const Run& run) { return at < run.out; }));
    };
    if (runs.empty()) {
      return {0, 0};
    }
    // An empty span (inserted text of a later step) keeps its place.
    const auto first = run_of(from);
    const size_t new_from = first->copied ? first->in + (from - first->out) : first->in;
    if (from == to) {
      to = new_from;
    } else {
      const auto last = run_of(to - 1);
      to = last->copied ? last->in + (to - last->out) : last->in_end;
    }
    from = new_from;
  }
  return {std::min(from, original_size_), std::min(std::max(from, to), original_size_)};
}

Normalizer::Normalizer(std::vector<NormalizerStep> steps) : steps_(std::move(steps)) {
  keeps_ascii_ = std::all_of(steps_.begin(), steps_.end(), keeps_ascii);
  form_ = steps_.size() == 1 ? form_of(steps_[0]) : nullptr;
}

bool Normalizer::apply(std::string_view text, NormalizedText& out,
                       const NormalizerLimit& limit) const {
  if (keeps_ascii_ && skip_ascii(text, 0) == text.size()) {
    return false;
  }
  if (form_ != nullptr && form_->is_normal(text)) {
    return false;
  }
  const auto refuse = [&](size_t at, const char* what) {
    throw base::FormatError(base::at_byte(limit.where, limit.where_offset + at) + ": " + what +
                            " is longer than the " + std::to_string(limit.max_bytes) +
                            " bytes allowed (max-piece)");
  };
  if (text.size() > limit.max_bytes) {
    refuse(0, "text for the normalizer");
  }
  out = NormalizedText();
  out.original_size_ = text.size();
  out.text_ = text;
  for (const NormalizerStep& step : steps_) {
    const std::string input = std::move(out.text_);
    LayerBuilder builder(input, limit.max_bytes);
    try {
      apply_step(step, input, builder);
    } catch (const StepTooLong& error) {
      refuse(out.original(error.at, error.at).begin, "what the normalizer makes of the text");
    } catch (const RegexLimitError& error) {
      const uint64_t at = out.original(error.offset(), error.offset()).begin;
      throw error.at(limit.where_offset + at, limit.where);
    }
    builder.finish(out);
  }
  return true;
}

std::string Normalizer::normalize(std::string_view text) const {
  NormalizedText out;
  return apply(text, out) ? std::string(out.text()) : std::string(text);
}

std::string unicode_data_version() {
  return utf8proc_unicode_version();
}

}  // namespace netcl::text
