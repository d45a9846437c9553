// SPDX-License-Identifier: Apache-2.0
// One part of a tokenizer.json with its place, for readers that accept nothing they do not know.
// Private to the hf_*.cpp files.
#ifndef NETCL_TEXT_HF_FIELDS_H_
#define NETCL_TEXT_HF_FIELDS_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"
#include "text/normalizer.h"
#include "text/pre_tokenizer.h"
#include "text/tokenizer_parts.h"

namespace netcl::text {

// A JSON object at a named place ("model.json: pre_tokenizer"). Every access checks the type; all
// errors are FormatErrors that begin with the place.
class HfObject {
 public:
  // `value` must outlive this; throws when it is no object.
  HfObject(const base::Json& value, std::string place);

  const std::string& place() const { return place_; }
  // True when the field is there and not null.
  bool has(std::string_view key) const;
  std::string text(std::string_view key) const;
  bool flag(std::string_view key) const;
  bool flag_or(std::string_view key, bool absent) const;
  uint32_t id(std::string_view key) const;
  // A whole number that is not negative.
  uint64_t count(std::string_view key) const;
  // The field as it is; throws when it is not there.
  const base::Json& field(std::string_view key) const;
  // Elements of a field that is an array.
  const base::Json& array(std::string_view key) const;
  HfObject object(std::string_view key) const;
  // Throws, naming the field, when there is one besides these.
  void allow_only(std::initializer_list<std::string_view> keys) const;
  // Throws "<place>: <key> '<value>' is not supported; <hint>".
  [[noreturn]] void refuse(std::string_view key, std::string_view hint) const;

 private:
  const base::Json* value_;
  std::string place_;
};

// Calls read(step object) for the object itself, or for each element of its list when its type is
// Sequence; sequences may nest.
template <typename Read>
void for_each_step(const base::Json& value, const std::string& place, std::string_view list,
                   const Read& read) {
  const HfObject object(value, place);
  if (object.text("type") != "Sequence") {
    read(object);
    return;
  }
  object.allow_only({"type", list});
  size_t index = 0;
  for (const base::Json& element : object.array(list)) {
    for_each_step(element, place + "[" + std::to_string(index++) + "]", list, read);
  }
}

// The `pattern` of a Split or Replace.
struct HfPattern {
  std::string text;
  bool is_literal = false;  // a String, else a Regex
};
// Throws when there is not exactly one of both or it is empty.
HfPattern read_pattern(const HfObject& object);

// Steps of the `normalizer` field. `where` is the file.
std::vector<NormalizerStep> read_normalizer(const base::Json& value, const std::string& where);
// Steps of the `pre_tokenizer` field; at most one of them is ByteLevel, and without one the model
// works on characters.
std::vector<PreTokenizerStep> read_pre_tokenizer(const base::Json& value, const std::string& where);
// Ids that the `post_processor` field puts around one text go to `parts`.
void read_post_processor(const base::Json& value, const std::string& where, TokenizerParts& parts);
// The `truncation` and `padding` fields.
std::optional<Truncation> read_truncation(const base::Json& value, const std::string& where);
std::optional<Padding> read_padding(const base::Json& value, const std::string& where);
// Checks that the `decoder` field is ByteLevel or nothing.
void check_decoder(const base::Json& value, const std::string& where);
// The `decoder` field of a model on characters: Replace (String), ByteFallback, Fuse and Strip, in
// this order.
void read_char_decoder(const base::Json& value, const std::string& where, CharModel& model);

}  // namespace netcl::text

#endif  // NETCL_TEXT_HF_FIELDS_H_
