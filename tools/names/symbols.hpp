// Function, file and line of addresses in one program or library on disk, from its DWARF and symbol tables (elfutils).
// Contract: one object per thread; allocates; never throws but std::bad_alloc; never runs code of the module.
#pragma once

#include "tools/reader/model.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace libprofile::tools {

/// An address in a program as the source has it.
struct SourceCode {
    SiteName function;             // that the code belongs to, and the line in *its* source
    std::vector<SiteName> inlined; // functions inlined there, outermost first, each with the line in its own source
};

/// Where separate debug information of a module with this build-id (raw bytes) is looked for.
std::string debug_file_of(const std::string& build_id);

/// Why a module has names or not.
enum class ModuleState {
    Readable,
    Missing,  // not on disk, or no ELF file
    Different // another build than the one that ran
};

class Symbols {
  public:
    /// Opens a module. A recorded build-id must be that of the file on disk; without one the file is trusted.
    explicit Symbols(const Module& module);
    ~Symbols();
    Symbols(const Symbols&) = delete;
    Symbols& operator=(const Symbols&) = delete;

    ModuleState state() const { return state_; }

    /// The function that holds an ELF virtual address and the functions inlined at it. Function and line always belong
    /// together: a function into which the next one is inlined has the line of that call.
    /// Without DWARF only the function, from the symbol tables, the dynamic ones too; without those "app: function at 0x1234", from the
    /// unwind information (is_begin_only()).
    SourceCode resolve(std::uint64_t offset);

    /// Calls visit(begin, end), ELF virtual addresses, for all code that the line tables have for that line, in whatever file.
    void for_each_code_of(std::uint64_t line, const std::function<void(std::uint64_t, std::uint64_t)>& visit);

  private:
    struct Handle;
    std::unique_ptr<Handle> handle_;
    ModuleState state_ = ModuleState::Missing;
};

} // namespace libprofile::tools
