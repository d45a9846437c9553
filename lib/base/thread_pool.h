// SPDX-License-Identifier: Apache-2.0
// Parallel loops over a fixed set of worker threads.
#ifndef NETCL_BASE_THREAD_POOL_H_
#define NETCL_BASE_THREAD_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace netcl::base {

// Number of threads for "all cores": the CPUs this process may run on, at least 1.
size_t default_thread_count();

// thread_count - 1 workers plus the calling thread. Not copyable; one parallel_for at a time (calls
// from several threads wait for each other).
class ThreadPool {
 public:
  // thread_count = 0 means default_thread_count(). Where the system refuses a thread, the pool has
  // the ones that it got.
  explicit ThreadPool(size_t thread_count = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t thread_count() const { return workers_.size() + 1; }

  // Calls body(item, thread) for every item in [0, item_count), each exactly once, items handed out
  // in ascending order; thread in [0, thread_count()) names the running thread, for scratch space.
  // Returns when all are done. The first exception thrown by body stops the hand-out and is
  // rethrown here after the items already begun have ended. body must not call parallel_for of this
  // pool.
  void parallel_for(size_t item_count, const std::function<void(size_t, size_t)>& body);

 private:
  void work(size_t thread);
  void run_items(size_t thread);

  std::vector<std::thread> workers_;
  std::mutex call_mutex_;  // held for the length of one parallel_for
  std::mutex mutex_;       // guards what follows
  std::condition_variable start_;
  std::condition_variable finished_;
  const std::function<void(size_t, size_t)>* body_ = nullptr;
  size_t next_item_ = 0;
  size_t item_count_ = 0;
  size_t busy_workers_ = 0;
  size_t generation_ = 0;
  bool stopping_ = false;
  std::exception_ptr error_;
};

}  // namespace netcl::base

#endif  // NETCL_BASE_THREAD_POOL_H_
