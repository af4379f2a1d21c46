// SPDX-FileCopyrightText: The Bayloom authors
// SPDX-License-Identifier: Apache-2.0

#include "bayloom/codegen/jit.h"

#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <optional>
#include <utility>

#include "bayloom/codegen/library.h"
#include "bayloom/codegen/runtime/bayloom_cpu.h"
#include "bayloom/codegen/runtime/bayloom_runtime.h"
#include "bayloom/codegen/shared_library.h"

namespace bayloom::codegen {
namespace {

/// The linker of this process: one session for all kernels, each of which is a library of its
/// own, so that equal symbols do not meet.
class Linker {
 public:
  static Linker& Instance() {
    static Linker& linker = *new Linker;  // kernels may outlive static destruction
    return linker;
  }

  llvm::Expected<llvm::orc::JITDylib*> Add(const std::string& object) {
    const std::string name = "kernel" + std::to_string(next_++);
    llvm::Expected<llvm::orc::JITDylib&> library = session_->createJITDylib(name);
    if (!library) return library.takeError();
    library->addToLinkOrder(*runtime_);
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object, name);
    if (llvm::Error error = layer_->add(*library, std::move(buffer))) return error;
    return &*library;
  }

  llvm::Expected<llvm::orc::ExecutorAddr> Find(llvm::orc::JITDylib* library,
                                               const std::string& symbol) {
    auto found = session_->lookup({library}, session_->intern(symbol));
    if (!found) return found.takeError();
    return found->getAddress();
  }

  void Remove(llvm::orc::JITDylib* library) {
    llvm::consumeError(session_->removeJITDylib(*library));
  }

 private:
  Linker() {
    // Kernels for this machine may use tile registers, which are for processes that asked for them.
    (void)bayloom_cpu_has("amx-tile");
    auto control = llvm::cantFail(llvm::orc::SelfExecutorProcessControl::Create());
    session_ = std::make_unique<llvm::orc::ExecutionSession>(std::move(control));
    session_->setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
    layer_ = std::make_unique<llvm::orc::ObjectLinkingLayer>(*session_);
    runtime_ = &session_->createBareJITDylib("runtime");
    llvm::orc::SymbolMap symbols;
    symbols[session_->intern("bayloom_parallel_for")] = {
        llvm::orc::ExecutorAddr::fromPtr(&bayloom_parallel_for), llvm::JITSymbolFlags::Exported};
    for (const RuntimeKernel& kernel : RuntimeKernels()) {
      symbols[session_->intern(llvm::StringRef(kernel.symbol))] = {
          llvm::orc::ExecutorAddr::fromPtr(kernel.function), llvm::JITSymbolFlags::Exported};
    }
    llvm::cantFail(runtime_->define(llvm::orc::absoluteSymbols(std::move(symbols))));
    // The mathematical functions and memset, memcpy are the process's own.
    runtime_->addGenerator(
        llvm::cantFail(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0')));
  }

  std::unique_ptr<llvm::orc::ExecutionSession> session_;
  std::unique_ptr<llvm::orc::ObjectLinkingLayer> layer_;
  llvm::orc::JITDylib* runtime_ = nullptr;
  std::atomic<int64_t> next_{0};
};

Error ToError(const std::string& symbol, llvm::Error error) {
  return Error{"cannot load '" + symbol + "': " + llvm::toString(std::move(error))};
}

}  // namespace

struct LoadedKernel::Code {
  explicit Code(llvm::orc::JITDylib* its_library) : library(its_library) {}
  explicit Code(LoadedLibrary its_library) : shared(std::move(its_library)) {}
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    if (library != nullptr) Linker::Instance().Remove(library);
  }

  llvm::orc::JITDylib* const library = nullptr;
  std::optional<LoadedLibrary> shared;
};

LoadedKernel::LoadedKernel(std::unique_ptr<Code> code, KernelFunction entry)
    : code_(std::move(code)), function_(entry) {}
LoadedKernel::LoadedKernel(LoadedKernel&&) noexcept = default;
LoadedKernel& LoadedKernel::operator=(LoadedKernel&&) noexcept = default;
LoadedKernel::~LoadedKernel() = default;

Result<LoadedKernel> LoadedKernel::Load(const KernelObject& kernel) {
  if (IsSharedLibrary(kernel.object)) {
    Result<LoadedLibrary> shared = LoadedLibrary::Load(kernel.object, kernel.symbol);
    if (!shared) return shared.error();
    const KernelFunction function = shared->function();
    return LoadedKernel(std::make_unique<Code>(*std::move(shared)), function);
  }
  Linker& linker = Linker::Instance();
  auto library = linker.Add(kernel.object);
  if (!library) return ToError(kernel.symbol, library.takeError());
  auto code = std::make_unique<Code>(*library);
  auto address = linker.Find(*library, kernel.symbol);
  if (!address) return ToError(kernel.symbol, address.takeError());
  LoadedKernel loaded(std::move(code), address->toPtr<KernelFunction>());
  for (const KernelStep& step : kernel.steps) {
    auto body = linker.Find(*library, step.symbol);
    if (!body) return ToError(step.symbol, body.takeError());
    loaded.steps_.push_back({step.extent, body->toPtr<bayloom_loop_body>()});
  }
  return loaded;
}

}  // namespace bayloom::codegen
