// SPDX-License-Identifier: Apache-2.0
#include "text/unicode_scripts.h"

#include <algorithm>
#include <string>

#include "text/unicode.h"

namespace netcl::text {

namespace {

constexpr uint8_t kNoScript = 0;

// The script that decides where to cut.
uint8_t cutting_script(char32_t c) {
  if (c == ' ') {
    return kNoScript;
  }
  if (c == 0x30FC) {  // the mark that prolongs a vowel: Common by the table
    return scripts::kHan;
  }
  const uint8_t script = unicode_script(c);
  return script == scripts::kHiragana || script == scripts::kKatakana ? scripts::kHan : script;
}

class ScriptSplitter final : public PreSplitter {
 public:
  void split(std::string_view text, std::vector<Piece>& pieces) const override {
    uint8_t current = kNoScript;
    size_t begin = 0;
    for (size_t at = 0; at < text.size();) {
      const DecodedChar c = decode_utf8(text, at);
      const uint8_t script = cutting_script(c.code_point);
      if (script != kNoScript && script != current) {
        if (current != kNoScript) {
          pieces.push_back({begin, at});
        }
        begin = at;
        current = script;
      }
      at += c.byte_count;
    }
    if (current != kNoScript) {
      pieces.push_back({begin, text.size()});
    }
  }

  const std::string& pattern() const override { return pattern_; }
  std::string_view name() const override { return {}; }

 private:
  std::string pattern_;  // no pattern says this
};

}  // namespace

uint8_t unicode_script(char32_t c) {
  const scripts::ScriptRange* const end = scripts::kRanges + scripts::kRangeCount;
  const scripts::ScriptRange* const range = std::lower_bound(
      scripts::kRanges, end, c,
      [](const scripts::ScriptRange& r, char32_t value) { return r.last < value; });
  return range != end && range->first <= c ? range->script : kNoScript;
}

std::shared_ptr<const PreSplitter> make_script_splitter() {
  return std::make_shared<ScriptSplitter>();
}

}  // namespace netcl::text
