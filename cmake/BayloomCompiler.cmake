# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Language level, warnings and sanitizers. What concerns every target of a build (build type,
# launcher, linker) is set only when this is the build's top project, and only where the user set
# nothing; the presets choose -O2 for optimized builds.
if(PROJECT_IS_TOP_LEVEL)
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT multi_config)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  if(NOT DEFINED CMAKE_POSITION_INDEPENDENT_CODE)
    set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  endif()
  if(NOT DEFINED CMAKE_CXX_EXTENSIONS)
    set(CMAKE_CXX_EXTENSIONS OFF)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

  find_program(BAYLOOM_CCACHE ccache)
  if(BAYLOOM_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_C_COMPILER_LAUNCHER ${BAYLOOM_CCACHE})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${BAYLOOM_CCACHE})
  endif()
  find_program(BAYLOOM_MOLD mold)
  if(BAYLOOM_MOLD AND NOT CMAKE_CROSSCOMPILING)
    add_link_options(-fuse-ld=mold)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ collects garbage from 1 GB on, not all the time: a tenth less of the processor's time.
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1000000>)
  endif()
endif()

# What every target of this tree is compiled with; users of the modules do not get it.
add_library(bayloom_build_flags INTERFACE)
target_compile_features(bayloom_build_flags INTERFACE cxx_std_20 c_std_11)
target_compile_options(bayloom_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
if(BAYLOOM_WERROR)
  target_compile_options(bayloom_build_flags INTERFACE -Werror)
endif()

set(BAYLOOM_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")
if(BAYLOOM_SANITIZE)
  # Between sanitizers' checks g++ 12 takes parts of std::regex for uninitialized.
  add_compile_options(-fsanitize=${BAYLOOM_SANITIZE} -fno-omit-frame-pointer -O1 -g1
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_link_options(-fsanitize=${BAYLOOM_SANITIZE})
endif()

option(BAYLOOM_ASSERTIONS "Check indices of containers, which costs a few percent of the time" OFF)
if(BAYLOOM_ASSERTIONS)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
