# cmake --install: tools, headers, static libraries, the CMake package and the data that goes with them.
include(CMakePackageConfigHelpers)

set(_netcl_rooms base text)
if(NETCL_OPENCL)
  list(APPEND _netcl_rooms core nn)
endif()

set(_netcl_targets netcl_umbrella)
foreach(_room IN LISTS _netcl_rooms)
  list(APPEND _netcl_targets netcl_${_room})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/${_room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/netcl
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/lib/base/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/netcl/base)

install(TARGETS ${_netcl_targets} EXPORT netclTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT netclTargets NAMESPACE netcl:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/netcl)
configure_package_config_file(${PROJECT_SOURCE_DIR}/lib/cmake/netclConfig.cmake.in
  ${PROJECT_BINARY_DIR}/netclConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/netcl)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/netclConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/netclConfig.cmake ${PROJECT_BINARY_DIR}/netclConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/lib/cmake/FindPCRE2.cmake ${PROJECT_SOURCE_DIR}/lib/cmake/FindUtf8proc.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/netcl)

if(NETCL_OPENCL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/netcl/kernels
          FILES_MATCHING PATTERN "*.cl" PATTERN "*.h")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
