# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Finds libevent, which Debian ships without CMake files. Gives the target Libevent::event: the event
# loop and the HTTP server, without TLS.
find_path(LIBEVENT_INCLUDE_DIR event2/http.h)
find_library(LIBEVENT_LIBRARY event)
mark_as_advanced(LIBEVENT_INCLUDE_DIR LIBEVENT_LIBRARY)

if(LIBEVENT_INCLUDE_DIR)
  file(GLOB_RECURSE config ${LIBEVENT_INCLUDE_DIR}/event2/event-config.h
    ${LIBEVENT_INCLUDE_DIR}/${CMAKE_LIBRARY_ARCHITECTURE}/event2/event-config.h)
  foreach(file IN LISTS config)
    file(STRINGS ${file} lines REGEX "define EVENT__VERSION ")
    string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" Libevent_VERSION "${lines}")
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libevent
  REQUIRED_VARS LIBEVENT_LIBRARY LIBEVENT_INCLUDE_DIR VERSION_VAR Libevent_VERSION)
if(Libevent_FOUND AND NOT TARGET Libevent::event)
  add_library(Libevent::event INTERFACE IMPORTED)
  target_include_directories(Libevent::event INTERFACE ${LIBEVENT_INCLUDE_DIR})
  target_link_libraries(Libevent::event INTERFACE ${LIBEVENT_LIBRARY})
endif()
