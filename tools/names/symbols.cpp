#include "tools/names/symbols.hpp"

#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

namespace libprofile::tools {

namespace {

struct FreeDeleter {
    void operator()(void* p) const { std::free(p); }
};
struct DwflDeleter {
    void operator()(Dwfl* d) const { dwfl_end(d); }
};

/// Separate debug information is looked for where distributions install it (/usr/lib/debug), by build-id and link.
char debug_path[] = "+:.debug:/usr/lib/debug";
char* debug_path_pointer = debug_path;

constexpr Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path_pointer,
};

const char* string_of(Dwarf_Die* die, unsigned attribute) {
    Dwarf_Attribute found;
    return dwarf_formstring(dwarf_attr_integrate(die, attribute, &found));
}

/// The mangled name when there is one: dwarf_diename gives "f" for every ns::f(int).
std::string function_name(Dwarf_Die* die) {
    if (const char* name = string_of(die, DW_AT_linkage_name))
        return demangle(name);
    if (const char* name = string_of(die, DW_AT_MIPS_linkage_name))
        return demangle(name);
    const char* name = dwarf_diename(die);
    return name == nullptr ? std::string() : std::string(name);
}

/// The line in the source of the inlined call that `die` stands for.
bool call_place(Dwarf_Die* unit, Dwarf_Die* die, SiteName& out) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
        dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0)
        return false;
    Dwarf_Files* files = nullptr;
    if (dwarf_getsrcfiles(unit, &files, nullptr) != 0)
        return false;
    const char* path = dwarf_filesrc(files, file, nullptr, nullptr);
    if (path == nullptr)
        return false;
    out.file = path;
    out.line = line;
    return true;
}

} // namespace

std::string demangle(const char* name) {
    // __cxa_demangle also takes bare types: a C function named "i" would become "int".
    if (name[0] != '_' || name[1] != 'Z')
        return name;
    int status = 0;
    const std::unique_ptr<char, FreeDeleter> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status));
    return status == 0 && plain != nullptr ? std::string(plain.get()) : std::string(name);
}

struct Symbols::Handle {
    std::unique_ptr<Dwfl, DwflDeleter> dwfl;
    Dwfl_Module* module = nullptr;
    GElf_Addr bias = 0;
};

Symbols::Symbols(const Module& module) : handle_(std::make_unique<Handle>()) {
    if (module.path.empty() || module.path.front() != '/')
        return; // "[vdso]" and the like
    handle_->dwfl.reset(dwfl_begin(&callbacks));
    if (handle_->dwfl == nullptr)
        return;
    dwfl_report_begin(handle_->dwfl.get());
    handle_->module = dwfl_report_offline(handle_->dwfl.get(), module.path.c_str(), module.path.c_str(), -1);
    dwfl_report_end(handle_->dwfl.get(), nullptr, nullptr);
    if (handle_->module == nullptr || dwfl_module_getelf(handle_->module, &handle_->bias) == nullptr)
        return;
    if (!module.build_id.empty()) {
        const unsigned char* bits = nullptr;
        GElf_Addr address = 0;
        const int size = dwfl_module_build_id(handle_->module, &bits, &address);
        if (size <= 0 || static_cast<std::size_t>(size) != module.build_id.size() ||
            std::memcmp(bits, module.build_id.data(), module.build_id.size()) != 0) {
            state_ = ModuleState::Different;
            return;
        }
    }
    state_ = ModuleState::Readable;
}

Symbols::~Symbols() = default;

SiteName Symbols::resolve(std::uint64_t offset) {
    SiteName out;
    if (state_ != ModuleState::Readable)
        return out;
    const Dwarf_Addr address = offset + handle_->bias;

    Dwarf_Addr dwarf_bias = 0;
    if (Dwarf_Die* unit = dwfl_module_addrdie(handle_->module, address, &dwarf_bias)) {
        // The scopes around an address lead into the definition of an inlined function, those around its innermost
        // DIE lead out to the function that the code belongs to.
        Dwarf_Die* inner = nullptr;
        Dwarf_Die* scopes = nullptr;
        int count = dwarf_getscopes(unit, address - dwarf_bias, &inner);
        const std::unique_ptr<Dwarf_Die, FreeDeleter> inner_owner(inner);
        if (count > 0)
            count = dwarf_getscopes_die(&inner[0], &scopes);
        const std::unique_ptr<Dwarf_Die, FreeDeleter> owner(scopes);
        bool placed = false;
        for (int i = 0; i < count; ++i) {
            const int tag = dwarf_tag(&scopes[i]);
            if (tag == DW_TAG_inlined_subroutine)
                placed = call_place(unit, &scopes[i], out);
            if (tag == DW_TAG_subprogram) {
                out.function = function_name(&scopes[i]);
                break;
            }
        }
        if (!placed) {
            if (Dwfl_Line* line = dwfl_module_getsrc(handle_->module, address)) {
                int number = 0;
                const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
                out.file = file == nullptr ? "" : file;
                out.line = number > 0 ? static_cast<std::uint64_t>(number) : 0;
            }
        }
    }
    if (out.function.empty()) {
        GElf_Off within = 0;
        GElf_Sym symbol{};
        const char* name =
            dwfl_module_addrinfo(handle_->module, address, &within, &symbol, nullptr, nullptr, nullptr);
        // A stripped file answers with the nearest exported symbol below: only trusted inside its size.
        if (name != nullptr && within < symbol.st_size)
            out.function = demangle(name);
    }
    return out;
}

} // namespace libprofile::tools
