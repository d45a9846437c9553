// SPDX-License-Identifier: Apache-2.0
#include "core/json_events.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace netcl::core {

namespace {

using nlohmann::json;

// The library's message without its prefix and without the token it stopped at, which may hold
// anything and be as long as the file; the byte says where that is.
std::string reason(std::string message) {
  const size_t column = message.find("column ");
  const size_t colon =
      column == std::string::npos ? message.find("] ") : message.find(": ", column);
  if (colon != std::string::npos) {
    message.erase(0, colon + 2);
  }
  constexpr size_t kMaxBytes = 160;  // the message of an overflow has all the digits
  message.erase(std::min({message.find("; last read"), message.size(), kMaxBytes}));
  return message;
}

class Adapter : public nlohmann::json_sax<json> {
 public:
  Adapter(JsonEvents& events, std::string_view where, size_t first_byte)
      : events_(events), where_(where), first_byte_(first_byte) {}

  bool null() override {
    events_.null();
    return true;
  }
  bool boolean(bool value) override {
    events_.boolean(value);
    return true;
  }
  bool number_integer(int64_t value) override {
    events_.signed_integer(value);
    return true;
  }
  bool number_unsigned(uint64_t value) override {
    events_.unsigned_integer(value);
    return true;
  }
  bool number_float(double value, const std::string& digits) override {
    events_.real(value, digits);
    return true;
  }
  bool string(std::string& text) override {
    events_.string(text);
    return true;
  }
  bool binary(json::binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*elements*/) override {
    events_.begin_object();
    return true;
  }
  bool key(std::string& name) override {
    events_.key(name);
    return true;
  }
  bool end_object() override {
    events_.end_object();
    return true;
  }
  bool start_array(size_t /*elements*/) override {
    events_.begin_array();
    return true;
  }
  bool end_array() override {
    events_.end_array();
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const json::exception& error) override {
    throw base::FormatError(
        base::at_byte(where_, first_byte_ + (position == 0 ? 0 : position - 1)) +
        ": not valid JSON: " + reason(error.what()));
  }

 private:
  JsonEvents& events_;
  std::string_view where_;
  size_t first_byte_;
};

}  // namespace

void read_json_events(std::string_view text, std::string_view where, size_t first_byte,
                      JsonEvents& events) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") {
    throw base::FormatError(base::at_byte(where, first_byte) +
                            ": byte order mark before JSON; remove the first 3 bytes");
  }
  // The library takes NUL for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw base::FormatError(base::at_byte(where, first_byte + nul) +
                            ": not valid JSON: a NUL byte");
  }
  Adapter adapter(events, where, first_byte);
  json::sax_parse(text.begin(), text.end(), &adapter);
}

}  // namespace netcl::core
