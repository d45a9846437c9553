// SPDX-License-Identifier: Apache-2.0
#include "text/hf_json.h"

#include <algorithm>

#include "base/error.h"
#include "text/vocabulary.h"

namespace netcl::text {

using base::FormatError;
using base::Json;
using base::quote;

namespace {

constexpr size_t kMaxDepth = 512;
// Keys of one object of the tree; its look-up is linear. Real files stay below 300 (a template's
// special tokens).
constexpr size_t kMaxKeys = 4096;

// The events of nlohmann's SAX parser. Returning false would stop it silently; errors are thrown.
class Handler {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  // `vocab_alone`: the whole text is what a tokenizer.json has as model.vocab.
  Handler(HfJson& out, const std::string& where, bool vocab_alone)
      : out_(out), where_(where), vocab_alone_(vocab_alone) {}

  bool null() { return add_value(nullptr, "null"); }
  bool boolean(bool value) { return add_value(value, "a boolean"); }
  bool number_integer(number_integer_t value) { return add_value(value, "a negative number"); }
  bool number_float(number_float_t value, const string_t&) {
    return add_value(value, "a fraction");
  }
  bool binary(binary_t&) { return true; }  // only binary formats have it

  bool number_unsigned(number_unsigned_t value) {
    if (mode_ != Mode::kVocab) {
      return add_value(value, "a number");
    }
    if (value >= kMaxIdCount) {
      throw FormatError(vocab_place() + ": token " + quote(out_.vocab.back().first) + ": id " +
                        std::to_string(value) + " is not below " + std::to_string(kMaxIdCount));
    }
    out_.vocab.back().second = static_cast<uint32_t>(value);
    return true;
  }

  bool string(string_t& value) {
    if (mode_ == Mode::kMerges) {
      add_merge_string(value);
      return true;
    }
    if (mode_ == Mode::kMergePair) {
      if (pair_size_ < 2) {
        std::string& part = pair_size_ == 0 ? out_.merges.back().first : out_.merges.back().second;
        part = std::move(value);
      }
      ++pair_size_;
      return true;
    }
    return add_value(std::move(value), "a string");
  }

  bool start_object(std::size_t) {
    if (mode_ == Mode::kTree && (vocab_alone_ || at_model_field("vocab"))) {
      enter(out_.has_vocab, "vocab", Mode::kVocab);
      return true;
    }
    if (mode_ != Mode::kTree) {
      wrong_value("an object");
    }
    push(Json::object());
    return true;
  }

  bool key(string_t& name) {
    if (mode_ == Mode::kVocab) {
      out_.vocab.emplace_back(std::move(name), 0);
      return true;
    }
    Json& object = *stack_.back();
    if (object.size() >= kMaxKeys) {
      throw FormatError(where_ + ": an object has more than " + std::to_string(kMaxKeys) + " keys");
    }
    if (object.contains(name)) {
      throw FormatError(where_ + ": duplicate JSON key " + quote(name));
    }
    key_ = std::move(name);
    in_model_ = stack_.size() == 1 ? key_ == "model" : in_model_;
    return true;
  }

  bool end_object() { return end(); }

  bool start_array(std::size_t) {
    if (mode_ == Mode::kMerges) {
      mode_ = Mode::kMergePair;
      pair_size_ = 0;
      out_.merges.emplace_back();
      return true;
    }
    if (mode_ == Mode::kTree && at_model_field("merges")) {
      enter(out_.has_merges, "merges", Mode::kMerges);
      return true;
    }
    if (mode_ != Mode::kTree) {
      wrong_value("an array");
    }
    push(Json::array());
    return true;
  }

  bool end_array() {
    if (mode_ == Mode::kMergePair) {
      if (pair_size_ != 2) {
        throw FormatError(where_ + ": " + merge_place() + ": " + std::to_string(pair_size_) +
                          " strings; a merge has two");
      }
      mode_ = Mode::kMerges;
      return true;
    }
    return end();
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception& error) {
    std::string what = error.what();
    // The rest quotes the input, which may be long.
    what.resize(std::min(what.find("; last read: "), what.size()));
    const size_t column = what.find("column ");
    const size_t colon = column == std::string::npos ? what.find("] ") : what.find(": ", column);
    throw FormatError(
        base::at_byte(where_, position == 0 ? 0 : position - 1) +
        ": not valid JSON: " + (colon == std::string::npos ? what : what.substr(colon + 2)));
  }

 private:
  enum class Mode { kTree, kVocab, kMerges, kMergePair };

  std::string vocab_place() const { return vocab_alone_ ? where_ : where_ + ": model.vocab"; }

  bool at_model_field(std::string_view name) const {
    return in_model_ && stack_.size() == 2 && stack_.back()->is_object() && key_ == name;
  }

  void enter(bool& seen, const std::string& name, Mode mode) {
    if (seen) {
      throw FormatError(where_ + ": duplicate JSON key " + quote(name));
    }
    seen = true;
    mode_ = mode;
  }

  bool end() {
    if (mode_ == Mode::kTree) {
      stack_.pop_back();
    }
    mode_ = Mode::kTree;
    return true;
  }

  std::string merge_place() const {
    return "model.merges[" +
           std::to_string(out_.merges.size() - (mode_ == Mode::kMergePair ? 1 : 0)) + "]";
  }

  [[noreturn]] void wrong_value(const std::string& what) const {
    if (mode_ == Mode::kVocab) {
      throw FormatError(vocab_place() + ": token " + quote(out_.vocab.back().first) +
                        ": expected an id, found " + what);
    }
    throw FormatError(where_ + ": " + merge_place() + ": expected " +
                      (mode_ == Mode::kMerges ? "a pair or a string" : "a string") + ", found " +
                      what);
  }

  // "a b". The version line that merges.txt begins with is passed over, as in Hugging Face.
  void add_merge_string(const std::string& text) {
    constexpr std::string_view kVersion = "#version";
    if (text.starts_with(kVersion)) {
      return;
    }
    const size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
      throw FormatError(where_ + ": " + merge_place() + ": " + quote(text) +
                        " does not have exactly one space; a token with a space needs the form of "
                        "two strings");
    }
    out_.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }

  template <typename Value>
  bool add_value(Value&& value, const char* kind) {
    if (mode_ != Mode::kTree) {
      wrong_value(kind);
    }
    place(Json(std::forward<Value>(value)));
    return true;
  }

  Json& place(Json value) {
    if (stack_.empty()) {
      out_.tree = std::move(value);
      return out_.tree;
    }
    Json& parent = *stack_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(value));
      return parent.back();
    }
    Json& field = parent[key_];
    field = std::move(value);
    return field;
  }

  void push(Json container) {
    if (stack_.size() >= kMaxDepth) {
      throw FormatError(where_ + ": JSON nested deeper than " + std::to_string(kMaxDepth) +
                        " levels");
    }
    stack_.push_back(&place(std::move(container)));
  }

  HfJson& out_;
  const std::string& where_;
  bool vocab_alone_;
  Mode mode_ = Mode::kTree;
  std::vector<Json*> stack_;  // open containers; a parent never moves while a child is open
  std::string key_;
  bool in_model_ = false;
  int pair_size_ = 0;
};

}  // namespace

namespace {

HfJson parse(std::string_view bytes, const std::string& where, bool vocab_alone) {
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") {
    throw FormatError(base::at_byte(where, 0) +
                      ": byte order mark before JSON; remove the first 3 bytes");
  }
  if (const size_t nul = bytes.find('\0'); nul != std::string_view::npos) {
    // The parser would take it for the end of the text.
    throw FormatError(base::at_byte(where, nul) + ": not valid JSON: NUL byte");
  }
  HfJson out;
  Handler handler(out, where, vocab_alone);
  try {
    Json::sax_parse(bytes.begin(), bytes.end(), &handler);
  } catch (const Json::exception& error) {
    throw FormatError(where + ": not valid JSON: " + error.what());
  }
  return out;
}

}  // namespace

HfJson parse_hf_json(std::string_view bytes, const std::string& where) {
  return parse(bytes, where, false);
}

std::vector<std::pair<std::string, uint32_t>> parse_vocab_json(std::string_view bytes,
                                                               const std::string& where) {
  HfJson json = parse(bytes, where, true);
  if (!json.has_vocab) {
    throw FormatError(where + ": expected an object of tokens and ids, found " +
                      json.tree.type_name());
  }
  return std::move(json.vocab);
}

}  // namespace netcl::text
