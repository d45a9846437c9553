// SPDX-License-Identifier: Apache-2.0
// Compiled OpenCL programs on disk: one file per program, named by a hash of everything that
// decides the compiler's output. This header sees no OpenCL types; building and the in-memory cache
// live in core/opencl.h.
//
// File: 8 bytes magic with the format version, 32 hexadecimal digits of the key, payload size and
// payload checksum (64-bit FNV-1a) as little-endian 64-bit numbers, then the payload, to the end of
// the file. Anything else is a damaged entry, which counts as absent.
#ifndef NETCL_CORE_PROGRAM_CACHE_H_
#define NETCL_CORE_PROGRAM_CACHE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/device.h"

namespace netcl::core {

// What a compiled program depends on. `options` holds the macros too.
struct ProgramIdentity {
  std::string source;
  std::string options;
  std::string platform_version;
  std::string device_name;
  std::string device_version;
  std::string driver_version;
};

// 32 hexadecimal digits: two 64-bit FNV-1a hashes with different starts over the fields, each with
// its length, and the version of the file format.
std::string program_key(const ProgramIdentity& identity);

// The payload stored under `key` in `dir`; nothing when there is none, or it is damaged, truncated
// or of another key. Never throws.
std::optional<std::string> find_cached_program(const std::string& dir, const std::string& key);

// Stores a payload, creating the folder. Atomic: readers see the old file or the new one. Returns
// false when the folder cannot be written, which costs nothing but the next build.
bool store_cached_program(const std::string& dir, const std::string& key, std::string_view payload);

// How the programs of one queue came to be, since the queue was opened.
struct ProgramCacheStats {
  uint64_t built_from_source = 0;
  uint64_t loaded_from_disk = 0;
  uint64_t found_in_memory = 0;
};

ProgramCacheStats program_cache_stats(const Queue& queue);

}  // namespace netcl::core

#endif  // NETCL_CORE_PROGRAM_CACHE_H_
