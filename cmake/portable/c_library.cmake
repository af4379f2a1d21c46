# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# bayloom_c_library: programs and shared libraries that link to it run with version 2.28 of the C library and
# later ones, and have the libraries of C++ inside.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(bayloom_c_library_folder ${PROJECT_BINARY_DIR}/c_library)
execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_LIST_DIR}/older_c_library.py 2.28 ${bayloom_c_library_folder})

add_library(bayloom_newer_functions STATIC ${CMAKE_CURRENT_LIST_DIR}/newer_functions.c)
target_compile_options(bayloom_newer_functions PRIVATE -fvisibility=hidden -ffunction-sections)
target_link_libraries(bayloom_newer_functions PRIVATE bayloom_build_flags)

add_library(bayloom_c_library INTERFACE)
target_link_libraries(bayloom_c_library INTERFACE bayloom_newer_functions)
target_link_options(bayloom_c_library INTERFACE -L${bayloom_c_library_folder}
  -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--wrap=__libc_start_main
  # Until 2.34 these had parts of the library.
  "SHELL:-Wl,--no-as-needed -lpthread -ldl -lrt -Wl,--as-needed")
