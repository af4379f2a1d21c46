// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/feature/feature_columns.h"

#include <array>
#include <string_view>

namespace bayloom::feature {
namespace {

constexpr std::array<std::string_view, 16> kOpNames = {
    "float_mad",   "float_addsub", "float_mul",  "float_divmod", "float_compare", "float_math",
    "float_other", "int_mad",      "int_addsub", "int_mul",      "int_divmod",    "int_compare",
    "int_math",    "int_other",    "bool",       "select"};
constexpr std::array<std::string_view, 11> kAnnotatedNames = {"count",
                                                              "product",
                                                              "innermost",
                                                              "at_none",
                                                              "at_inner_spatial",
                                                              "at_middle_spatial",
                                                              "at_outer_spatial",
                                                              "at_inner_reduction",
                                                              "at_middle_reduction",
                                                              "at_outer_reduction",
                                                              "at_mixed"};
constexpr std::array<std::string_view, 8> kAcceleratorNames = {
    "accelerator", "block_x",  "block_y",  "block_z",
    "thread_x",    "thread_y", "thread_z", "virtual_thread"};
constexpr std::array<std::string_view, 18> kBufferNames = {"read",
                                                           "write",
                                                           "read_write",
                                                           "bytes",
                                                           "unique_bytes",
                                                           "lines",
                                                           "unique_lines",
                                                           "loop_reuse",
                                                           "serial_reuse",
                                                           "no_reuse",
                                                           "reuse_iterations",
                                                           "reuse_bytes",
                                                           "reuse_count",
                                                           "bytes_per_reuse",
                                                           "unique_bytes_per_reuse",
                                                           "lines_per_reuse",
                                                           "unique_lines_per_reuse",
                                                           "stride"};
constexpr std::array<std::string_view, 4> kAllocationNames = {
    "bytes", "elements_times_outside", "iterations_outside", "iterations_inside"};
constexpr std::array<std::string_view, 3> kNestNames = {"iterations", "loops", "auto_unroll"};

std::string Qualified(std::string_view group, std::string_view name) {
  return std::string(group) + "." + std::string(name);
}

}  // namespace

std::string FeatureColumnName(int column) {
  if (column < kVectorizedColumn) return std::string(kOpNames[column]);
  if (column < kUnrolledColumn)
    return Qualified("vectorized", kAnnotatedNames[column - kVectorizedColumn]);
  if (column < kParallelColumn)
    return Qualified("unrolled", kAnnotatedNames[column - kUnrolledColumn]);
  if (column < kAcceleratorColumn)
    return Qualified("parallel", kAnnotatedNames[column - kParallelColumn]);
  if (column < kBufferColumn) return std::string(kAcceleratorNames[column - kAcceleratorColumn]);
  if (column < kIntensityColumn) {
    const int offset = column - kBufferColumn;
    return Qualified("buffer" + std::to_string(offset / kBufferColumns),
                     kBufferNames[offset % kBufferColumns]);
  }
  if (column < kAllocationColumn)
    return "intensity." + std::to_string(10 * (column - kIntensityColumn + 1));
  if (column < kIterationsColumn)
    return Qualified("allocation", kAllocationNames[column - kAllocationColumn]);
  return std::string(kNestNames[column - kIterationsColumn]);
}

}  // namespace bayloom::feature
