// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bayloom/optimizer/optimizer.h"

namespace bayloom::optimizer {

/// Hands out what an optimizer asks for but for what is excluded (OptimizerOptions::excludes), of
/// which the optimizer is told that it failed.
class ExclusionFilter final : public Optimizer {
 public:
  ExclusionFilter(std::unique_ptr<Optimizer> inner, ExclusionTest excludes);

  std::vector<space::Configuration> Ask(int n) override;
  bool gave_up() const override { return gave_up_ || inner_->gave_up(); }
  std::vector<std::string> TakeNotices() override { return inner_->TakeNotices(); }
  void Tell(const space::Configuration& configuration, const trial::Outcome& outcome) override {
    inner_->Tell(configuration, outcome);
  }

 private:
  std::unique_ptr<Optimizer> inner_;
  ExclusionTest excludes_;
  bool gave_up_ = false;
};

}  // namespace bayloom::optimizer
