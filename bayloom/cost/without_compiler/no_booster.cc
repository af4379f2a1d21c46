// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

// What stands for XGBoost in a build without the compiler, whose commands train no cost model.

#include <stdexcept>
#include <string>

#include "bayloom/cost/booster.h"

namespace bayloom::cost {
namespace {

[[noreturn]] void Refuse() { throw std::runtime_error("this build has no cost models of trees"); }

}  // namespace

Booster::Booster(const DenseRows&, const Parameters&) { Refuse(); }
Booster::Booster(std::string_view, const Parameters&) { Refuse(); }
void Booster::SetTrainingData(const DenseRows&) { Refuse(); }
std::span<const float> Booster::TrainingPredictions() const { Refuse(); }
void Booster::Boost(std::span<float>, std::span<float>) { Refuse(); }
void Booster::Truncate(int) { Refuse(); }
int Booster::rounds() const { Refuse(); }
std::vector<float> Booster::Predict(const DenseRows&) const { Refuse(); }
std::vector<double> Booster::ColumnGains(int) const { Refuse(); }
std::string Booster::Attribute(const std::string&) const { Refuse(); }
void Booster::SetAttribute(const std::string&, const std::string&) { Refuse(); }
std::string Booster::Save() const { Refuse(); }

}  // namespace bayloom::cost
