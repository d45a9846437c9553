// SPDX-License-Identifier: Apache-2.0
// The variable `loop` of a for block.
#ifndef NETCL_TEXT_JINJA_LOOP_H_
#define NETCL_TEXT_JINJA_LOOP_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "text/jinja_value.h"

namespace netcl::text::jinja {

// Takes the elements one by one and looks ahead only as far as it is asked to: a filtered loop may
// depend on what its body does.
class Loop : public Object, public std::enable_shared_from_this<Loop> {
 public:
  using Next = std::function<std::optional<Value>()>;

  // `length` of what `next` gives, where known; `level` of the values it goes through.
  Loop(Next next, std::optional<size_t> length, int depth0, int level)
      : next_(std::move(next)), length_(length), depth0_(depth0), level_(level) {}

  // Goes on to the next element; nothing at the end.
  std::optional<Value> advance();
  // Attributes and methods; nothing for a name it does not have.
  std::optional<Value> attribute(std::string_view name, Engine& engine);
  int depth0() const { return depth0_; }
  int level() const { return level_; }
  size_t length();

  // The function behind loop(...); empty in loops that are not recursive.
  std::function<Value(Engine&, Arguments&)> recurse;

  // The for block is done: lets go of what might refer to the loop itself.
  void finish();

 private:
  bool look_ahead();  // false at the end
  bool changed(std::vector<Value> now, Engine& engine);

  Next next_;
  std::optional<size_t> length_;
  int depth0_ = 0;
  int level_ = 0;
  size_t taken_ = 0;
  std::deque<Value> ahead_;
  std::optional<Value> previous_, current_;
  std::optional<std::vector<Value>> last_changed_;
  MemoryCharge last_changed_charge_;
};

}  // namespace netcl::text::jinja

#endif  // NETCL_TEXT_JINJA_LOOP_H_
