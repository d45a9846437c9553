// SPDX-License-Identifier: Apache-2.0
#include "core/kernel_source.h"

#include "base/error.h"
#include "base/file.h"

namespace netcl::core {

namespace {

std::string read_text(const std::string& path) {
  return std::string(base::FileBytes::open(path).view());
}

// The file named by a line `#include "file"`, else empty.
std::string_view included_file(std::string_view line) {
  constexpr std::string_view kDirective = "#include \"";
  if (!line.starts_with(kDirective)) {
    return {};
  }
  line.remove_prefix(kDirective.size());
  const size_t end = line.find('"');
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

std::string line_directive(size_t line, std::string_view file) {
  return "#line " + std::to_string(line) + " \"" + std::string(file) + "\"\n";
}

std::string read_kernel(const std::string& dir, std::string_view name) {
  const std::string file = std::string(name) + ".cl";
  const std::string text = read_text(dir + "/" + file);
  std::string resolved = line_directive(1, file);
  size_t line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = text.find('\n', begin);
    const size_t end = newline == std::string::npos ? text.size() : newline + 1;
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    ++line_number;
    if (const std::string_view header = included_file(line); !header.empty()) {
      resolved += line_directive(1, header) + read_text(dir + "/" + std::string(header)) + "\n" +
                  line_directive(line_number + 1, file);
    } else {
      resolved += line;
    }
    begin = end;
  }
  return resolved;
}

}  // namespace

std::string kernel_source(std::string_view name, const std::string& kernel_dir) {
  if (!kernel_dir.empty()) {
    return read_kernel(kernel_dir, name);
  }
  for (const EmbeddedKernel& kernel : embedded_kernels()) {
    if (kernel.name == name) {
      return std::string(kernel.text);
    }
  }
  std::string names;
  for (const EmbeddedKernel& kernel : embedded_kernels()) {
    names += (names.empty() ? "" : ", ") + std::string(kernel.name);
  }
  throw base::DeviceError("kernel " + base::quote(name) +
                          ": not in this build; there are: " + (names.empty() ? "none" : names));
}

}  // namespace netcl::core
