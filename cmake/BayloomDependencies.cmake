# Every dependency is a Debian 12 package; scripts/setup lists and installs them. What rooms link
# to is looked for again by cmake/bayloom-config.cmake.in, for the users of an installed tree.
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(spdlog 1.10 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(Protobuf 3.21 REQUIRED)
find_package(ONNX 1.12 REQUIRED)
find_package(SQLite3 3.40 REQUIRED)
find_package(XGBoost 1.6 REQUIRED)
find_package(CLI11 2.1 REQUIRED)

add_library(bayloom_llvm INTERFACE)
target_include_directories(bayloom_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(bayloom_llvm INTERFACE LLVM-19)
target_link_directories(bayloom_llvm INTERFACE ${LLVM_LIBRARY_DIRS})
