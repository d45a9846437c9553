// SPDX-License-Identifier: Apache-2.0
// What a template may use up. A hostile template ends with an error soon, in bounded memory.
#ifndef NETCL_TEXT_JINJA_BUDGET_H_
#define NETCL_TEXT_JINJA_BUDGET_H_

#include <cstdint>
#include <string>

#include "text/jinja_memory.h"
#include "text/jinja_text.h"

namespace netcl::text::jinja {

struct Limits {
  uint64_t steps = 20'000'000;              // loop rounds, calls, elements and strings gone through
  uint64_t made_bytes = uint64_t{2} << 30;  // all strings and lists ever made
  uint64_t memory_bytes = uint64_t{1} << 29;  // values held at one time (jinja_memory.h)
  uint64_t output_bytes = uint64_t{1} << 28;  // the rendered text; at most Text::kMaxBytes
  int depth = 1000;                           // nested statements, expressions and macro calls
};

class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}
  const Limits& limits() const { return limits_; }

  void step(uint64_t count = 1) {
    steps_ += count;
    if (steps_ > limits_.steps) {
      throw Failure("the template takes more than " + std::to_string(limits_.steps) + " steps");
    }
  }
  // A string of so many bytes is gone through character by character. (Where it is only searched or
  // copied, a step per 64 bytes is about as much time.)
  void characters(uint64_t bytes) { step(bytes / 16); }
  // Called before they are made, where that can be.
  void made(uint64_t bytes) {
    made_ += bytes;
    if (made_ > limits_.made_bytes) {
      throw Failure("the template makes more than " + std::to_string(limits_.made_bytes) +
                    " bytes of strings and lists");
    }
    check_memory(bytes);
  }
  void check_output(uint64_t bytes) const {
    if (bytes > limits_.output_bytes) {
      throw Failure("the output grows beyond " + std::to_string(limits_.output_bytes) + " bytes");
    }
  }

 private:
  Limits limits_;
  uint64_t steps_ = 0;
  uint64_t made_ = 0;
};

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_BUDGET_H_
