// SPDX-License-Identifier: Apache-2.0
#include "text/chat_continue.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "text/jinja_chars.h"

namespace netcl::text {

namespace {

using base::FormatError;
using base::Json;

// The very mark of `transformers`, which some templates look for. Its blank shows whether the
// template trims messages.
constexpr std::string_view kMark = "CONTINUE_FINAL_MESSAGE_TAG ";
constexpr std::string_view kTrimmedMark = kMark.substr(0, kMark.size() - 1);

std::string_view trimmed(std::string_view text) {
  const size_t begin = jinja::skip_space(text, 0);
  return text.substr(begin, jinja::skip_space_back(text, begin, text.size()) - begin);
}

// The string to go on with: the content, or the last text of its parts. Null without one.
Json* final_text(Json& message) {
  const auto content = message.find("content");
  if (content == message.end()) {
    return nullptr;
  }
  if (content->is_string()) {
    return &*content;
  }
  if (!content->is_array()) {
    return nullptr;
  }
  const auto part = std::find_if(content->rbegin(), content->rend(), [](const Json& candidate) {
    return candidate.is_object() && candidate.contains("text") && candidate["text"].is_string();
  });
  return part == content->rend() ? nullptr : &(*part)["text"];
}

void cut_spans(std::vector<ByteSpan>& spans, uint64_t end) {
  std::erase_if(spans, [&](const ByteSpan& span) { return span.begin >= end; });
  if (!spans.empty()) {
    spans.back().end = std::min(spans.back().end, end);
  }
}

}  // namespace

OpenMessages mark_final_message(const Json& messages) {
  if (messages.empty()) {
    throw FormatError("messages: there is no last message to continue");
  }
  OpenMessages open{messages, ""};
  Json* text = final_text(open.messages.back());
  if (text == nullptr) {
    throw FormatError("messages[" + std::to_string(messages.size() - 1) +
                      "]: has no text to continue in its 'content'");
  }
  open.text = text->get<std::string>();
  *text = open.text + std::string(kMark);
  return open;
}

void cut_at_final_message(const OpenMessages& open, JinjaOutput& output) {
  std::string& text = output.text;
  const size_t mark = text.rfind(kTrimmedMark);
  if (mark == std::string::npos || text.find(trimmed(open.text)) == std::string::npos) {
    throw FormatError(
        "the template leaves the last message out, or changes it, so that it cannot be continued");
  }
  const bool keeps_space = text.compare(mark, kMark.size(), kMark) == 0;
  const size_t end = keeps_space ? mark : jinja::skip_space_back(text, 0, mark);
  text.resize(end);
  cut_spans(output.trusted, end);
  cut_spans(output.generated, end);
}

}  // namespace netcl::text
