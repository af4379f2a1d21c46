// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/remote/messages.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "bayloom/base/json.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/text_limits.h"

namespace bayloom::remote {
namespace {

using Json = nlohmann::json;

constexpr const char* kHelloName = "bayloom-worker";
constexpr int kMaxSlots = 1 << 16;
constexpr size_t kMaxReasonBytes = 2000;  ///< of an outcome
constexpr size_t kMaxSaidBytes = 400;     ///< of what is a part of a line for a person
constexpr size_t kMaxValues = 64;         ///< that an outcome has beside its own

std::string InLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json OutcomeToJson(const trial::Outcome& outcome) {
  Json json = {{"verdict", std::string(trial::ToString(outcome.verdict))}};
  if (outcome.ok()) {
    json["value"] = outcome.value;
  } else {
    json["reason"] = outcome.reason;
    if (outcome.is_told) json["told"] = true;
  }
  for (const trial::NamedValue& named : outcome.values) {
    if (std::isfinite(named.value)) json["values"][named.name] = named.value;
  }
  return json;
}

Result<trial::Outcome> OutcomeFromJson(const Json& json) {
  if (!json.is_object()) return Error{"'outcome' is no object"};
  const auto verdict = json.find("verdict");
  const auto known = verdict != json.end() && verdict->is_string()
                         ? trial::ParseVerdict(verdict->get<std::string>())
                         : std::nullopt;
  if (!known) return Error{"an outcome without a verdict"};
  trial::Outcome outcome;
  outcome.verdict = *known;
  if (outcome.ok()) {
    const auto value = json.find("value");
    if (value == json.end() || !value->is_number() || !std::isfinite(value->get<double>())) {
      return Error{"an outcome without a value"};
    }
    outcome.value = value->get<double>();
  } else {
    const auto reason = json.find("reason");
    if (reason == json.end() || !reason->is_string()) return Error{"an outcome without a reason"};
    outcome.reason = base::SingleLine(reason->get<std::string>(), kMaxReasonBytes);
    const auto told = json.find("told");
    outcome.is_told = told != json.end() && *told == true;
  }
  if (const auto values = json.find("values"); values != json.end()) {
    if (!values->is_object()) return Error{"'values' is no object"};
    if (values->size() > kMaxValues) return Error{"'values' holds more than 64"};
    for (const auto& [name, number] : values->items()) {
      if (name.empty() || base::SingleLine(name, base::kMaxNameBytes) != name) {
        return Error{"'values' has a name that is no plain text of at most 200 bytes"};
      }
      if (!number.is_number() || !std::isfinite(number.get<double>())) {
        return Error{"'values' holds what is no number"};
      }
      outcome.Set(name, number.get<double>());
    }
  }
  return outcome;
}

/// With the note that it has, if any.
Json WithNote(Json json, const Report& report) {
  if (!report.note.empty()) json["note"] = report.note;
  return json;
}

/// A message as a JSON object, whose members are asked for by kind.
class Reader {
 public:
  static Result<Reader> Of(std::string_view line) {
    if (line.size() > kMaxMessageBytes) return Error{"a line of more than 64 MiB"};
    Result<Json> json = base::ParseJson(line);
    if (!json) return Error{"expected a JSON object: " + json.error().message};
    if (!json->is_object()) return Error{"expected a JSON object"};
    return Reader(*std::move(json));
  }

  bool Has(const char* name) const { return json_.contains(name); }
  Json Take(const char* name) {
    const auto place = json_.find(name);
    return place == json_.end() ? Json() : std::move(*place);
  }
  /// A whole number from `from` on.
  Result<int64_t> Number(const char* name, int64_t from, int64_t to) const {
    const auto place = json_.find(name);
    const bool fits =
        place != json_.end() && place->is_number_integer() &&
        !(place->is_number_unsigned() && place->get<uint64_t>() > static_cast<uint64_t>(to)) &&
        place->get<int64_t>() >= from && place->get<int64_t>() <= to;
    if (!fits) {
      return Error{"'" + std::string(name) + "' is a whole number from " + std::to_string(from) +
                   " to " + std::to_string(to)};
    }
    return place->get<int64_t>();
  }
  Result<int64_t> Id(const char* name) const {
    return Number(name, 1, std::numeric_limits<int64_t>::max());
  }
  Result<std::string> Text(const char* name) const {
    const auto place = json_.find(name);
    if (place == json_.end() || !place->is_string()) {
      return Error{"'" + std::string(name) + "' is a text"};
    }
    return base::SingleLine(place->get<std::string>(), kMaxSaidBytes);
  }
  /// What is compared, and so not cut.
  Result<std::string> Name(const char* name) const {
    const auto place = json_.find(name);
    if (place == json_.end() || !place->is_string() ||
        place->get_ref<const std::string&>().size() > base::kMaxNameBytes) {
      return Error{fmt::format("'{}' is a text of at most {} bytes", name, base::kMaxNameBytes)};
    }
    return base::SingleLine(place->get<std::string>(), kMaxSaidBytes);
  }
  /// Absent: empty.
  Result<std::string> Note() const { return Has("note") ? Text("note") : std::string(); }
  /// Absent: `otherwise`.
  Result<bool> Flag(const char* name, bool otherwise) const {
    const auto place = json_.find(name);
    if (place == json_.end()) return otherwise;
    if (!place->is_boolean()) return Error{"'" + std::string(name) + "' is true or false"};
    return place->get<bool>();
  }

 private:
  explicit Reader(Json json) : json_(std::move(json)) {}
  Json json_;
};

Result<Report> ReadHello(Reader& reader) {
  Report report;
  report.kind = Report::Kind::kHello;
  const Result<std::string> name = reader.Text("hello");
  if (!name || *name != kHelloName) return Error{"no greeting of a worker"};
  const auto protocol = reader.Number("protocol", 1, 1 << 20);
  if (!protocol) return protocol.error();
  report.protocol = static_cast<int>(*protocol);
  Result<std::string> version = reader.Name("version");
  if (!version) return version.error();
  report.version = *std::move(version);
  Result<std::string> identity = reader.Name("identity");
  if (!identity) return identity.error();
  report.identity = *std::move(identity);
  const Result<bool> compiles = reader.Flag("compiles", true);
  if (!compiles) return compiles.error();
  report.compiles = *compiles;
  report.body = reader.Take("target");
  return report;
}

Result<Report> ReadOfLease(Reader& reader) {
  Report report;
  const Result<int64_t> lease = reader.Id("lease");
  if (!lease) return lease.error();
  report.lease = *lease;
  Result<std::string> note = reader.Note();
  if (!note) return note.error();
  report.note = *std::move(note);
  if (reader.Has("lost")) {
    report.kind = Report::Kind::kLost;
    Result<std::string> why = reader.Text("lost");
    if (!why) return why.error();
    report.text = *std::move(why);
    return report;
  }
  report.kind = Report::Kind::kOutcome;
  Result<trial::Outcome> outcome = OutcomeFromJson(reader.Take("outcome"));
  if (!outcome) return outcome.error();
  report.outcome = *std::move(outcome);
  return report;
}

}  // namespace

std::string ToLine(const Request& request) {
  switch (request.kind) {
    case Request::Kind::kSubject:
      return InLine({{"subject", request.subject}, {"definition", request.body}});
    case Request::Kind::kTrial: {
      Json json = {
          {"lease", request.lease}, {"subject", request.subject}, {"candidate", request.body}};
      if (request.is_repeat) json["repeat"] = true;
      return InLine(json);
    }
    case Request::Kind::kMachine:
      return InLine({{"measure", "machine"}});
    case Request::Kind::kCancel:
      break;
  }
  return InLine({{"cancel", true}});
}

std::string ToLine(const Report& report) {
  switch (report.kind) {
    case Report::Kind::kHello: {
      Json json = {{"hello", kHelloName},
                   {"protocol", kProtocolVersion},
                   {"version", report.version},
                   {"identity", report.identity},
                   {"target", report.body}};
      if (!report.compiles) json["compiles"] = false;
      return InLine(json);
    }
    case Report::Kind::kSubject:
      return InLine({{"subject", report.subject}, {"slots", report.slots}});
    case Report::Kind::kOutcome:
      return InLine(
          WithNote({{"lease", report.lease}, {"outcome", OutcomeToJson(report.outcome)}}, report));
    case Report::Kind::kLost:
      return InLine(WithNote({{"lease", report.lease}, {"lost", report.text}}, report));
    case Report::Kind::kMachine:
      return InLine(WithNote({{"machine", report.body}}, report));
    case Report::Kind::kError: {
      Json json = {{"error", report.text}};
      if (report.subject > 0) json["subject"] = report.subject;
      return InLine(json);
    }
    case Report::Kind::kAlive:
      break;
  }
  return InLine({{"alive", true}});
}

Result<Request> ReadRequest(std::string_view line) {
  Result<Reader> reader = Reader::Of(line);
  if (!reader) return reader.error();
  Request request;
  if (reader->Has("cancel")) return request;
  if (reader->Has("measure")) {
    const Result<std::string> what = reader->Text("measure");
    if (!what || *what != "machine") return Error{"'measure' is \"machine\""};
    request.kind = Request::Kind::kMachine;
    return request;
  }
  if (!reader->Has("subject")) {
    return Error{"expected 'subject', 'lease', 'measure' or 'cancel'"};
  }
  const Result<int64_t> subject = reader->Id("subject");
  if (!subject) return subject.error();
  request.subject = *subject;
  if (!reader->Has("lease")) {
    request.kind = Request::Kind::kSubject;
    request.body = reader->Take("definition");
    return request;
  }
  request.kind = Request::Kind::kTrial;
  const Result<int64_t> lease = reader->Id("lease");
  if (!lease) return lease.error();
  request.lease = *lease;
  const Result<bool> repeat = reader->Flag("repeat", false);
  if (!repeat) return repeat.error();
  request.is_repeat = *repeat;
  request.body = reader->Take("candidate");
  return request;
}

Result<Report> ReadReport(std::string_view line) {
  Result<Reader> reader = Reader::Of(line);
  if (!reader) return reader.error();
  if (reader->Has("hello")) return ReadHello(*reader);
  if (reader->Has("lease")) return ReadOfLease(*reader);
  Report report;
  if (reader->Has("alive")) return report;
  if (reader->Has("machine")) {
    report.kind = Report::Kind::kMachine;
    report.body = reader->Take("machine");
    Result<std::string> note = reader->Note();
    if (!note) return note.error();
    report.note = *std::move(note);
    return report;
  }
  if (reader->Has("subject")) {
    const Result<int64_t> subject = reader->Id("subject");
    if (!subject) return subject.error();
    report.subject = *subject;
  }
  if (reader->Has("error")) {
    report.kind = Report::Kind::kError;
    Result<std::string> text = reader->Text("error");
    if (!text) return text.error();
    report.text = *std::move(text);
    return report;
  }
  const Result<int64_t> slots = reader->Number("slots", 1, kMaxSlots);
  if (report.subject == 0 || !slots) {
    return Error{"expected 'alive', 'subject' with 'slots', 'lease', 'machine' or 'error'"};
  }
  report.kind = Report::Kind::kSubject;
  report.slots = static_cast<int>(*slots);
  return report;
}

}  // namespace bayloom::remote
