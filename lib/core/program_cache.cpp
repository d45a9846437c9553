// SPDX-License-Identifier: Apache-2.0
#include "core/program_cache.h"

#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace netcl::core {

namespace {

constexpr std::string_view kMagic = "NCLPRG1\n";
constexpr size_t kKeyDigits = 32;
constexpr size_t kHeaderBytes = kMagic.size() + kKeyDigits + 16;
constexpr uint64_t kFnvStart = 0xcbf29ce484222325u;

uint64_t fnv1a(std::string_view bytes, uint64_t hash) {
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<uint8_t>(byte)) * 0x100000001b3u;
  }
  return hash;
}

std::string little_endian(uint64_t value) {
  std::string bytes(8, '\0');
  for (char& byte : bytes) {
    byte = static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return bytes;
}

uint64_t read_little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

std::string hex_digits(uint64_t value) {
  std::string digits(16, '0');
  for (size_t i = digits.size(); i-- > 0; value >>= 4) {
    digits[i] = "0123456789abcdef"[value & 15];
  }
  return digits;
}

std::string entry_path(const std::string& dir, const std::string& key) {
  return dir + "/" + key + ".clbin";
}

}  // namespace

std::string program_key(const ProgramIdentity& identity) {
  std::string text(kMagic);
  for (const std::string* field :
       {&identity.source, &identity.options, &identity.platform_version, &identity.device_name,
        &identity.device_version, &identity.driver_version}) {
    text += little_endian(field->size()) + *field;
  }
  return hex_digits(fnv1a(text, kFnvStart)) + hex_digits(fnv1a(text, ~kFnvStart));
}

std::optional<std::string> find_cached_program(const std::string& dir, const std::string& key) {
  try {
    const std::string path = entry_path(dir, key);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
      return std::nullopt;
    }
    const base::FileBytes file = base::FileBytes::open(path);
    const std::string_view bytes = file.view();
    if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic) ||
        bytes.substr(kMagic.size(), kKeyDigits) != key) {
      return std::nullopt;
    }
    const uint64_t size = read_little_endian(bytes.substr(kMagic.size() + kKeyDigits));
    const uint64_t checksum = read_little_endian(bytes.substr(kMagic.size() + kKeyDigits + 8));
    const std::string_view payload = bytes.substr(kHeaderBytes);
    if (payload.size() != size || fnv1a(payload, kFnvStart) != checksum) {
      return std::nullopt;
    }
    return std::string(payload);
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

bool store_cached_program(const std::string& dir, const std::string& key,
                          std::string_view payload) {
  NETCL_CHECK(key.size() == kKeyDigits);
  try {
    std::error_code error;
    std::filesystem::create_directories(dir, error);
    std::string bytes(kMagic);
    bytes += key + little_endian(payload.size()) + little_endian(fnv1a(payload, kFnvStart));
    bytes += payload;
    base::write_file(entry_path(dir, key), bytes);
    return true;
  } catch (const base::Error&) {
    return false;
  }
}

}  // namespace netcl::core
