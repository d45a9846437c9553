// SPDX-License-Identifier: Apache-2.0
// Jinja templates as `transformers` runs them for chats: Python's semantics, trim_blocks and
// lstrip_blocks on, break and continue, generation blocks, an immutable sandbox without files,
// environment or other templates.
//
// Rendering tells of every byte of the result whether it was written by the template (its literals,
// and variables that are marked as trusted) or comes from anywhere else, through whatever filters,
// slices, macros and operators it went. Numbers and punctuation that printing a value puts in count
// as coming from elsewhere, unless the value is a literal, or a count of a loop.
#ifndef NETCL_TEXT_JINJA_TEMPLATE_H_
#define NETCL_TEXT_JINJA_TEMPLATE_H_

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_file.h"
#include "text/byte_span.h"
#include "text/jinja_budget.h"

namespace netcl::text {

namespace jinja {
struct Tree;
}

struct JinjaVariable {
  std::string name;
  base::Json value;
  bool trusted = false;  // its strings count as the template's own
  // In an untrusted list of objects: whether the string `text` in the field `field` of one of them
  // counts as the template's own all the same. None: no string does.
  bool (*trusts_field)(std::string_view field, std::string_view text) = nullptr;
};

struct JinjaOptions {
  jinja::Limits limits;
  std::tm now{};  // what strftime_now formats
};

struct JinjaOutput {
  std::string text;
  std::vector<ByteSpan> trusted;    // bytes written by the template; ascending, apart
  std::vector<ByteSpan> generated;  // bytes inside generation blocks; ascending, apart
};

class JinjaTemplate {
 public:
  // Parses `source`; `name` stands for it in messages. Throws FormatError ("name:line:column: ...")
  // for what is no template, and for tags and constructs that are not supported.
  JinjaTemplate(std::string_view source, std::string name);
  ~JinjaTemplate();
  JinjaTemplate(JinjaTemplate&&) noexcept;
  JinjaTemplate& operator=(JinjaTemplate&&) noexcept;

  // Renders with these variables; of two with one name the last counts. Throws FormatError
  // ("name:line:column: ...") where Python would raise an error, where the template calls
  // raise_exception, and where it goes beyond a limit. May be called from several threads.
  JinjaOutput render(const std::vector<JinjaVariable>& variables,
                     const JinjaOptions& options = {}) const;

 private:
  std::string name_;
  std::unique_ptr<jinja::Tree> tree_;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_JINJA_TEMPLATE_H_
