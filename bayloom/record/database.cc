#include "bayloom/record/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "bayloom/base/result.h"

namespace bayloom {
namespace {

/// What a result code means, for people.
std::string Explain(sqlite3* handle, int code) {
  const int cause = handle ? sqlite3_system_errno(handle) : 0;
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return "it is not a database";
    case SQLITE_CORRUPT:
      return "the database is damaged; restore a copy, or export what can still be read";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another process keeps it locked; wait for that process or end it";
    case SQLITE_READONLY:
      return "it may not be written to; change its permissions or use another file";
    case SQLITE_FULL:
      return "the disk is full; free some space and resume";
    case SQLITE_CANTOPEN:
      return cause ? std::strerror(cause) : "it cannot be opened as a file";
    case SQLITE_IOERR:
      return fmt::format("reading or writing failed ({})",
                         cause ? std::strerror(cause) : sqlite3_errstr(code));
    default:
      return handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  }
}

}  // namespace

void Statement::Deleter::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(database.handle_.get(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) database.Fail(code);
  statement_.reset(statement);
}

Rows::~Rows() {
  sqlite3_reset(statement_.statement_.get());
  sqlite3_clear_bindings(statement_.statement_.get());
}

bool Rows::Step() {
  const int code = sqlite3_step(statement_.statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) statement_.database_->Fail(code);
  return code == SQLITE_ROW;
}

int64_t Rows::Int(int column) const {
  return sqlite3_column_int64(statement_.statement_.get(), column);
}

double Rows::Real(int column) const {
  sqlite3_stmt* statement = statement_.statement_.get();
  if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(statement, column);
}

std::string Rows::Text(int column) const {
  sqlite3_stmt* statement = statement_.statement_.get();
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  if (!text) return {};
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement, column))};
}

std::string Rows::Blob(int column) const {
  sqlite3_stmt* statement = statement_.statement_.get();
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
  if (!bytes) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement, column))};
}

void Statement::Bind(int place, int64_t value) {
  sqlite3_bind_int64(statement_.get(), place, value);
}

void Statement::Bind(int place, double value) {
  if (std::isnan(value)) {
    sqlite3_bind_null(statement_.get(), place);
  } else {
    sqlite3_bind_double(statement_.get(), place, value);
  }
}

void Statement::Bind(int place, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), place, value.data(), value.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
}

void Statement::Bind(int place, BlobView value) {
  sqlite3_bind_blob64(statement_.get(), place, value.bytes.data(), value.bytes.size(),
                      SQLITE_TRANSIENT);
}

void Database::Closer::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Database::Database(std::string path, Mode mode, double patience_seconds)
    : path_(std::move(path)), mode_(mode) {
  const int flags =
      mode == Mode::kReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path_.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) Fail(code);
  sqlite3_busy_timeout(handle, static_cast<int>(patience_seconds * 1000));
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  Execute("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON");
  if (mode == Mode::kReadOnly) return;
  // A file without write permission opens for reading only, without being asked to.
  if (sqlite3_db_readonly(handle, "main") == 1) Fail(SQLITE_READONLY);
  Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

void Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) Fail(code);
}

Statement& Database::Prepared(std::string_view sql) {
  auto known = prepared_.find(sql);
  if (known == prepared_.end()) {
    known = prepared_.emplace(sql, std::make_unique<Statement>(*this, sql)).first;
  }
  return *known->second;
}

int64_t Database::LastRowId() const { return sqlite3_last_insert_rowid(handle_.get()); }

int64_t Database::Changes() const { return sqlite3_changes64(handle_.get()); }

void Database::Fail(int code) const {
  throw InputError(fmt::format("cannot use {}: {}", path_, Explain(handle_.get(), code)));
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.Execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.Execute("ROLLBACK");
  } catch (const InputError&) {
    // A failed statement may have rolled back by itself; nothing of it was kept either way.
  }
}

void Transaction::Commit() {
  database_.Execute("COMMIT");
  open_ = false;
}

}  // namespace bayloom
