# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Every dependency is a Debian 12 package; scripts/setup lists and installs them.
#
#   bayloom_dependency(fmt 9 TARGETS fmt::fmt)
#
# finds a package, unless its targets are there already (cmake/BayloomPortable.cmake), and remembers which
# link targets it brings. Modules name those targets; from both the installed bayloom-config.cmake knows
# which packages a module needs (cmake/BayloomInstall.cmake).
macro(bayloom_dependency package)
  cmake_parse_arguments(DEPENDENCY "" "" "TARGETS" ${ARGN})
  list(GET DEPENDENCY_TARGETS 0 first_target)
  if(NOT TARGET ${first_target})
    find_package(${package} ${DEPENDENCY_UNPARSED_ARGUMENTS} REQUIRED)
  endif()
  set_property(GLOBAL APPEND PROPERTY BAYLOOM_PACKAGES ${package})
  set_property(GLOBAL PROPERTY BAYLOOM_PACKAGE_${package} ${package} ${DEPENDENCY_UNPARSED_ARGUMENTS})
  foreach(target IN LISTS DEPENDENCY_TARGETS)
    set_property(GLOBAL PROPERTY BAYLOOM_PACKAGE_OF_${target} ${package})
  endforeach()
endmacro()

set(THREADS_PREFER_PTHREAD_FLAG ON)
bayloom_dependency(Threads TARGETS Threads::Threads)
if(BAYLOOM_WORKER_ONLY)
  # Headers, which are the same for every architecture. Seen through a folder of their own: a cross
  # compiler must not find what else is beside them.
  foreach(header IN ITEMS fmt/core.h nlohmann/json.hpp CLI/CLI.hpp)
    cmake_path(GET header PARENT_PATH folder)
    find_path(BAYLOOM_${folder}_HEADERS ${header} REQUIRED)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/headers)
    file(CREATE_LINK ${BAYLOOM_${folder}_HEADERS}/${folder} ${PROJECT_BINARY_DIR}/headers/${folder}
      SYMBOLIC)
  endforeach()
  foreach(library IN ITEMS fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11)
    add_library(${library} INTERFACE IMPORTED)
    target_include_directories(${library} SYSTEM INTERFACE ${PROJECT_BINARY_DIR}/headers)
  endforeach()
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
  return()
endif()
if(BAYLOOM_PORTABLE)
  include(BayloomPortable)
endif()
bayloom_dependency(fmt 9 TARGETS fmt::fmt)
bayloom_dependency(nlohmann_json 3.11 TARGETS nlohmann_json::nlohmann_json)
bayloom_dependency(Eigen3 3.4 TARGETS Eigen3::Eigen)
bayloom_dependency(NLopt 2.7 TARGETS NLopt::nlopt)
bayloom_dependency(yaml-cpp 0.7 TARGETS yaml-cpp)
bayloom_dependency(ZLIB 1.2 TARGETS ZLIB::ZLIB)
bayloom_dependency(SQLite3 3.40 TARGETS SQLite::SQLite3)
if(BAYLOOM_COMPILER)
  bayloom_dependency(XGBoost 1.6 TARGETS xgboost::xgboost)
  bayloom_dependency(LLVM 19.1 CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm TARGETS bayloom_llvm)
  bayloom_dependency(Boost 1.74 COMPONENTS context TARGETS Boost::context)
endif()
bayloom_dependency(Protobuf 3.21 TARGETS protobuf::libprotobuf)
bayloom_dependency(ONNX 1.12 TARGETS onnx)
bayloom_dependency(CLI11 2.1 TARGETS CLI11::CLI11)
bayloom_dependency(Libevent 2.1 TARGETS Libevent::event)

# What programs of this tree are linked to, if it is there: searches allocate many small objects, and
# take a fifth less time than with the C library's allocator. Libraries leave the choice to their users.
find_library(BAYLOOM_JEMALLOC jemalloc)
add_library(bayloom_allocator INTERFACE)
if(BAYLOOM_JEMALLOC AND NOT BAYLOOM_SANITIZE)
  target_link_libraries(bayloom_allocator INTERFACE ${BAYLOOM_JEMALLOC})
endif()

if(NOT BAYLOOM_COMPILER)
  return()
endif()
add_library(bayloom_llvm INTERFACE)
target_include_directories(bayloom_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_directories(bayloom_llvm INTERFACE ${LLVM_LIBRARY_DIRS})
# LLVM's linker, of which there are static libraries only.
target_link_libraries(bayloom_llvm INTERFACE lldELF lldCommon zstd::libzstd_shared ZLIB::ZLIB)
if(BAYLOOM_PORTABLE)
  llvm_map_components_to_libnames(llvm_libraries orcjit codegen selectiondag asmprinter mc
    nativecodegen x86codegen x86asmparser aarch64codegen aarch64asmparser nvptxcodegen
    asmparser lto objcopy option)
  # The linker makes known to LLVM all architectures that it was built for, most of which have no use here.
  set(functions)
  foreach(architecture IN LISTS LLVM_TARGETS_TO_BUILD)
    if(NOT architecture MATCHES "^(X86|AArch64|NVPTX)$")
      foreach(part IN ITEMS TargetInfo Target TargetMC AsmPrinter AsmParser)
        string(APPEND functions "void LLVMInitialize${architecture}${part}(void) {}\n")
      endforeach()
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/other_architectures.c @ONLY CONTENT "@functions@")
  add_library(bayloom_other_architectures STATIC ${PROJECT_BINARY_DIR}/other_architectures.c)
  target_link_libraries(bayloom_llvm INTERFACE bayloom_other_architectures ${llvm_libraries})
else()
  target_link_libraries(bayloom_llvm INTERFACE LLVM-19)
endif()
set_target_properties(bayloom_llvm PROPERTIES EXPORT_NAME llvm)
