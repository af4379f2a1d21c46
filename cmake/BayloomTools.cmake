# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

# Targets that look after the source: format, format-check, tidy.
add_custom_target(format
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/format
  COMMENT "Formatting the sources" VERBATIM USES_TERMINAL)
add_custom_target(format-check
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/format --check
  COMMENT "Checking the format of the sources" VERBATIM USES_TERMINAL)
add_custom_target(tidy
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/tidy ${PROJECT_BINARY_DIR}
  COMMENT "Running clang-tidy and cppcheck" VERBATIM USES_TERMINAL)
