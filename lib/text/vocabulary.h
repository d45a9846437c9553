// SPDX-License-Identifier: Apache-2.0
// Token bytes by id and id by token bytes. Ids may have gaps (p50k's 50256, cl100k's 100256); an id
// in a gap has no bytes. Bytes are the raw bytes of a token, never the printable form that
// tokenizer.json stores. All bytes lie in one buffer; finding an id is one open-addressing look-up.
#ifndef NETCL_TEXT_VOCABULARY_H_
#define NETCL_TEXT_VOCABULARY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/big_buffer.h"
#include "text/byte_hash.h"

namespace netcl::text {

// The largest id plus one that a vocabulary may use: a bound on what damaged files can allocate.
inline constexpr uint32_t kMaxIdCount = (1U << 24) - 1;

// One token: bytes and id. Views into storage of the caller.
struct VocabularyEntry {
  uint32_t id = 0;
  std::string_view bytes;
};

// Immutable after construction; safe to read from several threads.
class Vocabulary {
 public:
  Vocabulary() = default;
  // Copies the bytes. The caller has checked that ids are distinct and below kMaxIdCount, and that
  // bytes are distinct and not empty; a breach is a bug (std::logic_error).
  explicit Vocabulary(std::span<const VocabularyEntry> entries);

  // Two entries with the same id or the same bytes, by their place in the list.
  struct Clash {
    size_t first = 0;
    size_t second = 0;
    bool same_id = false;  // else the bytes are the same
  };
  // The same from entries that nobody has checked for that; nothing and the first clash if there is
  // one.
  static std::optional<Vocabulary> make(std::span<const VocabularyEntry> entries, Clash& clash);

  // Largest id plus one; 0 when empty. At least size().
  uint32_t id_limit() const { return static_cast<uint32_t>(extents_.size()); }
  // Number of tokens.
  size_t size() const { return size_; }
  // True when `id` has bytes.
  bool contains(uint32_t id) const { return id < extents_.size() && extents_[id].size != 0; }
  // Bytes of the token; empty when the id is a gap or too large.
  std::string_view bytes(uint32_t id) const {
    return contains(id) ? std::string_view(buffer_.data() + extents_[id].begin, extents_[id].size)
                        : std::string_view();
  }
  // Id of exactly these bytes.
  std::optional<uint32_t> find(std::string_view bytes) const {
    const uint32_t id = find_id(bytes);
    return id == kNone ? std::nullopt : std::optional<uint32_t>(id);
  }
  // Id of exactly these bytes, or kNone.
  uint32_t find_id(std::string_view bytes) const { return find_id(bytes, hash_bytes(bytes)); }
  // The same where its hash_bytes() is known. What that will read lies in three places, each known
  // from the one before: many look-ups are fastest if each of the fetches is made for all of them
  // before the next, and find_id() then.
  uint32_t find_id(std::string_view bytes, uint64_t hash) const;
  uint32_t find_readable(std::string_view bytes, uint64_t hash) const;  // 16 of them may be read
  void prefetch(uint64_t hash) const {
    if (!slots_.empty()) {
      __builtin_prefetch(slots_.data() + slot_of(hash));
    }
  }
  void prefetch_extent(uint64_t hash) const {
    if (const uint32_t id = likely_id(hash); id != kNone) {
      __builtin_prefetch(extents_.data() + id);
    }
  }
  void prefetch_bytes(uint64_t hash) const {
    if (const uint32_t id = likely_id(hash); id != kNone) {
      __builtin_prefetch(buffer_.data() + extents_[id].begin);
    }
  }
  // Of bytes of which 16 from the first one on may be read. Whether they are those of the token
  // `id`; they are not empty.
  bool has_readable(uint32_t id, std::string_view bytes) const {
    return id < extents_.size() && is_token_readable(id, bytes);
  }
  // Length in bytes of the longest token.
  size_t longest() const { return longest_; }

  static constexpr uint32_t kNone = UINT32_MAX;

 private:
  // Most strings that are no token are told by the tag alone.
  struct Slot {
    uint32_t tag = 0;
    uint32_t id = kNone;  // kNone: free
  };
  struct Extent {
    uint32_t begin = 0;  // offset in buffer_
    uint32_t size = 0;   // 0: a gap
  };
  size_t slot_of(uint64_t hash) const { return hash & (slots_.size() - 1); }
  // What lies in the slot of the hash; kNone when that is free.
  uint32_t likely_id(uint64_t hash) const {
    return slots_.empty() ? kNone : slots_[slot_of(hash)].id;
  }
  bool is_token(uint32_t id, std::string_view key) const {
    const Extent& extent = extents_[id];
    return extent.size == key.size() &&
           equal_bytes(buffer_.data() + extent.begin, key.data(), key.size());
  }
  bool is_token_readable(uint32_t id, std::string_view key) const {
    const Extent& extent = extents_[id];
    return extent.size == key.size() &&
           equal_readable(buffer_.data() + extent.begin, key.data(), key.size());
  }
  template <typename IsToken>
  uint32_t find(std::string_view key, uint64_t hash, const IsToken& is_token) const;
  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

  std::optional<Clash> fill(std::span<const VocabularyEntry> entries);

  base::BigVector<char> buffer_;     // of the tokens; 16 bytes more may be read
  base::BigVector<Extent> extents_;  // by id
  base::BigVector<Slot> slots_;      // hash table, at most half full
  size_t size_ = 0;
  size_t longest_ = 0;
};

}  // namespace netcl::text

#endif  // NETCL_TEXT_VOCABULARY_H_
