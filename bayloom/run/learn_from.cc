// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/run/learn_from.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "bayloom/base/option_error.h"

namespace bayloom::run {

LearnFrom LearnFrom::Parse(std::span<const std::string> words) {
  LearnFrom sources;
  for (const std::string& word : words) {
    if (word.empty()) throw OptionError("learn-from", "the name of a file is empty");
    if (word == "earlier") {
      sources.earlier = true;
    } else if (word == "store") {
      sources.store = true;
    } else if (word != "off") {
      sources.files.push_back(word);
    } else if (words.size() > 1) {
      throw OptionError("learn-from", "'off' stands alone");
    }
  }
  return sources;
}

std::vector<std::string> LearnFrom::Words() const {
  std::vector<std::string> words;
  if (earlier) words.emplace_back("earlier");
  if (store) words.emplace_back("store");
  words.insert(words.end(), files.begin(), files.end());
  if (words.empty()) words.emplace_back("off");
  return words;
}

std::string LearnFrom::Text() const { return fmt::format("{}", fmt::join(Words(), ", ")); }

std::vector<std::string> LearnFrom::FilesWith(const std::string& own) const {
  if (store) {
    throw OptionError(
        "learn-from",
        "'store' is what programs are tuned with; name the databases of earlier runs");
  }
  std::vector<std::string> all = files;
  if (!earlier) return all;
  if (own.empty()) {
    throw OptionError("learn-from", "'earlier' means the run's own database, and it has none");
  }
  std::error_code none;
  if (std::filesystem::exists(own, none)) all.push_back(own);
  return all;
}

}  // namespace bayloom::run
