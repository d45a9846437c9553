// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer_compare.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "text/regex_splitter.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

namespace {

using base::quote;
using Found = std::optional<std::string>;

struct NamedPolicy {
  std::string_view name;
  SpecialPolicy policy;
};
constexpr std::array<NamedPolicy, 4> kPolicies = {{
    {"plain", SpecialPolicy::kPlain},
    {"allow", SpecialPolicy::kAllow},
    {"none", SpecialPolicy::kNone},
    {"refuse", SpecialPolicy::kRefuse},
}};

EncodeOptions options_for(SpecialPolicy policy, bool with_template) {
  EncodeOptions options;
  options.special = policy;
  options.apply_template = with_template;
  return options;
}

using Ids = std::vector<uint32_t>;

// Whether a search that is given up in a text is a refusal like others.
enum class GivenUp { kRefusal, kError };

// Nothing when the text is refused.
std::optional<Ids> encode(const BpeTokenizer& tokenizer, const NamedText& text,
                          const EncodeOptions& options, GivenUp given_up) {
  try {
    return tokenizer.encode(text.text, options);
  } catch (const RegexLimitError& error) {
    if (given_up == GivenUp::kError) {
      throw error.at(error.offset(), text.name);
    }
    return std::nullopt;
  } catch (const base::FormatError&) {
    return std::nullopt;
  }
}

std::string show(const std::optional<Ids>& ids, size_t from) {
  constexpr size_t kShown = 8;
  if (!ids) {
    return "an error";
  }
  std::string text;
  for (size_t i = from; i < ids->size() && i < from + kShown; ++i) {
    text += (text.empty() ? "" : " ") + std::to_string((*ids)[i]);
  }
  text += ids->size() > from + kShown ? " ..." : "";
  return text.empty() ? "nothing" : text;
}

class Comparison {
 public:
  Comparison(const BpeTokenizer& before, const BpeTokenizer& after, bool with_template)
      : before_(before), after_(after), with_template_(with_template) {}

  Found ids() const {
    const uint32_t limit = std::max(before_.id_limit(), after_.id_limit());
    for (uint32_t id = 0; id < limit; ++id) {
      const std::string_view a = before_.token_bytes(id);
      const std::string_view b = after_.token_bytes(id);
      if (a != b) {
        return "id " + std::to_string(id) + " is " + (a.empty() ? "no token" : quote(a)) +
               ", and then " + (b.empty() ? "no token" : quote(b));
      }
      if (before_.is_special(id) != after_.is_special(id)) {
        return "id " + std::to_string(id) + " " + quote(a) +
               (before_.is_special(id) ? " is special, and then not"
                                       : " is not special, and then is");
      }
    }
    return std::nullopt;
  }

  Found added_tokens() const {
    const bool normalizes = !before_.parts().normalizer.empty();
    const auto sorted = [&](const BpeTokenizer& tokenizer) {
      std::vector<AddedToken> tokens = tokenizer.parts().added_tokens;
      for (AddedToken& token : tokens) {
        token.normalized = token.normalized && normalizes;
      }
      std::sort(tokens.begin(), tokens.end(),
                [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
      return tokens;
    };
    const std::vector<AddedToken> a = sorted(before_);
    const std::vector<AddedToken> b = sorted(after_);
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      if (i < a.size() && i < b.size() && a[i] == b[i]) {
        continue;
      }
      const bool same_content = i < a.size() && i < b.size() && a[i].content == b[i].content;
      const bool lost = i < a.size() && (i >= b.size() || a[i].content < b[i].content);
      return "the added token " + quote(lost || same_content ? a[i].content : b[i].content) +
             (same_content ? " has another id or other flags"
              : lost       ? " is lost"
                           : " is new");
    }
    return std::nullopt;
  }

  // The bytes of an ordinary token.
  Found token(uint32_t id) const {
    const std::string_view bytes = before_.parts().vocabulary.bytes(id);
    if (bytes.empty()) {
      return std::nullopt;
    }
    return text({"token " + std::to_string(id) + " " + quote(bytes), bytes},
                {"allow", SpecialPolicy::kAllow}, false, GivenUp::kRefusal);
  }

  Found text(const NamedText& named, GivenUp given_up = GivenUp::kRefusal) const {
    for (const NamedPolicy& policy : kPolicies) {
      if (Found found = text(named, policy, with_template_, given_up)) {
        return found;
      }
    }
    return std::nullopt;
  }

 private:
  Found text(const NamedText& named, const NamedPolicy& policy, bool with_template,
             GivenUp given_up) const {
    const EncodeOptions options = options_for(policy.policy, with_template);
    const std::optional<Ids> a = encode(before_, named, options, given_up);
    const std::optional<Ids> b = encode(after_, named, options, given_up);
    if (a == b) {
      if (a && before_.decode(*a) != after_.decode(*b)) {
        return named.name + ": the ids decode differently";
      }
      return std::nullopt;
    }
    size_t at = 0;
    std::string place;
    if (a && b) {
      at = static_cast<size_t>(std::mismatch(a->begin(), a->end(), b->begin(), b->end()).first -
                               a->begin());
      const std::vector<ByteSpan> spans = before_.encode_with_spans(named.text, options).spans;
      place =
          " from byte " + std::to_string(at < spans.size() ? spans[at].begin : named.text.size());
    }
    return named.name + " (special tokens: " + std::string(policy.name) + ") encodes" + place +
           " to " + show(a, at) + ", and then to " + show(b, at);
  }

  const BpeTokenizer& before_;
  const BpeTokenizer& after_;
  bool with_template_;
};

Found compare_tokens(const Comparison& comparison, uint32_t limit, base::ThreadPool& pool,
                     const base::ProgressFn& progress) {
  constexpr uint32_t kChunk = 1024;
  constexpr uint32_t kRound = 32 * kChunk;  // tokens between two reports
  for (uint32_t begin = 0; begin < limit; begin += kRound) {
    const uint32_t end = std::min(limit, begin + kRound);
    std::vector<Found> found((end - begin + kChunk - 1) / kChunk);
    pool.parallel_for(found.size(), [&](size_t chunk, size_t) {
      const uint32_t first = begin + static_cast<uint32_t>(chunk) * kChunk;
      for (uint32_t id = first; id < std::min(end, first + kChunk) && !found[chunk]; ++id) {
        found[chunk] = comparison.token(id);
      }
    });
    for (Found& one : found) {
      if (one) {
        return std::move(one);
      }
    }
    if (progress) {
      progress({"verify", "tokens", end, limit});
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> first_difference(const BpeTokenizer& before, const BpeTokenizer& after,
                                            std::span<const NamedText> texts, bool with_template,
                                            base::ThreadPool& pool,
                                            const base::ProgressFn& progress) {
  const Comparison comparison(before, after, with_template);
  if (Found found = comparison.ids()) {
    return found;
  }
  if (Found found = comparison.added_tokens()) {
    return found;
  }
  if (Found found =
          compare_tokens(comparison, before.parts().vocabulary.id_limit(), pool, progress)) {
    return found;
  }
  for (const NamedText& text : comparison_texts()) {
    if (Found found = comparison.text(text)) {
      return found;
    }
  }
  for (const AddedToken& token : before.parts().added_tokens) {
    const std::string around = token.content + "a" + token.content + " " + token.content + "\n " +
                               token.content + token.content;
    for (const std::string& text : {token.content, around}) {
      if (Found found =
              comparison.text({"text with the added token " + quote(token.content), text})) {
        return found;
      }
    }
  }
  for (const NamedText& text : texts) {
    if (Found found = comparison.text(text, GivenUp::kError)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace netcl::text
