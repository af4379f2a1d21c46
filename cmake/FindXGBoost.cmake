# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Finds XGBoost without its own CMake files, which insist on a command-line program that Debian
# does not ship. Gives the target xgboost::xgboost.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h)
find_library(XGBOOST_LIBRARY xgboost)
mark_as_advanced(XGBOOST_INCLUDE_DIR XGBOOST_LIBRARY)

if(XGBOOST_INCLUDE_DIR)
  file(STRINGS ${XGBOOST_INCLUDE_DIR}/xgboost/version_config.h lines REGEX "XGBOOST_VER_M")
  string(REGEX REPLACE ".*MAJOR ([0-9]+).*MINOR ([0-9]+).*" "\\1.\\2" XGBoost_VERSION "${lines}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XGBoost
  REQUIRED_VARS XGBOOST_LIBRARY XGBOOST_INCLUDE_DIR VERSION_VAR XGBoost_VERSION)
if(XGBoost_FOUND AND NOT TARGET xgboost::xgboost)
  add_library(xgboost::xgboost INTERFACE IMPORTED)
  target_include_directories(xgboost::xgboost INTERFACE ${XGBOOST_INCLUDE_DIR})
  target_link_libraries(xgboost::xgboost INTERFACE ${XGBOOST_LIBRARY})
endif()
