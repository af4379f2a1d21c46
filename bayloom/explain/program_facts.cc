// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/explain/program_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "bayloom/feature/code_estimate.h"
#include "bayloom/feature/program_features.h"
#include "bayloom/feature/time_estimate.h"
#include "bayloom/report/format.h"

namespace bayloom::explain {
namespace {

/// Ratios within this factor of 1 are not worth a word.
constexpr double kNoticeable = 1.2;

/// The row of a program's store that does most of its arithmetic.
std::span<const float> MainRow(const feature::FeatureMatrix& features) {
  const auto work = [&](int row) { return features.Row(row)[feature::kIterationsColumn]; };
  int main = 0;
  for (int row = 1; row < features.rows; ++row) {
    if (work(row) > work(main)) main = row;
  }
  return features.Row(main);
}

/// Features count on a logarithmic scale, log2(x + 1).
double Count(float feature) { return std::round(std::exp2(static_cast<double>(feature)) - 1); }

/// "3.1 times fewer cache lines" and similar, where the two differ noticeably.
void AddRatio(double mine, double theirs, std::string_view more, std::string_view fewer,
              std::vector<std::string>& phrases) {
  if (mine <= 0 || theirs <= 0) return;
  const double ratio = mine / theirs;
  if (ratio >= kNoticeable) phrases.push_back(fmt::format(fmt::runtime(more), ratio));
  if (ratio <= 1 / kNoticeable) phrases.push_back(fmt::format(fmt::runtime(fewer), 1 / ratio));
}

/// "runs 24 iterations in parallel instead of 8".
void AddCounts(double mine, double theirs, std::string_view what, std::string_view none,
               std::vector<std::string>& phrases) {
  if (mine == theirs) return;
  const std::string mine_text = report::FormatCount(static_cast<int64_t>(mine));
  const std::string their_text = report::FormatCount(static_cast<int64_t>(theirs));
  if (mine <= 1) {
    phrases.push_back(fmt::format("{} (the other: {})", none, their_text));
  } else {
    phrases.push_back(
        fmt::format(fmt::runtime(what), mine_text) +
        (theirs <= 1 ? " (the other: none)" : fmt::format(" (the other: {})", their_text)));
  }
}

}  // namespace

nlohmann::json ToJson(const ProgramFacts& facts) {
  return {{"iterations", facts.iterations},
          {"parallel", facts.parallel},
          {"vectorized", facts.vectorized},
          {"unrolled", facts.unrolled},
          {"unroll_limit", facts.unroll_limit},
          {"cache_lines", facts.cache_lines},
          {"distinct_cache_lines", facts.distinct_cache_lines},
          {"flops_per_byte", facts.flops_per_byte}};
}

ProgramFacts FactsOf(const tensor::Program& program, const target::Target& target) {
  ProgramFacts facts;
  facts.estimate = feature::EstimateTime(program, target);
  facts.code_estimate = feature::EstimateCodeTime(program, target);
  const feature::FeatureMatrix features = feature::ExtractFeatures(program);
  if (features.rows == 0) return facts;
  const std::span<const float> row = MainRow(features);
  const auto product = [&](int column) { return Count(row[column + feature::kAnnotatedProduct]); };
  facts.iterations = Count(row[feature::kIterationsColumn]);
  facts.parallel = product(feature::kParallelColumn);
  facts.vectorized = product(feature::kVectorizedColumn);
  facts.unrolled = product(feature::kUnrolledColumn);
  facts.unroll_limit = Count(row[feature::kAutoUnrollColumn]);
  for (int buffer = 0; buffer < feature::kDescribedBuffers; ++buffer) {
    using feature::BufferFeature;
    facts.cache_lines += Count(row[feature::BufferColumnOf(buffer, BufferFeature::kLines)]);
    facts.distinct_cache_lines +=
        Count(row[feature::BufferColumnOf(buffer, BufferFeature::kUniqueLines)]);
  }
  const int last_intensity = feature::kIntensityColumn + feature::kIntensitySamples - 1;
  facts.flops_per_byte = std::exp2(static_cast<double>(row[last_intensity])) - 1;
  return facts;
}

std::vector<std::string> Differences(const ProgramFacts& facts, const ProgramFacts& others) {
  std::vector<std::string> phrases;
  AddCounts(facts.parallel, others.parallel, "runs {} iterations in parallel",
            "runs nothing in parallel", phrases);
  AddCounts(facts.vectorized, others.vectorized, "computes {} elements in vectors",
            "uses no vectors", phrases);
  AddRatio(facts.cache_lines, others.cache_lines, "touches {:.1f} times as many cache lines",
           "touches {:.1f} times fewer cache lines", phrases);
  AddRatio(facts.iterations, others.iterations, "does {:.1f} times as many steps in its main loops",
           "does {:.1f} times fewer steps in its main loops", phrases);
  AddCounts(facts.unrolled, others.unrolled, "unrolls {} iterations", "unrolls nothing", phrases);
  AddRatio(facts.code_estimate, others.code_estimate,
           "is expected by the estimate to take {:.1f} times as long",
           "is expected by the estimate to be {:.1f} times as fast", phrases);
  return phrases;
}

std::vector<std::string> Techniques(const tensor::Trace& trace, const tensor::Program& program) {
  using tensor::InstructionKind;
  std::vector<std::string> phrases;
  const auto add = [&](std::string phrase) {
    if (std::ranges::count(phrases, phrase) == 0) phrases.push_back(std::move(phrase));
  };
  for (const tensor::Instruction& step : trace.instructions()) {
    switch (step.kind) {
      case InstructionKind::kTensorize:
        add("dot-product instructions");
        break;
      case InstructionKind::kWinograd:
        add(fmt::format("Winograd's algorithm with tiles of {0} x {0}", step.attributes.at(0)));
        break;
      case InstructionKind::kRFactor:
        add("a sum split into partial sums");
        break;
      case InstructionKind::kSplitOverlapping:
        add("tiles that overlap at the end of an axis");
        break;
      case InstructionKind::kCacheRead:
        add("a copy of an input near to where it is used");
        break;
      case InstructionKind::kCacheWrite:
        add("results gathered before they are written");
        break;
      case InstructionKind::kComputeInline:
      case InstructionKind::kReverseComputeInline:
        add("stages joined into their readers");
        break;
      default:
        break;
    }
  }
  const auto is_packed = [](const tensor::Buffer& buffer) { return !buffer.layout.empty(); };
  if (std::ranges::any_of(program.buffers, is_packed)) {
    add("constants packed in the order in which they are read");
  }
  return phrases;
}

}  // namespace bayloom::explain
