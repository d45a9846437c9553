// SPDX-License-Identifier: Apache-2.0
// JSON as a stream of events, for readers that accept one fixed structure and must not build a
// document of whatever a file holds. base/json_file.h parses small documents.
#ifndef NETCL_CORE_JSON_EVENTS_H_
#define NETCL_CORE_JSON_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace netcl::core {

// Receives the parts of a JSON text in order. An event that a reader does not override is one that
// its structure has no place for: it goes to unexpected().
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void begin_object() { unexpected("an object"); }
  virtual void end_object() { unexpected("the end of an object"); }
  virtual void begin_array() { unexpected("an array"); }
  virtual void end_array() { unexpected("the end of an array"); }
  // Keys may repeat; the reader checks. Valid UTF-8, as are strings.
  virtual void key(const std::string& /*name*/) { unexpected("a key"); }
  virtual void string(const std::string& /*text*/) { unexpected("a string"); }
  virtual void boolean(bool /*value*/) { unexpected("true or false"); }
  virtual void null() { unexpected("null"); }
  // Numbers without fraction and exponent that fit, those with a minus sign (and so "-0") apart.
  virtual void unsigned_integer(uint64_t /*value*/) { unexpected("a number"); }
  virtual void signed_integer(int64_t /*value*/) { unexpected("a negative number"); }
  // Any other number: the nearest double and the digits as they stand in the text.
  virtual void real(double /*value*/, const std::string& /*digits*/) { unexpected("a number"); }

 protected:
  // Throws the reader's FormatError: `found` stands where it may not.
  [[noreturn]] virtual void unexpected(std::string_view found) = 0;
};

// Sends the events of one JSON text. Throws FormatError "where@byte: ..." for what is not JSON in
// valid UTF-8 (a byte order mark, NUL bytes and trailing text too); a number beyond double is
// refused. No recursion: nesting costs no stack.
// `first_byte` is the place of text[0] in the file.
void read_json_events(std::string_view text, std::string_view where, size_t first_byte,
                      JsonEvents& events);

}  // namespace netcl::core

#endif  // NETCL_CORE_JSON_EVENTS_H_
