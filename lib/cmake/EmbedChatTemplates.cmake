# cmake -DDIR=<folder of templates> -DNAMES=a,b,... -DOUT=<file.cpp> -P EmbedChatTemplates.cmake
# Writes one C++ source with the bytes of DIR/<name>.jinja and the function that text/chat_preset.h
# declares.

string(REPLACE "," ";" NAMES "${NAMES}")
set(arrays "")
set(table "")
set(index 0)
foreach(name IN LISTS NAMES)
  file(READ ${DIR}/${name}.jinja hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND arrays "constexpr char k_${index}[] = {\n${bytes}};\n")
  string(APPEND table "    {\"${name}\", {k_${index}, sizeof k_${index}}},\n")
  math(EXPR index "${index} + 1")
endforeach()

file(WRITE ${OUT} "// Generated from data/chat/*.jinja by EmbedChatTemplates.cmake.
#include \"text/chat_preset.h\"

namespace netcl::text {

namespace {

${arrays}
constexpr struct {
  std::string_view name, text;
} kTemplates[] = {
${table}};

}  // namespace

std::string_view embedded_chat_template(std::string_view name) {
  for (const auto& entry : kTemplates) {
    if (entry.name == name) {
      return entry.text;
    }
  }
  return {};
}

}  // namespace netcl::text
")
