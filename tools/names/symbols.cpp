#include "tools/names/symbols.hpp"

#include "tools/names/demangle.hpp"

#include <cstdlib>
#include <cstring>
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

bool is_fortran(Dwarf_Die* unit) {
    switch (dwarf_srclang(unit)) {
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
    case 0x2d: // DW_LANG_Fortran18, which older dwarf.h lack
        return true;
    default:
        return false;
    }
}

/// The name of the function at the front of `scopes`, from the inside out.
std::string function_name(Dwarf_Die* scopes, int count, bool fortran) {
    const char* plain = dwarf_diename(scopes);
    const char* mangled = string_of(scopes, DW_AT_linkage_name);
    if (mangled == nullptr)
        mangled = string_of(scopes, DW_AT_MIPS_linkage_name);
    // The mangled name where it says more: the plain one is "f" for every ns::f(int).
    if (mangled != nullptr && (plain == nullptr || !fortran || std::strstr(mangled, "_MOD_") != nullptr))
        return readable_name(mangled, fortran);
    if (plain == nullptr)
        return "";
    // A region of OpenMP in a Fortran program is called after the symbol MAIN__, the program itself by its own name.
    constexpr const char* main_symbol = "MAIN__";
    if (fortran && std::strncmp(plain, main_symbol, std::strlen(main_symbol)) == 0)
        for (int i = 1; i < count; ++i)
            if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram && dwarf_diename(&scopes[i]) != nullptr)
                return readable_name(std::string(dwarf_diename(&scopes[i])) + (plain + std::strlen(main_symbol)),
                                     false);
    return readable_name(plain, false); // as in the source: an underscore at its end belongs to it
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

/// The line of the source that an instruction belongs to, whatever function it came from.
SiteName line_of(Dwfl_Module* module, Dwarf_Addr address) {
    SiteName out;
    if (Dwfl_Line* line = dwfl_module_getsrc(module, address)) {
        int number = 0;
        const char* file = dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
        out.file = file == nullptr ? "" : file;
        out.line = number > 0 ? static_cast<std::uint64_t>(number) : 0;
    }
    return out;
}

} // namespace

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

SourcePlace Symbols::resolve(std::uint64_t offset) {
    SourcePlace out;
    if (state_ != ModuleState::Readable)
        return out;
    const Dwarf_Addr address = offset + handle_->bias;

    Dwarf_Addr dwarf_bias = 0;
    bool fortran = false;
    if (Dwarf_Die* unit = dwfl_module_addrdie(handle_->module, address, &dwarf_bias)) {
        fortran = is_fortran(unit);
        // The scopes around an address lead into the definition of an inlined function, those around its innermost
        // DIE lead out to the function that the code belongs to.
        Dwarf_Die* inner = nullptr;
        Dwarf_Die* scopes = nullptr;
        int count = dwarf_getscopes(unit, address - dwarf_bias, &inner);
        const std::unique_ptr<Dwarf_Die, FreeDeleter> inner_owner(inner);
        if (count > 0)
            count = dwarf_getscopes_die(&inner[0], &scopes);
        const std::unique_ptr<Dwarf_Die, FreeDeleter> owner(scopes);
        // The line table tells the line in the innermost function; each inlined call that of the function around it.
        SiteName place = line_of(handle_->module, address);
        for (int i = 0; i < count; ++i) {
            const int tag = dwarf_tag(&scopes[i]);
            if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
                continue;
            place.function = function_name(&scopes[i], count - i, fortran);
            if (tag == DW_TAG_subprogram)
                break;
            SiteName around;
            const bool placed = call_place(unit, &scopes[i], around);
            // Without a name or a call it is no frame that could be shown; its code counts for the one around it.
            if (placed && !place.function.empty())
                out.inlined.insert(out.inlined.begin(), place);
            if (placed)
                place = std::move(around);
            place.function.clear();
        }
        out.function = std::move(place);
        if (out.function.function.empty())
            out.inlined.clear();
    }
    if (out.function.function.empty()) {
        GElf_Off within = 0;
        GElf_Sym symbol{};
        const char* name =
            dwfl_module_addrinfo(handle_->module, address, &within, &symbol, nullptr, nullptr, nullptr);
        // A stripped file answers with the nearest exported symbol below: only trusted inside its size.
        if (name != nullptr && within < symbol.st_size)
            out.function.function = readable_name(name, fortran);
    }
    return out;
}

} // namespace libprofile::tools
