#include "tools/names/interpreters.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <string_view>

namespace libprofile::tools {

namespace {

/// "", "3", "3.11", with the letters of builds: "3.11d" (debug), "3.13t" (free threading).
bool is_version(std::string_view text) {
    while (!text.empty() && (text.back() == 'd' || text.back() == 'm' || text.back() == 't')) text.remove_suffix(1);
    return text.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Only names that no other code has: extension modules call PyObject_Call and have functions such as PyInit_x themselves.
bool is_interpreter_function(std::string_view name) {
    constexpr std::string_view starts[] = {"_PyEval_", "PyEval_", "_PyObject_", "PyObject_",    "_PyFunction_",
                                           "PyRun_",   "_PyRun_", "Py_RunMain", "Py_BytesMain", "cfunction_vectorcall"};
    return std::any_of(std::begin(starts), std::end(starts), [&](std::string_view start) { return name.starts_with(start); });
}

} // namespace

bool is_interpreter_module(const std::string& path) {
    const std::string file = base_name(path);
    std::string_view name = file;
    if (name.starts_with("libpython")) {
        name.remove_prefix(9);
        const std::size_t end = name.find(".so");
        return end != std::string_view::npos && is_version(name.substr(0, end));
    }
    if (!name.starts_with("python")) return false;
    name.remove_prefix(6);
    if (name.ends_with("-dbg")) name.remove_suffix(4);
    return is_version(name);
}

InterpreterFrames::InterpreterFrames(const Profile& profile) {
    std::vector<char> of_module;
    for (const Module& module : profile.modules) of_module.push_back(is_interpreter_module(module.path) ? 1 : 0);
    for (const Site& site : profile.sites) of_site_.push_back(of_module[site.module] != 0 || is_interpreter_function(site.name.function) ? 1 : 0);
}

} // namespace libprofile::tools
