# `cmake --install` gives a tree that other projects use with
#
#   find_package(bayloom REQUIRED)
#   target_link_libraries(mine PRIVATE bayloom::tuning)    # a room, and those it stands on
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY BAYLOOM_ROOMS)
set_target_properties(bayloom_llvm PROPERTIES EXPORT_NAME llvm)
install(TARGETS ${rooms} bayloom_llvm EXPORT bayloom-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS bayloom)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bayloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/bayloom)
install(EXPORT bayloom-targets NAMESPACE bayloom:: DESTINATION ${config_folder})
configure_package_config_file(cmake/bayloom-config.cmake.in
  ${PROJECT_BINARY_DIR}/bayloom-config.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bayloom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/bayloom-config.cmake ${PROJECT_BINARY_DIR}/bayloom-config-version.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindXGBoost.cmake
  DESTINATION ${config_folder})
