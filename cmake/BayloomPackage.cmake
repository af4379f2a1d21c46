# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# `cpack` in a build folder makes a Debian package of the program: with the manual page, which the
# program's own help makes, and the dependencies that its libraries have on this system.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME bayloom)
set(CPACK_PACKAGE_CONTACT "The Bayloom authors <bayloom@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tunes programs by measuring them")
set(CPACK_PACKAGE_DESCRIPTION
  "Bayloom searches for the fastest way to run the operators of an ONNX model on this machine and
compiles the result to a C library. The same search engine, Bayesian optimization over mixed,
constrained spaces, tunes other programs and maps tensor operations onto accelerators.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "python3")

set(manual ${PROJECT_BINARY_DIR}/bayloom.1.gz)
add_custom_command(OUTPUT ${manual}
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/write_manual $<TARGET_FILE:bayloom> ${manual}
  DEPENDS bayloom ${PROJECT_SOURCE_DIR}/scripts/write_manual VERBATIM)
add_custom_target(bayloom_manual DEPENDS ${manual})

install(TARGETS bayloom RUNTIME DESTINATION bin COMPONENT program EXCLUDE_FROM_ALL)
install(FILES ${manual} DESTINATION share/man/man1 COMPONENT program EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/debian-copyright DESTINATION share/doc/bayloom
  RENAME copyright COMPONENT program EXCLUDE_FROM_ALL)
include(CPack)
