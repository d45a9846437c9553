// SPDX-License-Identifier: Apache-2.0
#include "base/thread_pool.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "support/catch.h"

using netcl::base::ThreadPool;

TEST_CASE("thread pool: every item runs exactly once with any thread count") {
  for (const size_t threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    CHECK(pool.thread_count() == threads);
    for (const size_t items : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(items);
      std::atomic<bool> thread_in_range{true};
      pool.parallel_for(items, [&](size_t item, size_t thread) {
        ++runs[item];
        if (thread >= threads) {
          thread_in_range = false;
        }
      });
      CHECK(thread_in_range);
      for (const auto& count : runs) {
        CHECK(count == 1);
      }
    }
  }
}

TEST_CASE("thread pool: the first exception reaches the caller and the pool goes on") {
  ThreadPool pool(4);
  for (int round = 0; round < 50; ++round) {
    CHECK_THROWS_AS(pool.parallel_for(100,
                                      [](size_t item, size_t) {
                                        if (item == 13) {
                                          throw std::runtime_error("13");
                                        }
                                      }),
                    std::runtime_error);
    std::atomic<int> done{0};
    pool.parallel_for(10, [&](size_t, size_t) { ++done; });
    CHECK(done == 10);
  }
}
