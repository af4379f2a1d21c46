// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/record/database.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <utility>

#include "bayloom/base/clock.h"
#include "bayloom/base/file.h"
#include "bayloom/base/path_error.h"
#include "bayloom/base/result.h"
#include "bayloom/base/scratch_folder.h"
#include "bayloom/base/single_line.h"
#include "bayloom/base/stop_flag.h"
#include "bayloom/base/system_error.h"

namespace bayloom::record {
namespace {

/// "; files may have at most 512000 bytes ('ulimit -f')"; empty where they may have any size.
std::string SizeLimit() {
  rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  getrlimit(RLIMIT_FSIZE, &limit);
  return limit.rlim_cur == RLIM_INFINITY
             ? ""
             : fmt::format("; files may have at most {} bytes ('ulimit -f')", limit.rlim_cur);
}

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
      return fmt::format("reading or writing failed ({}{})",
                         cause ? std::strerror(cause) : sqlite3_errstr(code), SizeLimit());
    default:
      return base::SingleLine(handle ? sqlite3_errmsg(handle) : sqlite3_errstr(code), 200);
  }
}

/// Whether the machine failed, and not the file.
bool IsSystemFailure(sqlite3* handle, int code) {
  const int cause = handle ? sqlite3_system_errno(handle) : 0;
  switch (code & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return true;
    case SQLITE_CANTOPEN:
      return cause == EMFILE || cause == ENFILE || cause == ENOMEM || cause == ENOSPC;
    default:
      return false;
  }
}

bool IsWritable(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return eaccess(path.c_str(), W_OK) == 0 &&
         eaccess(folder.empty() ? "." : folder.c_str(), W_OK) == 0;
}

/// Whether a failure to read is one of writing the log's files, and not of the database.
bool IsAboutWriting(int code) {
  const int kind = code & 0xff;
  return kind == SQLITE_READONLY || kind == SQLITE_CANTOPEN || kind == SQLITE_FULL ||
         kind == SQLITE_IOERR || kind == SQLITE_PERM;
}

std::string LogOf(const std::string& path) { return path + "-wal"; }

/// What changes when a file or its log is written; empty log and no log are the same.
struct FileState {
  uintmax_t size = 0, log_size = 0;
  std::filesystem::file_time_type written = {}, log_written = {};

  bool operator==(const FileState&) const = default;

  static FileState Of(const std::string& path) {
    std::error_code error;
    FileState state;
    state.size = std::filesystem::file_size(path, error);
    state.written = std::filesystem::last_write_time(path, error);
    const uintmax_t log_size = std::filesystem::file_size(LogOf(path), error);
    if (error || log_size == 0) return state;
    state.log_size = log_size;
    state.log_written = std::filesystem::last_write_time(LogOf(path), error);
    return state;
  }
};

std::mutex lock_observer_mutex;
LockObserver lock_observer;

LockObserver CurrentLockObserver() {
  const std::lock_guard lock(lock_observer_mutex);
  return lock_observer;
}

/// The URI of a file that no process changes: it is read without locks and without a log.
std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '.' || c == '-' || c == '_';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

void CallTextOf(sqlite3_context* context, int, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
  const auto text_of = reinterpret_cast<std::string (*)(double)>(sqlite3_user_data(context));
  const std::string text = text_of(sqlite3_value_double(arguments[0]));
  if (text.empty()) return;
  sqlite3_result_text(context, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

}  // namespace

bool IsDatabase(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) base::ThrowPathError("cannot read '" + path + "'", errno);
  char start[15] = {};
  file.read(start, sizeof(start));
  return std::string_view(start, sizeof(start)) == "SQLite format 3";
}

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

void Statement::Bind(int place, std::optional<int64_t> value) {
  if (value) {
    Bind(place, *value);
  } else {
    sqlite3_bind_null(statement_.get(), place);
  }
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
    : path_(std::move(path)), mode_(mode), patience_seconds_(patience_seconds) {
  if (mode == Mode::kReadWrite) {
    // SQLite says of a folder that may not be written to that there is no file.
    if (access(path_.c_str(), F_OK) != 0) base::CheckFolderOf(path_);
    Open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    // A file without write permission opens for reading only, without being asked to.
    if (sqlite3_db_readonly(handle_.get(), "main") == 1) Fail(SQLITE_READONLY);
    WriteAheadLog();
    Execute("PRAGMA synchronous = FULL");
  } else {
    OpenForReading();
    Freeze();
  }
}

void Database::WriteAheadLog() {
  // Of two that change the mode of a new file at once, SQLite refuses one without asking its busy
  // handler, as each would wait for the other.
  constexpr useconds_t kPause = 1000;
  const double last_attempt = base::MonotonicSeconds() + patience_seconds_;
  for (;;) {
    const int code =
        sqlite3_exec(handle_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) return;
    const bool is_busy = (code & 0xff) == SQLITE_BUSY;
    if (!is_busy || base::StopRequested() || base::MonotonicSeconds() >= last_attempt) Fail(code);
    usleep(kPause);
  }
}

void Database::OpenForReading() {
  // A reader that may not write could not remove the log's files when it ends.
  const bool is_writable = IsWritable(path_) || access(path_.c_str(), F_OK) != 0;
  if (is_writable && OpensReadable(path_, SQLITE_OPEN_READWRITE)) return;
  const FileState state = FileState::Of(path_);
  const bool has_log_file = access(LogOf(path_).c_str(), F_OK) == 0;
  // With the files of a writer that is at work, or was killed.
  if (has_log_file && OpensReadable(path_, SQLITE_OPEN_READONLY)) return;
  if (state.log_size > 0) return OpenCopyWithLog();
  Open(ImmutableUri(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
}

bool Database::OpensReadable(const std::string& file, int flags) {
  Open(file, flags);
  const int code = sqlite3_exec(handle_.get(), "PRAGMA schema_version", nullptr, nullptr, nullptr);
  if (code != SQLITE_OK && !IsAboutWriting(code)) Fail(code);
  return code == SQLITE_OK;
}

void Database::OpenCopyWithLog() {
  constexpr int kAttempts = 10;
  namespace fs = std::filesystem;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const base::ScratchFolder folder;
    const std::string copy = folder / "copy.db";
    const FileState before = FileState::Of(path_);
    std::error_code error;
    fs::copy_file(path_, copy, error);
    if (!error && before.log_size > 0) fs::copy_file(LogOf(path_), LogOf(copy), error);
    if (error) {
      throw SystemError(
          fmt::format("cannot use {}: copying it and its log failed: {}", path_, error.message()));
    }
    if (FileState::Of(path_) != before) continue;  // a process writes
    fs::permissions(copy, fs::perms::owner_read | fs::perms::owner_write);
    Open(copy, SQLITE_OPEN_READWRITE);
    MakePrivateCopy();
    return;
  }
  Fail(SQLITE_BUSY);
}

void Database::Open(const std::string& file, int flags) {
  prepared_.clear();
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags | SQLITE_OPEN_EXRESCODE, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) Fail(code);
  sqlite3_busy_handler(handle, Wait, this);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  Execute("PRAGMA trusted_schema = OFF; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON");
}

int Database::Wait(void* database, int times) {
  constexpr double kMinLengthScale = 0.001, kMaxLengthScale = 0.05;  // seconds
  auto& self = *static_cast<Database*>(database);
  const double now = base::MonotonicSeconds();
  if (times == 0) {
    self.waiting_since_ = now;
    self.next_notice_ = self.patience_seconds_;
  }
  const double waited = now - self.waiting_since_;
  if (base::StopRequested()) return 0;
  if (waited >= self.next_notice_) {
    const LockObserver observer = CurrentLockObserver();
    if (!observer || !observer(self.path_, waited)) return 0;
    self.next_notice_ = std::max(2 * self.next_notice_, waited);
  }
  const double seconds = std::min(kMaxLengthScale, kMinLengthScale * (1 + times));
  usleep(static_cast<useconds_t>(1e6 * std::min(seconds, self.next_notice_)));
  return 1;
}

void SetLockObserver(LockObserver observer) {
  const std::lock_guard lock(lock_observer_mutex);
  lock_observer = std::move(observer);
}

void Database::MakePrivateCopy() {
  const Handle source = std::move(handle_);
  Open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);  // a temporary file
  sqlite3_backup* backup = sqlite3_backup_init(handle_.get(), "main", source.get(), "main");
  if (!backup) Fail(sqlite3_errcode(handle_.get()));
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) Fail(code);
}

void Database::Freeze() { Execute("PRAGMA query_only = ON"); }

void Database::DefineFunction(const char* name, std::string (*text_of)(double)) {
  const int code =
      sqlite3_create_function(handle_.get(), name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                              reinterpret_cast<void*>(text_of), CallTextOf, nullptr, nullptr);
  if (code != SQLITE_OK) Fail(code);
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
  if ((code & 0xff) == SQLITE_BUSY && base::StopRequested()) {
    throw StoppedAtLock(fmt::format(
        "stopped while another process kept {} locked; what was recorded is kept", path_));
  }
  const std::string message = fmt::format("cannot use {}: {}", path_, Explain(handle_.get(), code));
  if (IsSystemFailure(handle_.get(), code)) throw SystemError(message);
  throw InputError(message);
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database_.Execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.Execute("ROLLBACK");
  } catch (const std::exception&) {
    // A failed statement may have rolled back by itself; nothing of it was kept either way.
  }
}

void Transaction::Commit() {
  database_.Execute("COMMIT");
  open_ = false;
}

}  // namespace bayloom::record
