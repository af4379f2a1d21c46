# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# A module is a folder under bayloom/ that becomes one static library. Modules may only
# link to modules on layers below (docs/architecture.md).
#
#   bayloom_module(sketch MODULES tensor LIBRARIES fmt::fmt)
#
# An OPTIONAL module is installed, but found only by those who ask for it as a component.
# NEEDS_COMPILER are sources, as regular expressions, that a build without BAYLOOM_COMPILER leaves out;
# what stands for them is in the module's folder without_compiler. With BAYLOOM_WORKER_ONLY there are
# the modules of BAYLOOM_WORKER_MODULES, without the sources of NOT_IN_WORKER.
function(bayloom_module name)
  cmake_parse_arguments(ARG "OPTIONAL" "" "MODULES;LIBRARIES;NEEDS_COMPILER;NOT_IN_WORKER" ${ARGN})
  if(BAYLOOM_WORKER_ONLY)
    if(NOT name IN_LIST BAYLOOM_WORKER_MODULES)
      return()
    endif()
    foreach(module IN LISTS ARG_MODULES)
      if(NOT module IN_LIST BAYLOOM_WORKER_MODULES)
        list(REMOVE_ITEM ARG_MODULES ${module})
      endif()
    endforeach()
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  if(BAYLOOM_COMPILER)
    list(FILTER sources EXCLUDE REGEX "/without_compiler/")
  else()
    foreach(pattern IN LISTS ARG_NEEDS_COMPILER)
      list(FILTER sources EXCLUDE REGEX "/bayloom/${name}/${pattern}")
    endforeach()
  endif()
  if(BAYLOOM_WORKER_ONLY)
    foreach(pattern IN LISTS ARG_NOT_IN_WORKER)
      list(FILTER sources EXCLUDE REGEX "/bayloom/${name}/${pattern}")
    endforeach()
  endif()
  add_library(bayloom_${name} STATIC ${sources})
  target_include_directories(bayloom_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include>)
  target_link_libraries(bayloom_${name} PRIVATE $<BUILD_INTERFACE:bayloom_build_flags>)
  foreach(module IN LISTS ARG_MODULES)
    target_link_libraries(bayloom_${name} PUBLIC bayloom_${module})
  endforeach()
  target_link_libraries(bayloom_${name} PUBLIC ${ARG_LIBRARIES})
  target_compile_features(bayloom_${name} PUBLIC cxx_std_20)
  set_target_properties(bayloom_${name} PROPERTIES EXPORT_NAME ${name}
    UNITY_BUILD ${BAYLOOM_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 24)
  add_library(bayloom::${name} ALIAS bayloom_${name})
  set_property(GLOBAL APPEND PROPERTY BAYLOOM_MODULES ${name})
  if(NOT ARG_OPTIONAL)
    set_property(GLOBAL APPEND PROPERTY BAYLOOM_DEFAULT_MODULES ${name})
  endif()
  set_property(GLOBAL PROPERTY BAYLOOM_MODULE_${name}_MODULES ${ARG_MODULES})
  set_property(GLOBAL PROPERTY BAYLOOM_MODULE_${name}_LIBRARIES ${ARG_LIBRARIES})
endfunction()

# Tests mirror the modules: all of tests/<name>/*.cc make one GoogleTest program. In optimized builds
# they are not optimized themselves: what takes time is in the modules, and they compile in half the
# time.
function(bayloom_module_tests name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc)
  add_executable(test_${name} ${sources})
  target_link_libraries(test_${name} PRIVATE
    bayloom_${name} bayloom_allocator bayloom_build_flags ${ARG_LIBRARIES}
    GTest::gtest_main GTest::gmock)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  if(NOT BAYLOOM_SANITIZE)
    target_compile_options(test_${name} PRIVATE $<$<CONFIG:Release>:-O0>)
  endif()
  set_target_properties(test_${name} PROPERTIES
    UNITY_BUILD ${BAYLOOM_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 32)
  gtest_discover_tests(test_${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 900 ENVIRONMENT BAYLOOM_STORE=off)
endfunction()

# Compiles a text file into a target: `extern const char <symbol>[]` in the namespace of the
# target's module.
function(bayloom_embed_text target symbol file)
  if(NOT TARGET ${target})
    return()
  endif()
  file(READ ${file} BAYLOOM_EMBEDDED_TEXT)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  string(REGEX REPLACE "^bayloom_" "bayloom::" namespace ${target})
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cc)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT
"namespace ${namespace} {
extern const char ${symbol}[];
const char ${symbol}[] = R\"text(@BAYLOOM_EMBEDDED_TEXT@)text\";
}  // namespace ${namespace}
")
  target_sources(${target} PRIVATE ${generated})
endfunction()
