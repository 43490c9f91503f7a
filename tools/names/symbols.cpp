#include "tools/names/symbols.hpp"

#include "tools/names/demangle.hpp"
#include "tools/names/dwarf_functions.hpp"
#include "tools/names/frame_starts.hpp"
#include "tools/names/labels.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

namespace {

struct FreeDeleter {
    void operator()(void* p) const { std::free(p); }
};
struct DwflDeleter {
    void operator()(Dwfl* d) const { dwfl_end(d); }
};

/// Separate debug information is looked for where distributions install it (/usr/lib/debug), by build-id and link; libdwfl asks
/// debuginfod servers by itself where the user has set DEBUGINFOD_URLS, and never otherwise.
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
    default: return false;
    }
}

/// The symbol that an address belongs to, or nullptr.
const char* symbol_at(Dwfl_Module* module, Dwarf_Addr address) {
    GElf_Off within = 0;
    GElf_Sym symbol{};
    const char* name = dwfl_module_addrinfo(module, address, &within, &symbol, nullptr, nullptr, nullptr);
    // A stripped file answers with the nearest exported symbol below: only trusted inside its size.
    return name != nullptr && within < symbol.st_size ? name : nullptr;
}

/// The name of a function or of an inlined call of it.
/// @param around the function inside which it is described, or nullptr
/// @param symbol of the code, when the function is the one that the code belongs to, else nullptr
std::string function_name(Dwarf_Die die, const Dwarf_Die* around, bool fortran, const char* symbol) {
    const char* plain = dwarf_diename(&die);
    const char* mangled = string_of(&die, DW_AT_linkage_name);
    if (mangled == nullptr) mangled = string_of(&die, DW_AT_MIPS_linkage_name);
    // C++ functions that other files cannot see have no mangled name here, but in the symbol table.
    if (mangled == nullptr && symbol != nullptr && std::strncmp(symbol, "_Z", 2) == 0) mangled = symbol;
    // The mangled name where it says more: the plain one is "f" for every ns::f(int).
    if (mangled != nullptr && (plain == nullptr || !fortran || std::strstr(mangled, "_MOD_") != nullptr)) return readable_name(mangled, fortran);
    if (plain == nullptr) return "";
    // A region of OpenMP in a Fortran program is called after the symbol MAIN__, the program itself by its own name.
    constexpr const char* main_symbol = "MAIN__";
    if (fortran && around != nullptr && std::strncmp(plain, main_symbol, std::strlen(main_symbol)) == 0) {
        Dwarf_Die program = *around;
        if (const char* name = dwarf_diename(&program)) return readable_name(std::string(name) + (plain + std::strlen(main_symbol)), false);
    }
    return readable_name(plain, false); // as in the source: an underscore at its end belongs to it
}

/// The line in the source of the inlined call that `die` stands for.
bool call_site(Dwarf_Die* unit, Dwarf_Die* die, SiteName& out) {
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0, line = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 || dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) != 0)
        return false;
    Dwarf_Files* files = nullptr;
    if (dwarf_getsrcfiles(unit, &files, nullptr) != 0) return false;
    const char* path = dwarf_filesrc(files, file, nullptr, nullptr);
    if (path == nullptr) return false;
    out.file = path;
    out.line = line;
    return true;
}

/// Where two functions touch, a line table can have a row at the address of the second that stands for no code of the first.
/// The last row at the address of `line` in the file that `scope` is written in; `line` if there is none.
Dwarf_Line* line_in(Dwarf_Die* unit, Dwarf_Line* line, Dwarf_Die* scope) {
    const char* home = dwarf_decl_file(scope);
    const auto is_home = [home](Dwarf_Line* row) {
        const char* file = dwarf_linesrc(row, nullptr, nullptr);
        return file != nullptr && std::strcmp(file, home) == 0;
    };
    Dwarf_Lines* rows = nullptr;
    std::size_t count = 0;
    if (home == nullptr || is_home(line) || dwarf_getsrclines(unit, &rows, &count) != 0) return line;
    const auto address_of = [](Dwarf_Line* row) {
        Dwarf_Addr address = 0;
        dwarf_lineaddr(row, &address);
        return address;
    };
    const Dwarf_Addr address = address_of(line);
    std::size_t after = 0; // the first row beyond the address
    for (std::size_t step = std::bit_floor(count); step != 0; step /= 2)
        if (after + step <= count && address_of(dwarf_onesrcline(rows, after + step - 1)) <= address) after += step;
    while (after-- != 0) {
        Dwarf_Line* row = dwarf_onesrcline(rows, after);
        if (address_of(row) != address) break;
        bool is_end = false;
        if (dwarf_lineendsequence(row, &is_end) == 0 && !is_end && is_home(row)) return row;
    }
    return line;
}

/// The line of the source that an instruction belongs to, whatever function it came from.
/// @param scope the innermost function or inlined call around it, or nullptr
SiteName line_of(Dwarf_Die* unit, Dwarf_Addr address, Dwarf_Die* scope) {
    SiteName out;
    if (Dwarf_Line* line = dwarf_getsrc_die(unit, address)) {
        if (scope != nullptr) line = line_in(unit, line, scope);
        int number = 0;
        dwarf_lineno(line, &number);
        const char* file = dwarf_linesrc(line, nullptr, nullptr);
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
    std::string name;                             // of the file
    std::optional<FrameStarts> starts;            // once they were asked for
    std::map<Dwarf_Off, UnitFunctions> functions; // of units that were asked for
    struct UnitRange {
        Dwarf_Addr begin, end; // with the unit's bias
        Dwarf_Die* unit;
        Dwarf_Addr bias;
    };
    std::vector<UnitRange> ranges;
    bool has_ranges = false;

    const UnitFunctions& functions_of(Dwarf_Die unit) { return functions.try_emplace(dwarf_dieoffset(&unit), unit).first->second; }
    Dwarf_Die* unit_of(Dwarf_Addr address, Dwarf_Addr& unit_bias);
    void list_ranges();
};

/// The compilation unit of an address. Compilers other than GCC write no index of addresses (.debug_aranges) for it.
Dwarf_Die* Symbols::Handle::unit_of(Dwarf_Addr address, Dwarf_Addr& unit_bias) {
    if (Dwarf_Die* unit = dwfl_module_addrdie(module, address, &unit_bias)) return unit;
    if (!has_ranges) list_ranges();
    for (const UnitRange& range : ranges)
        if (address >= range.begin && address < range.end) {
            unit_bias = range.bias;
            return range.unit;
        }
    return nullptr;
}

void Symbols::Handle::list_ranges() {
    has_ranges = true;
    Dwarf_Addr unit_bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &unit_bias)) != nullptr;) {
        Dwarf_Addr base = 0, begin = 0, end = 0;
        for (std::ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;)
            if (begin < end) ranges.push_back({begin + unit_bias, end + unit_bias, unit, unit_bias});
    }
}

std::string debug_file_of(const std::string& build_id) {
    std::string out = "/usr/lib/debug/.build-id/";
    for (std::size_t i = 0; i < build_id.size(); ++i) out += fmt::format("{:02x}{}", static_cast<unsigned char>(build_id[i]), i == 0 ? "/" : "");
    return out + ".debug";
}

Symbols::Symbols(const Module& module) : handle_(std::make_unique<Handle>()) {
    if (module.path.empty() || module.path.front() != '/') return; // "[vdso]" and the like
    std::error_code unreadable;
    if (!std::filesystem::is_regular_file(module.path, unreadable)) return; // a file says the path, and opening a pipe may take for ever
    handle_->dwfl.reset(dwfl_begin(&callbacks));
    if (handle_->dwfl == nullptr) return;
    handle_->name = base_name(module.path);
    dwfl_report_begin(handle_->dwfl.get());
    handle_->module = dwfl_report_offline(handle_->dwfl.get(), module.path.c_str(), module.path.c_str(), -1);
    dwfl_report_end(handle_->dwfl.get(), nullptr, nullptr);
    if (handle_->module == nullptr || dwfl_module_getelf(handle_->module, &handle_->bias) == nullptr) return;
    if (!module.build_id.empty()) {
        const unsigned char* bits = nullptr;
        GElf_Addr address = 0;
        const int size = dwfl_module_build_id(handle_->module, &bits, &address);
        if (size <= 0 || static_cast<std::size_t>(size) != module.build_id.size() || std::memcmp(bits, module.build_id.data(), module.build_id.size()) != 0) {
            state_ = ModuleState::Different;
            return;
        }
    }
    state_ = ModuleState::Readable;
}

Symbols::~Symbols() = default;

SourceCode Symbols::resolve(std::uint64_t offset) {
    SourceCode out;
    if (state_ != ModuleState::Readable) return out;
    const Dwarf_Addr address = offset + handle_->bias;

    Dwarf_Addr dwarf_bias = 0;
    bool fortran = false;
    if (Dwarf_Die* unit = handle_->unit_of(address, dwarf_bias)) {
        fortran = is_fortran(unit);
        const CodeFunction found = handle_->functions_of(*unit).find(address - dwarf_bias);
        // The line table tells the line in the innermost function; each inlined call that of the function around it.
        Dwarf_Die scope = !found.inlined.empty() ? found.inlined.back() : found.function != nullptr ? *found.function : Dwarf_Die{};
        SiteName name = line_of(unit, address - dwarf_bias, scope.addr != nullptr ? &scope : nullptr);
        for (std::size_t i = found.inlined.size(); i-- > 0;) {
            Dwarf_Die call = found.inlined[i];
            name.function = function_name(call, nullptr, fortran, nullptr);
            SiteName caller;
            const bool known = call_site(unit, &call, caller);
            // Without a name or a call it is no frame that could be shown; its code counts for the one around it.
            if (known && !name.function.empty()) out.inlined.insert(out.inlined.begin(), name);
            if (known) name = std::move(caller);
        }
        name.function.clear();
        if (found.function != nullptr) name.function = function_name(*found.function, found.around, fortran, symbol_at(handle_->module, address));
        out.function = std::move(name);
        if (out.function.function.empty()) out.inlined.clear();
    }
    if (out.function.function.empty()) {
        if (const char* name = symbol_at(handle_->module, address)) out.function.function = readable_name(name, fortran);
    }
    if (out.function.function.empty()) {
        GElf_Addr bias = 0;
        if (!handle_->starts) handle_->starts.emplace(dwfl_module_getelf(handle_->module, &bias));
        if (const auto start = handle_->starts->of(offset)) out.function.function = begin_as_name(handle_->name, *start);
    }
    return out;
}

void Symbols::for_each_code_of(std::uint64_t line, const std::function<void(std::uint64_t, std::uint64_t)>& visit) {
    if (state_ != ModuleState::Readable) return;
    Dwarf_Addr unit_bias = 0;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(handle_->module, unit, &unit_bias)) != nullptr;) {
        Dwarf_Lines* rows = nullptr;
        std::size_t count = 0;
        if (dwarf_getsrclines(unit, &rows, &count) != 0) continue;
        for (std::size_t i = 0; i + 1 < count; ++i) {
            Dwarf_Line* row = dwarf_onesrcline(rows, i);
            int number = 0;
            bool ends = false;
            Dwarf_Addr begin = 0, end = 0;
            if (dwarf_lineno(row, &number) != 0 || number < 0 || static_cast<std::uint64_t>(number) != line) continue;
            if (dwarf_lineendsequence(row, &ends) != 0 || ends || dwarf_lineaddr(row, &begin) != 0 ||
                dwarf_lineaddr(dwarf_onesrcline(rows, i + 1), &end) != 0 || end <= begin)
                continue;
            visit(begin + unit_bias - handle_->bias, end + unit_bias - handle_->bias);
        }
    }
}

} // namespace libprofile::tools
