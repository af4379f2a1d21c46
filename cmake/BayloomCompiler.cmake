# Language level, warnings and sanitizers, shared by every target of the tree.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

set(BAYLOOM_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")
find_program(BAYLOOM_CCACHE ccache)
if(BAYLOOM_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${BAYLOOM_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${BAYLOOM_CCACHE})
endif()
find_program(BAYLOOM_MOLD mold)
if(BAYLOOM_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_library(bayloom_build_flags INTERFACE)
target_compile_options(bayloom_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
if(BAYLOOM_SANITIZE)
  # Between sanitizers' checks g++ 12 takes parts of std::regex for uninitialized.
  add_compile_options(-fsanitize=${BAYLOOM_SANITIZE} -fno-omit-frame-pointer -O1 -g1
    -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=${BAYLOOM_SANITIZE})
endif()
