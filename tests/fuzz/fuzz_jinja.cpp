// SPDX-License-Identifier: Apache-2.0
// Any template over any variables ends within limits: with a text whose marks fit it, or with an
// error that says where. Twice the same gives the same.
//
// The input is the template, a NUL byte, and an object of variables as JSON; without the last two
// there are none.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json_file.h"
#include "text/jinja_template.h"

namespace {

using namespace netcl;
using text::ByteSpan;
using text::JinjaOutput;
using text::JinjaVariable;

void check_spans(const std::vector<ByteSpan>& spans, size_t size) {
  uint64_t end = 0;
  for (const ByteSpan& span : spans) {
    NETCL_CHECK(span.begin < span.end);
    NETCL_CHECK(end == 0 || span.begin > end);
    end = span.end;
  }
  NETCL_CHECK(end <= size);
}

// "t:line:column: what"; a variable that is nested too deeply has no place in the template.
void check_place(std::string_view message) {
  if (message.starts_with("variable '")) {
    return;
  }
  NETCL_CHECK(message.starts_with("t:"));
  size_t at = 2;
  for (int part = 0; part < 2; ++part) {
    const size_t begin = at;
    while (at < message.size() && message[at] >= '0' && message[at] <= '9') {
      ++at;
    }
    NETCL_CHECK(at > begin && message[begin] != '0');
    NETCL_CHECK(at < message.size() && message[at] == ':');
    ++at;
  }
  NETCL_CHECK(message.size() > at + 1 && message[at] == ' ');
}

struct Outcome {
  JinjaOutput output;
  std::string error;
};

Outcome render(const text::JinjaTemplate& jinja, const std::vector<JinjaVariable>& variables) {
  text::JinjaOptions options;
  options.limits = {20'000, 4'000'000, 1'000'000, 300};
  options.now.tm_year = 125;
  options.now.tm_mday = 1;
  Outcome outcome;
  try {
    outcome.output = jinja.render(variables, options);
  } catch (const base::FormatError& error) {
    outcome.error = error.what();
    check_place(outcome.error);
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view source = input.substr(0, input.find('\0'));
  std::vector<JinjaVariable> variables;
  if (source.size() < input.size()) {
    try {
      const base::Json json = base::parse_json(input.substr(source.size() + 1), "variables");
      if (json.is_object()) {
        for (const auto& [name, value] : json.items()) {
          variables.push_back({name, value, variables.size() % 4 == 3});
        }
      }
    } catch (const base::FormatError&) {
      return 0;
    }
  }
  try {
    const text::JinjaTemplate jinja(source, "t");
    const Outcome first = render(jinja, variables);
    const Outcome second = render(jinja, variables);
    NETCL_CHECK(first.output.text == second.output.text);
    NETCL_CHECK(first.output.trusted == second.output.trusted);
    NETCL_CHECK(first.output.generated == second.output.generated);
    NETCL_CHECK(first.error == second.error);
    check_spans(first.output.trusted, first.output.text.size());
    check_spans(first.output.generated, first.output.text.size());
  } catch (const base::FormatError& error) {
    check_place(error.what());
  }
  return 0;
}
