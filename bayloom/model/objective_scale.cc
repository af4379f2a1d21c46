#include "bayloom/model/objective_scale.h"

#include <cmath>

namespace bayloom {

Standardizer::Standardizer(const Eigen::VectorXd& values, bool log) : log_(log) {
  const Eigen::ArrayXd scaled = log ? values.array().log().eval() : values.array().eval();
  centre_ = scaled.mean();
  const double spread = std::sqrt((scaled - centre_).square().mean());
  // What is left of a constant objective is rounding.
  if (spread > 1e-12 * (1 + std::abs(centre_))) spread_ = spread;
}

double Standardizer::Apply(double value) const {
  return ((log_ ? std::log(value) : value) - centre_) / spread_;
}

Eigen::VectorXd Standardizer::Apply(const Eigen::VectorXd& values) const {
  return values.unaryExpr([this](double value) { return Apply(value); });
}

double Standardizer::Invert(double standard) const {
  const double scaled = centre_ + spread_ * standard;
  return log_ ? std::exp(scaled) : scaled;
}

double Standardizer::LogJacobian(const Eigen::VectorXd& values) const {
  const double logs = log_ ? values.array().log().sum() : 0;
  return -logs - static_cast<double>(values.size()) * std::log(spread_);
}

}  // namespace bayloom
