// SPDX-License-Identifier: Apache-2.0
#include "text/hf_json.h"

#include <algorithm>
#include <new>
#include <unordered_set>
#include <utility>

#include <simdjson.h>

#include "base/big_buffer.h"
#include "base/error.h"
#include "text/vocabulary.h"

namespace netcl::text {

using base::FormatError;
using base::Json;
using base::quote;
namespace dom = simdjson::dom;

namespace {

const char* describe(dom::element value) {
  switch (value.type()) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::INT64:
      return value.get_int64().value_unsafe() < 0 ? "a negative number" : "a number";
    case dom::element_type::UINT64:
      return "a number";
    case dom::element_type::DOUBLE:
      return "a fraction";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "a boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
  }
  return "nothing";
}

// simdjson reads past the end of a text. The copy is in huge pages, which one of its own is not.
simdjson::simdjson_result<dom::element> parse_padded(dom::parser& parser, std::string_view bytes) {
  const base::BigBuffer padded(bytes.size() + simdjson::SIMDJSON_PADDING);
  char* const text = static_cast<char*>(padded.data());
  std::copy(bytes.begin(), bytes.end(), text);
  return parser.parse(text, bytes.size(), false);
}

// Huge pages for what simdjson writes, where its release lets us see where that is.
template <typename Parser>
void advise_huge_pages(Parser& parser, size_t size) {
  if constexpr (requires {
                  parser.doc.allocate(size), parser.doc.tape.get(), parser.doc.string_buf.get();
                }) {
    if (parser.doc.allocate(size) == simdjson::SUCCESS) {
      base::advise_huge_pages(parser.doc.tape.get(), size * sizeof(*parser.doc.tape.get()));
      base::advise_huge_pages(parser.doc.string_buf.get(), size);
    }
  }
  if constexpr (requires { parser.implementation->structural_indexes.get(); }) {
    auto* const indexes = parser.implementation->structural_indexes.get();
    base::advise_huge_pages(indexes, size * sizeof(*indexes));
  }
}

// The parsed text, which simdjson keeps in the parser.
dom::element parse(dom::parser& parser, std::string_view bytes, const std::string& where) {
  // simdjson counts the document itself as a level and refuses the last one, and one level more is
  // left to the check of the depth with the other checks below.
  simdjson::error_code error = parser.allocate(bytes.size(), base::kMaxJsonDepth + 2);
  dom::element root;
  if (error == simdjson::SUCCESS) {
    advise_huge_pages(parser, bytes.size());
    // Newer releases of simdjson pass over a byte order mark.
    error = bytes.starts_with("\xEF\xBB\xBF") ? simdjson::TAPE_ERROR
                                              : parse_padded(parser, bytes).get(root);
  }
  if (error == simdjson::MEMALLOC) {
    throw std::bad_alloc();
  }
  if (error != simdjson::SUCCESS) {
    base::parse_json(bytes, where, base::BigIntegers::kRefuse);  // throws and says where
    throw FormatError(where + ": not supported JSON: " + simdjson::error_message(error));
  }
  return root;
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  void read_vocab(dom::element value, const std::string& place, HfJson& out) const {
    const dom::object tokens = value.get_object().value_unsafe();
    out.has_vocab = true;
    out.vocab.reserve(tokens.size());
    for (const dom::key_value_pair token : tokens) {
      uint64_t id = 0;
      if (token.value.get_uint64().get(id) != simdjson::SUCCESS) {
        throw FormatError(place + ": token " + quote(token.key) + ": expected an id, found " +
                          describe(token.value));
      }
      if (id >= kMaxIdCount) {
        throw FormatError(place + ": token " + quote(token.key) + ": id " + std::to_string(id) +
                          " is not below " + std::to_string(kMaxIdCount));
      }
      out.vocab.emplace_back(token.key, static_cast<uint32_t>(id));
    }
  }

  Json read_tree(dom::element root, HfJson& out) const {
    if (!root.is_object()) {
      return to_json(root, 1);
    }
    return object_to_json(root.get_object().value_unsafe(), 1,
                          [&](std::string_view key, dom::element value) {
                            return key == "model" && value.is_object()
                                       ? read_model(value.get_object().value_unsafe(), out)
                                       : to_json(value, 2);
                          });
  }

 private:
  Json read_model(dom::object model, HfJson& out) const {
    // Lists of another shape are those of other kinds of models and become part of the tree.
    return object_to_json(model, 2, [&](std::string_view key, dom::element value) {
      if (key == "vocab" && value.is_object()) {
        read_vocab(value, where_ + ": model.vocab", out);
        return Json(Json::value_t::discarded);
      }
      if (key == "merges" && value.is_array()) {
        read_merges(value.get_array().value_unsafe(), out);
        return Json(Json::value_t::discarded);
      }
      return to_json(value, 3);
    });
  }

  void read_merges(dom::array merges, HfJson& out) const {
    out.has_merges = true;
    out.merges.reserve(merges.size());
    for (const dom::element merge : merges) {
      std::string_view text;
      dom::array pair;
      if (merge.get_string().get(text) == simdjson::SUCCESS) {
        add_merge(text, out);
      } else if (merge.get_array().get(pair) == simdjson::SUCCESS) {
        add_merge(pair, out);
      } else {
        throw FormatError(merge_place(out) + ": expected a pair or a string, found " +
                          describe(merge));
      }
    }
  }

  std::string merge_place(const HfJson& out) const {
    return where_ + ": model.merges[" + std::to_string(out.merges.size()) + "]";
  }

  // "a b". The version line that merges.txt begins with is passed over, as in Hugging Face.
  void add_merge(std::string_view text, HfJson& out) const {
    constexpr std::string_view kVersion = "#version";
    if (text.starts_with(kVersion)) {
      return;
    }
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      throw FormatError(merge_place(out) + ": " + quote(text) +
                        " does not have exactly one space; a token with a space needs the form of "
                        "two strings");
    }
    out.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }

  void add_merge(dom::array pair, HfJson& out) const {
    std::string_view parts[2];
    size_t size = 0;
    for (const dom::element part : pair) {
      std::string_view text;
      if (part.get_string().get(text) != simdjson::SUCCESS) {
        throw FormatError(merge_place(out) + ": expected a string, found " + describe(part));
      }
      if (size < 2) {
        parts[size] = text;
      }
      ++size;
    }
    if (size != 2) {
      throw FormatError(merge_place(out) + ": " + std::to_string(size) +
                        " strings; a merge has two");
    }
    out.merges.emplace_back(parts[0], parts[1]);
  }

  // `depth`: of this value, 1 for the outermost.
  Json to_json(dom::element value, size_t depth) const {
    switch (value.type()) {
      case dom::element_type::ARRAY: {
        check_depth(depth);
        Json array = Json::array();
        const dom::array elements = value.get_array().value_unsafe();
        for (const dom::element element : elements) {
          array.push_back(to_json(element, depth + 1));
        }
        return array;
      }
      case dom::element_type::OBJECT:
        return object_to_json(
            value.get_object().value_unsafe(), depth,
            [&](std::string_view, dom::element field) { return to_json(field, depth + 1); });
      case dom::element_type::INT64: {
        // Signed are to nlohmann only negative numbers.
        const int64_t number = value.get_int64().value_unsafe();
        return number < 0 ? Json(number) : Json(static_cast<uint64_t>(number));
      }
      case dom::element_type::UINT64:
        return value.get_uint64().value_unsafe();
      case dom::element_type::DOUBLE:
        return value.get_double().value_unsafe();
      case dom::element_type::STRING:
        return std::string(value.get_string().value_unsafe());
      case dom::element_type::BOOL:
        return value.get_bool().value_unsafe();
      case dom::element_type::NULL_VALUE:
        break;
    }
    return nullptr;
  }

  // A field that `convert` makes a discarded value is left out.
  template <typename Convert>
  Json object_to_json(dom::object object, size_t depth, const Convert& convert) const {
    check_depth(depth);
    Json::object_t fields;
    std::unordered_set<std::string_view> keys;
    for (const dom::key_value_pair field : object) {
      if (!keys.insert(field.key).second) {
        refuse("duplicate JSON key " + quote(field.key));
      }
      // Appended: the look-up of an ordered object goes through all its keys.
      if (Json value = convert(field.key, field.value); !value.is_discarded()) {
        fields.Container::emplace_back(std::string(field.key), std::move(value));
      }
    }
    return fields;
  }

  void check_depth(size_t depth) const {
    if (depth > base::kMaxJsonDepth) {
      refuse("JSON nested deeper than " + std::to_string(base::kMaxJsonDepth) + " levels");
    }
  }

  // For what the other parser refuses too: it knows the place.
  [[noreturn]] void refuse(const std::string& what) const {
    base::parse_json(bytes_, where_, base::BigIntegers::kRefuse);  // throws and says where
    throw FormatError(where_ + ": " + what);
  }

  std::string_view bytes_;
  const std::string& where_;
};

}  // namespace

HfJson parse_hf_json(std::string_view bytes, const std::string& where) {
  const auto parser = std::make_shared<dom::parser>();
  HfJson out;
  out.document = parser;
  out.tree = Reader(bytes, where).read_tree(parse(*parser, bytes, where), out);
  return out;
}

HfJson parse_vocab_json(std::string_view bytes, const std::string& where) {
  const auto parser = std::make_shared<dom::parser>();
  HfJson out;
  out.document = parser;
  const dom::element root = parse(*parser, bytes, where);
  if (!root.is_object()) {
    throw FormatError(where + ": expected an object of tokens and ids, found " + describe(root));
  }
  Reader(bytes, where).read_vocab(root, where, out);
  return out;
}

}  // namespace netcl::text
