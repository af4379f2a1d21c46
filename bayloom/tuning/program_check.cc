// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/tuning/program_check.h"

#include "bayloom/measure/measurer.h"

namespace bayloom::tuning {
namespace {

measure::MeasureOptions OneRun() {
  measure::MeasureOptions options;
  options.timing = {
      .min_batch_seconds = 0, .min_total_seconds = 0, .min_batches = 1, .max_total_seconds = 0};
  options.cut_factor = 0;
  options.runner.reference_timeout_seconds = options.runner.timeout_seconds;
  return options;
}

}  // namespace

ProgramCheck::ProgramCheck(const target::Target& target)
    : measurer_(std::make_unique<measure::Measurer>(target, OneRun())) {}

ProgramCheck::~ProgramCheck() = default;

Status ProgramCheck::Check(const tensor::Workload& workload, const tensor::Program& program) {
  const tensor::Program* const programs[] = {&program};
  const trial::Outcome outcome = measurer_->Measure(workload, programs).front();
  switch (outcome.verdict) {
    case trial::Verdict::kBuildError:
      if (outcome.reason.starts_with(measure::kNoReference)) return Ok();
      return Error{outcome.reason};
    case trial::Verdict::kCrash:
    case trial::Verdict::kWrongOutput:
      return Error{outcome.reason};
    default:
      return Ok();
  }
}

}  // namespace bayloom::tuning
