# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# What the program links compiled networks with, for each architecture that a compiler is here for:
# the runtime as one relocatable object, and for each library of the C library a shared library with
# its functions' names and versions (codegen/runtime/c_library.txt) and no code. They become part of a
# target as `extern "C" const char NAME_ARCHITECTURE[]` and `NAME_ARCHITECTURE_size`; empty for other
# architectures.
#
#   bayloom_embed_runtime(bayloom_codegen SOURCES codegen/runtime/bayloom_cpu.c ...)
set(BAYLOOM_C_LIBRARIES libc libm libpthread libdl ld)
set(BAYLOOM_SONAME_libc libc.so.6)
set(BAYLOOM_SONAME_libm libm.so.6)
set(BAYLOOM_SONAME_libpthread libpthread.so.0)
set(BAYLOOM_SONAME_libdl libdl.so.2)

# The bytes of the file as constants; of an empty name, none.
function(bayloom_embed_bytes target symbol file)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.c)
  set(incbin)
  if(file)
    set(incbin "\"  .incbin \\\"${file}\\\"\\n\"")
    set_source_files_properties(${generated} PROPERTIES OBJECT_DEPENDS ${file})
  endif()
  set_source_files_properties(${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  file(CONFIGURE OUTPUT ${generated} @ONLY CONTENT
"__asm__(\"  .section .rodata\\n  .balign 16\\n  .globl @symbol@\\n@symbol@:\\n\"
        @incbin@
        \"@symbol@_end:\\n  .balign 8\\n  .globl @symbol@_size\\n@symbol@_size:\\n\"
        \"  .quad @symbol@_end - @symbol@\\n  .text\\n\");
extern const char @symbol@[];
")
  target_sources(${target} PRIVATE ${generated})
endfunction()

# Makes what stands for a library when networks are linked; its path.
function(bayloom_c_library_stub architecture library compiler folder result)
  file(STRINGS ${PROJECT_SOURCE_DIR}/bayloom/codegen/runtime/c_library.txt lines REGEX "^${library} ")
  set(soname ${BAYLOOM_SONAME_${library}})
  if(library STREQUAL ld)
    set(soname ld-linux-x86-64.so.2)
    if(architecture STREQUAL aarch64)
      set(soname ld-linux-aarch64.so.1)
    endif()
  endif()
  set(versions)
  set(assembly "  .text\n")
  foreach(line IN LISTS lines)
    string(REPLACE " " ";" words "${line}")
    list(POP_FRONT words name version)
    if(architecture STREQUAL aarch64 AND version VERSION_LESS 2.17)
      set(version 2.17)
    endif()
    if(NOT version IN_LIST versions)
      list(APPEND versions ${version})
    endif()
    list(JOIN words "; " functions)
    string(APPEND functions_${version} " ${functions};")
    foreach(function IN LISTS words)
      string(APPEND assembly "  .globl ${function}\n  .type ${function}, %function\n${function}:\n")
    endforeach()
  endforeach()
  string(APPEND assembly "  .byte 0\n  .section .note.GNU-stack,\"\",%progbits\n")
  list(SORT versions COMPARE NATURAL)
  set(script)
  set(before)
  foreach(version IN LISTS versions)
    string(APPEND script "GLIBC_${version} { global:${functions_${version}} }${before};\n")
    set(before " GLIBC_${version}")
  endforeach()
  string(APPEND script "BAYLOOM_NONE { local: *; };\n")
  file(CONFIGURE OUTPUT ${folder}/${library}.s @ONLY CONTENT "@assembly@")
  file(CONFIGURE OUTPUT ${folder}/${library}.map @ONLY CONTENT "@script@")
  set(stub ${folder}/${library}.so)
  add_custom_command(OUTPUT ${stub}
    COMMAND ${compiler} -shared -nostdlib -Wl,-soname,${soname} -Wl,--version-script,${library}.map
      -o ${stub} ${library}.s
    DEPENDS ${folder}/${library}.s ${folder}/${library}.map WORKING_DIRECTORY ${folder} VERBATIM)
  set(${result} ${stub} PARENT_SCOPE)
endfunction()

function(bayloom_embed_runtime target)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/bayloom/codegen/runtime/c_library.txt)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  foreach(architecture IN ITEMS x86_64 aarch64)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/runtime/${architecture})
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL architecture)
      set(compiler ${CMAKE_C_COMPILER})
    else()
      find_program(BAYLOOM_COMPILER_FOR_${architecture} ${architecture}-linux-gnu-gcc)
      set(compiler ${BAYLOOM_COMPILER_FOR_${architecture}})
    endif()
    # The code around kernels runs on every processor of the kind: it says which lack something.
    set(flags -march=x86-64 -mtune=generic)
    set(helpers -Wl,-u,__extendhfsf2 -Wl,-u,__truncsfhf2 -Wl,-u,__truncdfhf2)
    if(architecture STREQUAL aarch64)
      set(flags -march=armv8-a -mno-outline-atomics)
      set(helpers)
    endif()
    set(runtime)
    set(objects)
    if(compiler)
      foreach(source IN LISTS ARG_SOURCES)
        cmake_path(GET source STEM name)
        set(object ${folder}/${name}.o)
        add_custom_command(OUTPUT ${object}
          COMMAND ${compiler} -O3 -fPIC -std=gnu11 -pthread -ffunction-sections -fdata-sections ${flags}
            -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
          DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source} DEPFILE ${object}.d VERBATIM)
        list(APPEND objects ${object})
      endforeach()
      set(runtime ${folder}/joined.o)
      # What compilers call by themselves, such as conversions of float16, comes with them.
      add_custom_command(OUTPUT ${runtime}
        COMMAND ${compiler} -r -nostdlib ${helpers} -o ${runtime} ${objects} -lgcc
        DEPENDS ${objects} VERBATIM)
    endif()
    file(MAKE_DIRECTORY ${folder})
    bayloom_embed_bytes(${target} bayloom_runtime_${architecture} "${runtime}")
    foreach(library IN LISTS BAYLOOM_C_LIBRARIES)
      set(stub)
      if(compiler)
        bayloom_c_library_stub(${architecture} ${library} ${compiler} ${folder} stub)
      endif()
      bayloom_embed_bytes(${target} bayloom_${library}_${architecture} "${stub}")
    endforeach()
  endforeach()
endfunction()
