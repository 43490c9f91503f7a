#include "tools/analysis/filter_file.hpp"

#include "tools/names/compiler_names.hpp"
#include "tools/names/demangle.hpp"
#include "tools/names/labels.hpp"

#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>

namespace libprofile::tools {

namespace {

std::string hex(const std::string& bytes) {
    std::string out;
    for (const char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

/// Whether a function is surely one of Fortran. Functions of C++ that have a scope have parameters, too.
bool is_fortran(const SiteName& site) {
    const std::size_t dot = site.file.rfind('.');
    const std::string ending = dot == std::string::npos ? "" : site.file.substr(dot + 1);
    const bool is_source = ending == "for" || ending == "FOR" ||
                           (!ending.empty() && (ending[0] == 'f' || ending[0] == 'F') && ending.find_first_not_of("0123456789", 1) == std::string::npos);
    return is_source || (site.function.find("::") != std::string::npos && !fortran_name(site.function).empty());
}

/// The names of the instrumented functions that are to stay. GCC leaves out every function that has the text in its name.
class KeptNames {
  public:
    KeptNames(const Profile& profile, const TinyFunctions& tiny) {
        std::set<std::uint32_t> seen; // sites
        for (const RegionRow& row : tiny.chosen) seen.insert(row.site);
        std::string plain; // of functions that are Fortran's if any is
        bool has_fortran = false;
        for (const CallPath& path : profile.paths) {
            if (path.kind != NodeKind::FunctionRegion) continue;
            const SiteName& site = profile.sites[path.target].name;
            has_fortran = has_fortran || is_fortran(site);
            // Nobody misses what compilers add to initialise variables; it is named after a function of the program.
            if (!seen.insert(path.target).second || site.function.starts_with("_GLOBAL_")) continue;
            names_ += forms_for_gcc(site.function);
            std::string tag;
            if (is_fortran(site) || site.file.empty()) plain += fortran_name(without_clone_tags(site.function, tag)) + "\n";
        }
        if (has_fortran) fortran_ = std::move(plain);
    }

    struct Clash {
        std::string name, text; // a name that is to stay, and what GCC would find in it
    };
    /// One that would be left out together with `name`, by a compiler of C, of C++ or of Fortran. No value: none.
    std::optional<Clash> clash(const std::string& name) const {
        if (std::string found = line_with(names_, name); !found.empty()) return Clash{std::move(found), name};
        std::string own = fortran_name(name);
        if (std::string found = own.empty() ? "" : line_with(fortran_, own); !found.empty()) return Clash{std::move(found), std::move(own)};
        return std::nullopt;
    }

  private:
    static std::string line_with(const std::string& lines, const std::string& text) {
        const std::size_t at = lines.find(text);
        if (at == std::string::npos) return "";
        const std::size_t before = lines.rfind('\n', at), begin = before == std::string::npos ? 0 : before + 1;
        return lines.substr(begin, lines.find('\n', at) - begin);
    }

    std::string names_, fortran_; // one a line
};

} // namespace

FilterFile filter_file(const Profile& profile, const TinyFunctions& tiny, double target) {
    FilterFile file;
    std::string& out = file.text;
    out = fmt::format("# Instrumented functions that cost more than they tell; written by `libprofile filter`.\n"
                      "# Instrumentation cost at least {:.1f} % of the computing time without it; with this filter at least {:.2f} % remain (wanted: {:g} %).\n"
                      "# At least, because what inlining would save is not known.\n"
                      "# At run time: LIBPROFILE_FILTER=this file. To compile: libprofile-c++ --filter=this file.\n",
                      100 * tiny.share(), 100 * tiny.share_left(), 100 * target);
    const KeptNames kept(profile, tiny);
    std::set<std::string> known;
    for (const RegionRow& row : tiny.chosen) {
        const Site& site = profile.sites[row.site];
        const Module& module = profile.modules[site.module];
        out += fmt::format("\n# {} visits of {:.0f} ns: {}\n", row.visits, row.mean_ns(), printable(row.name));
        const std::string name = is_unresolved(site.name) ? "" : compiler_name(row.name);
        const bool is_nameable = !name.empty() && printable(name) == name;
        if (const auto clash = is_nameable ? kept.clash(name) : std::nullopt) {
            ++file.left_to_run;
            out += fmt::format("# only at run time: when compiling, GCC would also leave out {}, which has \"{}\" in its name\n", printable(clash->name),
                               clash->text);
        } else if (is_nameable && known.insert(name).second) {
            out += fmt::format("exclude compiled {}\n", name);
        }
        if (!module.build_id.empty()) out += fmt::format("exclude at {} 0x{:x}\n", hex(module.build_id), site.offset);
    }
    return file;
}

} // namespace libprofile::tools
