// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "bayloom/search/scenario.h"
#include "bayloom/search/study.h"

namespace bayloom::search {

/// The tuner's side of the conversation that programs have with HyperMapper and BaCO in their
/// `client-server` mode, so that these programs can be tuned as they are:
///
///     Request 2                 tuner: so many configurations
///     tile,order                tuner: the parameters' names
///     4,(0, 1, 2)               tuner: one line each
///     16,(2, 1, 0)
///     tile,order,runtime,Valid  client: names in any order; parameters may be left out
///     4,(0, 1, 2),1.5,True      client: one line each, in the order of the request
///     16,(2, 1, 0),0,False
///     ...
///     End of HyperMapper        tuner: the budget is used up
///
/// The initial random samples are one request; then one configuration is asked for at a time.
class HyperMapperServer {
 public:
  HyperMapperServer(const Scenario& scenario, Study& study);

  /// Until the budget is used up, all was tried, or the client has gone: what it answered until
  /// then is recorded. Throws InputError where its answer cannot be used.
  void Run(std::istream& in, std::ostream& out);

 private:
  std::vector<space::Configuration> Choose();
  void Request(const std::vector<space::Configuration>& configurations, std::ostream& out) const;
  /// False if the input has ended.
  bool TakeAnswers(const std::vector<space::Configuration>& configurations, std::istream& in);
  trial::Outcome OutcomeOf(const std::vector<std::string>& names,
                           const std::vector<std::string>& cells) const;
  double Elapsed() const;

  const Scenario& scenario_;
  Study& study_;
  double earlier_;  ///< seconds of earlier runs of the search
  double begun_;
};

}  // namespace bayloom::search
