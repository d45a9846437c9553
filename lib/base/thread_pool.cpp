// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <algorithm>
#include <system_error>

#include <sched.h>

namespace netcl::base {

size_t default_thread_count() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    return std::max<size_t>(1, static_cast<size_t>(CPU_COUNT(&set)));
  }
  return std::max<size_t>(1, std::thread::hardware_concurrency());
}

ThreadPool::ThreadPool(size_t thread_count) {
  const size_t count = thread_count == 0 ? default_thread_count() : thread_count;
  workers_.reserve(count - 1);
  for (size_t thread = 1; thread < count; ++thread) {
    try {
      workers_.emplace_back([this, thread] { work(thread); });
    } catch (const std::system_error&) {
      break;  // the system gives no more threads: the work gets done with fewer
    }
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::work(size_t thread) {
  size_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) {
        return;
      }
      seen = generation_;
    }
    run_items(thread);
    const std::lock_guard lock(mutex_);
    if (--busy_workers_ == 0) {
      finished_.notify_one();
    }
  }
}

void ThreadPool::run_items(size_t thread) {
  for (;;) {
    size_t item = 0;
    {
      const std::lock_guard lock(mutex_);
      if (next_item_ >= item_count_) {
        return;
      }
      item = next_item_++;
    }
    try {
      (*body_)(item, thread);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) {
        error_ = std::current_exception();
      }
      next_item_ = item_count_;
    }
  }
}

void ThreadPool::parallel_for(size_t item_count, const std::function<void(size_t, size_t)>& body) {
  const std::lock_guard call(call_mutex_);
  {
    const std::lock_guard lock(mutex_);
    body_ = &body;
    next_item_ = 0;
    item_count_ = item_count;
    error_ = nullptr;
    busy_workers_ = workers_.size();
    ++generation_;
  }
  start_.notify_all();
  run_items(0);
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return busy_workers_ == 0; });
  body_ = nullptr;
  if (error_) {
    std::rethrow_exception(error_);
  }
}

}  // namespace netcl::base
