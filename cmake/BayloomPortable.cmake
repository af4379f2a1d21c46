# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# What BAYLOOM_PORTABLE changes: programs and extension modules need the C library alone, of version
# 2.28 or later. All other libraries are linked statically: Debian's, where Debian has them
# so, and those below, which are built from Debian's source packages (scripts/setup --portable).
set(BAYLOOM_STATIC_SOURCES ${PROJECT_SOURCE_DIR}/build/sources CACHE PATH
  "Where scripts/setup --portable has unpacked the libraries that are built from source")
foreach(source IN ITEMS fmtlib nlopt onnx xgboost dmlc-core)
  if(NOT EXISTS ${BAYLOOM_STATIC_SOURCES}/${source})
    message(FATAL_ERROR
      "there is no ${BAYLOOM_STATIC_SOURCES}/${source}: scripts/setup --portable makes it")
  endif()
endforeach()

# find_library() and find_package() find static libraries.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(Boost_USE_STATIC_LIBS ON)
set(Protobuf_USE_STATIC_LIBS ON)
find_library(BAYLOOM_YAML_CPP yaml-cpp REQUIRED)
add_library(yaml-cpp STATIC IMPORTED)
set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION ${BAYLOOM_YAML_CPP})
find_library(BAYLOOM_ZSTD zstd)
if(BAYLOOM_COMPILER AND NOT BAYLOOM_ZSTD)
  message(FATAL_ERROR "LLVM's static libraries need zstd: scripts/setup --portable installs it")
endif()
add_library(zstd::libzstd_shared STATIC IMPORTED)  # so LLVM's CMake files call what they were linked to
set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION ${BAYLOOM_ZSTD})

# Libraries of others, as their own build files make them, without what Bayloom does not call.
function(bayloom_foreign_library name)
  add_library(${name} STATIC ${ARGN})
  target_compile_options(${name} PRIVATE -w)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 17)
endfunction()
bayloom_foreign_library(bayloom_fmt ${BAYLOOM_STATIC_SOURCES}/fmtlib/src/format.cc)
add_library(fmt::fmt ALIAS bayloom_fmt)

set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # its options are what is set here
foreach(option IN ITEMS NLOPT_PYTHON NLOPT_OCTAVE NLOPT_MATLAB NLOPT_GUILE NLOPT_SWIG NLOPT_TESTS BUILD_SHARED_LIBS)
  set(${option} OFF)
endforeach()
add_subdirectory(${BAYLOOM_STATIC_SOURCES}/nlopt ${PROJECT_BINARY_DIR}/nlopt EXCLUDE_FROM_ALL)
target_compile_options(nlopt_cxx PRIVATE -w)
add_library(NLopt::nlopt ALIAS nlopt_cxx)

# The messages of ONNX's files, whose header Debian has: its checks and operators' schemas are not called.
set(onnx ${PROJECT_BINARY_DIR}/onnx_messages)
file(MAKE_DIRECTORY ${onnx})
add_custom_command(OUTPUT ${onnx}/onnx/onnx-ml.pb.cc
  COMMAND protobuf::protoc --proto_path ${BAYLOOM_STATIC_SOURCES}/onnx --cpp_out dllexport_decl=ONNX_API:${onnx}
    onnx/onnx-ml.proto
  DEPENDS ${BAYLOOM_STATIC_SOURCES}/onnx/onnx/onnx-ml.proto VERBATIM)
bayloom_foreign_library(onnx ${onnx}/onnx/onnx-ml.pb.cc)
target_compile_definitions(onnx PUBLIC ONNX_NAMESPACE=onnx ONNX_ML=1 PRIVATE ONNX_API=)

if(BAYLOOM_COMPILER)
  set(xgboost ${BAYLOOM_STATIC_SOURCES}/xgboost)
  file(GLOB_RECURSE xgboost_sources ${xgboost}/src/*.cc)
  list(REMOVE_ITEM xgboost_sources ${xgboost}/src/cli_main.cc)
  set(singles)
  foreach(source IN ITEMS src/gbm/gbm src/metric/metric src/objective/objective src/predictor/predictor
      src/tree/tree_updater rabit/src/allreduce_base rabit/src/engine rabit/src/rabit_c_api)
    list(APPEND singles ${xgboost}/${source}.cc)
  endforeach()
  foreach(source IN ITEMS config data io recordio io/filesys io/indexed_recordio_split
      io/input_split_base io/line_split io/local_filesys io/recordio_split)
    list(APPEND singles ${BAYLOOM_STATIC_SOURCES}/dmlc-core/src/${source}.cc)
  endforeach()
  set_source_files_properties(${singles} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  list(APPEND xgboost_sources ${singles})
  list(REMOVE_DUPLICATES xgboost_sources)
  bayloom_foreign_library(bayloom_xgboost ${xgboost_sources})
  set_target_properties(bayloom_xgboost PROPERTIES
    UNITY_BUILD ${BAYLOOM_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 12)
  target_compile_options(bayloom_xgboost PRIVATE -fopenmp)
  target_compile_definitions(bayloom_xgboost PRIVATE
    DMLC_LOG_CUSTOMIZE=1 DMLC_USE_CXX11=1 XGBOOST_MM_PREFETCH_PRESENT=1 XGBOOST_BUILTIN_PREFETCH_PRESENT=1)
  target_include_directories(bayloom_xgboost
    PRIVATE ${xgboost}/rabit/include ${BAYLOOM_STATIC_SOURCES}/dmlc-core/include
    INTERFACE ${xgboost}/include)
  target_include_directories(bayloom_xgboost BEFORE PRIVATE ${xgboost}/include)
  find_library(BAYLOOM_GOMP gomp REQUIRED HINTS ${CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES})
  target_link_libraries(bayloom_xgboost INTERFACE ${BAYLOOM_GOMP})
  add_library(xgboost::xgboost ALIAS bayloom_xgboost)
endif()

# All that is linked from here on is linked against the older C library.
include(${CMAKE_CURRENT_LIST_DIR}/portable/c_library.cmake)
link_libraries($<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,STATIC_LIBRARY>>:bayloom_c_library>)
