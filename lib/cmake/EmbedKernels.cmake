# cmake -DDIR=<kernels folder> -DNAMES=a,b,... -DOUT=<file.cpp> -P EmbedKernels.cmake
# Writes one C++ source with the text of every kernel as bytes and the table that
# core/kernel_source.h declares. A line `#include "x.h"` becomes the text of DIR/x.h between #line
# directives, exactly as kernel_source() does for a folder; one level deep.

function(netcl_resolve_kernel NAME RESULT)
  file(READ ${DIR}/${NAME}.cl rest)
  set(done "#line 1 \"${NAME}.cl\"\n")
  set(seen "")  # the newlines passed so far
  set(pattern "(^|\n)#include \"([A-Za-z0-9_.]+)\"[^\n]*\n")
  while(rest MATCHES "${pattern}")
    set(match "${CMAKE_MATCH_0}")
    set(lead "${CMAKE_MATCH_1}")
    set(header "${CMAKE_MATCH_2}")
    string(FIND "${rest}" "${match}" at)
    string(LENGTH "${match}" match_length)
    string(SUBSTRING "${rest}" 0 ${at} before)
    math(EXPR after "${at} + ${match_length}")
    string(SUBSTRING "${rest}" ${after} -1 rest)
    string(REGEX REPLACE "[^\n]" "" newlines "${before}${match}")
    string(APPEND seen "${newlines}")
    string(LENGTH "${seen}" line)
    math(EXPR line "${line} + 1")
    file(READ ${DIR}/${header} text)
    string(APPEND done "${before}${lead}#line 1 \"${header}\"\n${text}\n#line ${line} \"${NAME}.cl\"\n")
  endwhile()
  set(${RESULT} "${done}${rest}" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" NAMES "${NAMES}")
set(arrays "")
set(table "")
foreach(name IN LISTS NAMES)
  netcl_resolve_kernel(${name} text)
  string(HEX "${text}" hex)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr char k_${name}[] = {\n${bytes}};\n")
  string(APPEND table "    {\"${name}\", {k_${name}, sizeof k_${name}}},\n")
endforeach()

file(WRITE ${OUT} "// Generated from kernels/*.cl by EmbedKernels.cmake.
#include \"core/kernel_source.h\"

namespace netcl::core {

namespace {

${arrays}
constexpr EmbeddedKernel kKernels[] = {
${table}};

}  // namespace

std::span<const EmbeddedKernel> embedded_kernels() {
  return kKernels;
}

}  // namespace netcl::core
")
