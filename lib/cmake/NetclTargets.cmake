# How a room, a tool and a test become targets. Flags live on two INTERFACE targets, never globally.

add_library(netcl_warnings INTERFACE)
target_compile_options(netcl_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # GCC 12 warns falsely about std::string concatenation (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  $<$<BOOL:${NETCL_WERROR}>:-Werror>)

add_library(netcl_sanitize INTERFACE)
if(NETCL_SANITIZE)
  string(REPLACE ";" "," _netcl_san "${NETCL_SANITIZE}")
  target_compile_options(netcl_sanitize INTERFACE
    -fsanitize=${_netcl_san} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(netcl_sanitize INTERFACE -fsanitize=${_netcl_san})
endif()
if(NETCL_FUZZ)
  target_compile_options(netcl_sanitize INTERFACE -fsanitize=fuzzer-no-link)
endif()

# netcl_add_room(NAME SOURCES a.cpp ... DEPENDS netcl_base ...)
# One static library netcl_NAME with the alias netcl::NAME; the include root is lib/.
function(netcl_add_room NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(netcl_${NAME} STATIC ${ARG_SOURCES})
  add_library(netcl::${NAME} ALIAS netcl_${NAME})
  target_compile_features(netcl_${NAME} PUBLIC cxx_std_20)
  set_target_properties(netcl_${NAME} PROPERTIES
    CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON EXPORT_NAME ${NAME})
  target_include_directories(netcl_${NAME} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lib>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/lib>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/netcl>)
  target_link_libraries(netcl_${NAME}
    PUBLIC ${ARG_DEPENDS}
    PRIVATE ${ARG_PRIVATE_DEPENDS} $<BUILD_INTERFACE:netcl_warnings> $<BUILD_INTERFACE:netcl_sanitize>)
endfunction()

# netcl_add_program(TARGET SOURCES ... DEPENDS ...): an executable of tools/ or tests/.
function(netcl_add_program NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  set_target_properties(${NAME} PROPERTIES CXX_EXTENSIONS OFF)
  target_link_libraries(${NAME} PRIVATE ${ARG_DEPENDS} netcl_warnings netcl_sanitize)
endfunction()
