// SPDX-License-Identifier: Apache-2.0
// The one seeded generator of tools and tests: SplitMix64 seeding xoshiro256++ (Blackman and Vigna,
// 2019). Same seed, same numbers on every machine; the distributions are ours for that reason,
// since those of <random> differ between standard libraries.
#ifndef NETCL_BASE_RNG_H_
#define NETCL_BASE_RNG_H_

#include <array>
#include <cstdint>

namespace netcl::base {

// Not thread-safe; copyable (a copy continues with the same numbers).
class Rng {
 public:
  explicit Rng(uint64_t seed);
  // 64 uniform bits.
  uint64_t next();
  // Uniform integer in [0, bound), bound >= 1, without modulo bias.
  uint64_t below(uint64_t bound);
  // Uniform double in [0, 1), 53 bits.
  double uniform();
  // Standard normal variate (Box-Muller; the second value of each pair is kept for the next call).
  double normal();

 private:
  std::array<uint64_t, 4> state_;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace netcl::base

#endif  // NETCL_BASE_RNG_H_
