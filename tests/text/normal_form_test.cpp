// SPDX-License-Identifier: Apache-2.0
#include "text/normal_form.h"

#include <string>
#include <vector>

#include "base/rng.h"
#include "support/catch.h"
#include "text/normalizer.h"
#include "text/unicode.h"

using netcl::base::Rng;
using netcl::text::NormalForm;

namespace {

std::string utf8(const std::vector<int32_t>& characters) {
  std::string text;
  for (const int32_t c : characters) {
    netcl::text::append_utf8(static_cast<char32_t>(c), text);
  }
  return text;
}

// Whether the quick check says more than is true.
bool claims_too_much(const NormalForm& form, const std::vector<int32_t>& characters) {
  return form.is_normal(utf8(characters)) && form.normalize(characters) != characters;
}

const std::vector<const NormalForm*>& all_forms() {
  static const std::vector<const NormalForm*> forms = {
      &NormalForm::get(true, false), &NormalForm::get(true, true), &NormalForm::get(false, false),
      &NormalForm::get(false, true)};
  return forms;
}

}  // namespace

TEST_CASE("normal form: the quick check never passes text that normalizing changes") {
  // Bases, marks of several classes, Hangul parts, characters that decompose or compose.
  const std::vector<int32_t> kAround = {'a',    'q',     0x301,   0x323,  0x327,  0x345,  0x5B0,
                                        0x5C1,  0x64B,   0x93C,   0x915,  0x94D,  0xE38,  0xE48,
                                        0x1100, 0x1161,  0x11A8,  0xAC00, 0x3099, 0x304B, 0xF71,
                                        0xF72,  0x1112C, 0x11131, 0x9BE,  0x9C7,  ' '};
  size_t wrong = 0;
  for (const NormalForm* form : all_forms()) {
    for (int32_t c = 0; c <= 0x10FFFF; ++c) {
      if (c >= 0xD800 && c <= 0xDFFF) {
        continue;
      }
      wrong += claims_too_much(*form, {c}) ? 1 : 0;
      const int32_t other = kAround[static_cast<size_t>(c) % kAround.size()];
      if (c < 0x3400 || c >= 0xA000) {
        wrong += claims_too_much(*form, {other, c}) ? 1 : 0;
        wrong += claims_too_much(*form, {c, other}) ? 1 : 0;
      }
    }
    Rng rng(1);
    for (int i = 0; i < 200000; ++i) {
      std::vector<int32_t> characters(2 + rng.below(5));
      for (int32_t& c : characters) {
        c = rng.below(4) == 0 ? static_cast<int32_t>(0x300 + rng.below(0x70))
                              : kAround[rng.below(kAround.size())];
      }
      wrong += claims_too_much(*form, characters) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("normal form: the quick check passes ordinary text of many languages") {
  const NormalForm& nfc = NormalForm::get(true, false);
  for (const char* text :
       {"plain", "\u00e9t\u00e9 \u00fcber", "\u4e2d\u6587\u3002", "\u3072\u3089\u304c\u306a",
        "\uac00\ub098", "\u043f\u0440\u0438\u0432\u0435\u0442",
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e01\u0e49", "\u0627\u0644\u0639\u064e\u0631",
        "\u05e9\u05b0\u05dc", "\U0001f600", "broken \xff\xe3\x81 bytes"}) {
    CAPTURE(text);
    CHECK(nfc.is_normal(text));
  }
  CHECK_FALSE(nfc.is_normal("e\u0301"));
  CHECK_FALSE(nfc.is_normal("\u1100\u1161"));
  CHECK_FALSE(nfc.is_normal("a\u0301\u0323"));
  CHECK_FALSE(nfc.is_normal("\u212b"));
}

TEST_CASE("normal form: text normalized cluster by cluster equals the whole text normalized") {
  using Kind = netcl::text::NormalizerStep::Kind;
  const Kind kKinds[] = {Kind::kNfc, Kind::kNfkc, Kind::kNfd, Kind::kNfkd};  // as all_forms()
  const std::vector<int32_t> kSome = {'a',    'e',    ' ',     0x301,   0x323,  0x345,
                                      0xE9,   0x1E9B, 0x64B,   0x1100,  0x1161, 0x11A8,
                                      0xAC00, 0x3099, 0x304B,  0xFB01,  0x2126, 0x4E2D,
                                      0x9BE,  0x9C7,  0x110A5, 0x110BA, 0x1F600};
  for (size_t kind = 0; kind < 4; ++kind) {
    netcl::text::NormalizerStep step;
    step.kind = kKinds[kind];
    const netcl::text::Normalizer normalizer({step});
    const NormalForm& form = *all_forms()[kind];
    Rng rng(7);
    size_t wrong = 0;
    for (int i = 0; i < 30000; ++i) {
      std::vector<int32_t> characters(rng.below(40));
      for (int32_t& c : characters) {
        c = rng.below(3) == 0 ? 'a' : kSome[rng.below(kSome.size())];
      }
      wrong += normalizer.normalize(utf8(characters)) == utf8(form.normalize(characters)) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("normal form: code points beyond the assigned planes are plain") {
  for (const NormalForm* form : all_forms()) {
    size_t wrong = 0;
    for (int32_t c = 0x2F800; c <= 0x10FFFF; ++c) {
      const auto character = static_cast<char32_t>(c);
      wrong +=
          form->is_inert(character) == (form->normalize({c}) == std::vector<int32_t>{c}) ? 0 : 1;
      wrong += c < 0x30000 || form->is_boundary(character) ? 0 : 1;
    }
    CHECK(wrong == 0);
  }
}
