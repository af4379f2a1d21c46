#pragma once

#include <Eigen/Core>

namespace bayloom {

/// How an objective enters a model.
enum class ObjectiveScale {
  kLinear,
  kLog,   ///< its logarithm, where all values are positive; else as kLinear
  kAuto,  ///< whichever of the two explains the observations better
};

/// Makes observations standard: an optional logarithm, then mean 0 and standard deviation 1.
class Standardizer {
 public:
  Standardizer() = default;
  /// Fits to `values`. A constant objective is only shifted. `log` needs positive values.
  Standardizer(const Eigen::VectorXd& values, bool log);

  bool log() const { return log_; }
  double Apply(double value) const;
  Eigen::VectorXd Apply(const Eigen::VectorXd& values) const;
  double Invert(double standard) const;

  /// Sum over `values` of the logarithm of dApply/dvalue: what makes densities of standardized
  /// values comparable between scales.
  double LogJacobian(const Eigen::VectorXd& values) const;

 private:
  bool log_ = false;
  double centre_ = 0;
  double spread_ = 1;
};

}  // namespace bayloom
