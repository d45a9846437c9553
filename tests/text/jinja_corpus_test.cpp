// SPDX-License-Identifier: Apache-2.0
// Random templates against what Python's jinja2 made of them (scripts/fuzz_jinja.py). The
// environment variable NETCL_JINJA_CORPUS names another file than the committed one.
#include <cstdlib>
#include <fstream>
#include <string>

#include "jinja_render.h"
#include "support/catch.h"

using netcl::base::Json;
using netcl::text::JinjaTemplate;

TEST_CASE("jinja corpus: random templates give what jinja2 gives") {
  const char* given = std::getenv("NETCL_JINJA_CORPUS");
  const std::string path = given != nullptr ? given : NETCL_TEST_DATA "/jinja_corpus.jsonl";
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::string line;
  std::getline(file, line);
  const auto variables = netcl::tests::variables_of(netcl::base::parse_json(line, path));
  size_t cases = 0;
  size_t too_large = 0;
  size_t different = 0;
  std::string shown;
  while (std::getline(file, line)) {
    ++cases;
    const Json row = netcl::base::parse_json(line, path);
    const std::string source = row[0].get<std::string>();
    Json got;
    std::string message;
    try {
      got = JinjaTemplate(source, "t").render(variables).text;
    } catch (const netcl::base::FormatError& error) {
      message = error.what();
    }
    if (got == row[1]) {
      continue;
    }
    if (message.find("127 bits") != std::string::npos) {
      ++too_large;  // integers of Python have no end
    } else if (++different <= 40) {
      shown += netcl::base::to_text(row[0]) + "\n  jinja2: " + netcl::base::to_text(row[1]) +
               "\n  here:   " + netcl::base::to_text(got) + " " + message + "\n";
    }
  }
  INFO(different << " different:\n" << shown);
  CHECK(different == 0);
  CHECK(cases >= 2600);
  CHECK(too_large < cases / 100);
}
