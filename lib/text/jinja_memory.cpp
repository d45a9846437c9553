// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_memory.h"

#include <string>

#include "text/jinja_text.h"

namespace netcl::text::jinja {

namespace {

thread_local Memory* meter = nullptr;

}  // namespace

Memory::Memory(uint64_t limit) : limit_(limit), before_(meter) {
  meter = this;
}

Memory::~Memory() {
  meter = before_;
}

Memory* Memory::current() {
  return meter;
}

void Memory::check(uint64_t bytes) const {
  if (bytes > limit_ || held_ > limit_ - bytes) {
    throw Failure("the template holds more than " + std::to_string(limit_) +
                  " bytes of values at one time");
  }
}

void Memory::take(uint64_t bytes) {
  check(bytes);
  held_ += bytes;
}

void check_memory(uint64_t bytes) {
  if (meter != nullptr) {
    meter->check(bytes);
  }
}

}  // namespace netcl::text::jinja
