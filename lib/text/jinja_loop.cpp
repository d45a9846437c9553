// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_loop.h"

#include "text/jinja_engine.h"

namespace netcl::text::jinja {

std::optional<Value> Loop::advance() {
  previous_ = current_;
  if (!look_ahead()) {
    return std::nullopt;
  }
  current_ = std::move(ahead_.front());
  ahead_.pop_front();
  ++taken_;
  return current_;
}

bool Loop::look_ahead() {
  if (ahead_.empty() && next_) {
    if (std::optional<Value> value = next_()) {
      ahead_.push_back(std::move(*value));
    }
  }
  return !ahead_.empty();
}

size_t Loop::length() {
  if (!length_) {
    while (std::optional<Value> value = next_ ? next_() : std::nullopt) {
      charge.add(sizeof(Value));
      ahead_.push_back(std::move(*value));
    }
    length_ = taken_ + ahead_.size();
  }
  return *length_;
}

bool Loop::changed(std::vector<Value> now, Engine& engine) {
  bool is_same = last_changed_ && last_changed_->size() == now.size();
  for (size_t i = 0; is_same && i < now.size(); ++i) {
    is_same = equal(now[i], (*last_changed_)[i], engine.budget);
  }
  last_changed_charge_.set(now.size() * sizeof(Value));
  last_changed_ = std::move(now);
  return !is_same;
}

// Counts of the loop are the template's own doing, so they are trusted.
std::optional<Value> Loop::attribute(std::string_view name, Engine&) {
  const auto number = [](size_t value) { return Value::integer(static_cast<Int>(value), true); };
  if (name == "index") {
    return number(taken_);
  }
  if (name == "index0") {
    return Value::integer(static_cast<Int>(taken_) - 1, true);
  }
  if (name == "revindex") {
    return number(length() - taken_ + 1);
  }
  if (name == "revindex0") {
    return number(length() - taken_);
  }
  if (name == "first") {
    return Value::boolean(taken_ == 1, true);
  }
  if (name == "last") {
    return Value::boolean(!look_ahead(), true);
  }
  if (name == "length") {
    return number(length());
  }
  if (name == "depth") {
    return Value::integer(depth0_ + 1, true);
  }
  if (name == "depth0") {
    return Value::integer(depth0_, true);
  }
  if (name == "previtem") {
    return previous_ ? *previous_ : Value::undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return look_ahead() ? ahead_.front() : Value::undefined("there is no next item");
  }
  if (name == "cycle") {
    return make_function("cycle", [at = taken_](Engine&, Arguments& arguments) {
      if (arguments.positional.empty()) {
        throw Failure("'cycle' needs something to cycle through");
      }
      return arguments.positional[(at - 1) % arguments.positional.size()];
    });
  }
  if (name == "changed") {
    return make_function(
        "changed",
        [self = shared_from_this()](Engine& engine, Arguments& arguments) {
          return Value::boolean(self->changed(std::move(arguments.positional), engine));
        },
        level_ + 1);
  }
  return std::nullopt;
}

void Loop::finish() {
  last_changed_.reset();
  last_changed_charge_.set(0);
  recurse = nullptr;
}

}  // namespace netcl::text::jinja
