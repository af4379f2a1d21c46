# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# `cmake --install` gives a tree that other projects use with
#
#   find_package(bayloom REQUIRED COMPONENTS optimizer)
#   target_link_libraries(mine PRIVATE bayloom::optimizer)
#
# A component is a module with the modules that it stands on. Each module has its own file of targets, and
# only the packages that the modules asked for link are looked for. Without COMPONENTS: all modules but
# the OPTIONAL ones.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/bayloom)

# What bayloom-config.cmake is told: the modules in the order of their layers, the modules and packages
# that each needs, and how each package is looked for.
get_property(modules GLOBAL PROPERTY BAYLOOM_MODULES)
get_property(default_modules GLOBAL PROPERTY BAYLOOM_DEFAULT_MODULES)
set(BAYLOOM_CONFIG_DATA
  "set(_bayloom_modules ${modules})\nset(_bayloom_default_modules ${default_modules})\n")
foreach(module IN LISTS modules)
  get_property(below GLOBAL PROPERTY BAYLOOM_MODULE_${module}_MODULES)
  get_property(libraries GLOBAL PROPERTY BAYLOOM_MODULE_${module}_LIBRARIES)
  set(targets bayloom_${module})
  set(packages)
  foreach(library IN LISTS libraries)
    get_property(package GLOBAL PROPERTY BAYLOOM_PACKAGE_OF_${library})
    if(package)
      list(APPEND packages ${package})
    endif()
    if(library MATCHES "^bayloom_")  # a library of this tree beside the module's own
      list(APPEND targets ${library})
    elseif(NOT package)
      message(FATAL_ERROR "module ${module} links ${library}, which no bayloom_dependency() brings")
    endif()
  endforeach()
  string(APPEND BAYLOOM_CONFIG_DATA
    "set(_bayloom_${module}_modules ${below})\nset(_bayloom_${module}_packages ${packages})\n")

  install(TARGETS ${targets} EXPORT bayloom-${module} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT bayloom-${module} NAMESPACE bayloom:: DESTINATION ${config_folder})
endforeach()
get_property(packages GLOBAL PROPERTY BAYLOOM_PACKAGES)
foreach(package IN LISTS packages)
  get_property(arguments GLOBAL PROPERTY BAYLOOM_PACKAGE_${package})
  if(CONFIG IN_LIST arguments)
    list(APPEND arguments HINTS ${${package}_DIR})
  endif()
  string(APPEND BAYLOOM_CONFIG_DATA "set(_bayloom_find_${package} ${arguments})\n")
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/bayloom-config.cmake.in
  ${PROJECT_BINARY_DIR}/bayloom-config.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bayloom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/bayloom-config.cmake ${PROJECT_BINARY_DIR}/bayloom-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/FindLibevent.cmake ${CMAKE_CURRENT_LIST_DIR}/FindXGBoost.cmake
  DESTINATION ${config_folder})

install(TARGETS bayloom)

# Headers that a module's umbrella header reaches are public; the runtime's are C of its own.
function(bayloom_public_headers result)
  file(GLOB waiting RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/bayloom/*.h ${PROJECT_SOURCE_DIR}/bayloom/codegen/runtime/*.h)
  set(reached)
  while(waiting)
    list(POP_BACK waiting header)
    list(APPEND reached ${header})
    file(STRINGS ${PROJECT_SOURCE_DIR}/${header} lines REGEX "^#include \"bayloom/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"(.*)\"$" "\\1" included "${line}")
      if(NOT included IN_LIST reached AND NOT included IN_LIST waiting)
        list(APPEND waiting ${included})
      endif()
    endforeach()
  endwhile()
  set(${result} ${reached} PARENT_SCOPE)
endfunction()
bayloom_public_headers(headers)
foreach(header IN LISTS headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
