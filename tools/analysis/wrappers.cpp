#include "tools/analysis/wrappers.hpp"

#include "tools/names/interpreters.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace libprofile::tools {

namespace {

/// Time and visits.
struct Amount {
    std::uint64_t time = 0;
    std::uint64_t visits = 0;
    void add(const Amount& more) {
        time += more.time;
        visits += more.visits;
    }
};

/// A function of the program, whatever its callers; or an MPI function, whoever calls it.
struct Summed {
    bool is_call = false;
    Amount own;
    Amount all; // with what it calls
    std::set<std::uint32_t> callers;
    std::map<std::uint32_t, Amount> callees;
    enum class Answer : std::uint8_t { Unknown, Asked, No, Yes } answer = Answer::Unknown;
};

/// `depth`: of so many wrappers inside each other.
bool is_mere_wrapper(std::vector<Summed>& functions, std::uint32_t number, int depth = 0) {
    constexpr int deepest = 16;
    using enum Summed::Answer;
    constexpr std::size_t several = 2;
    constexpr double small_part = 0.05, negligible = 0.02; // of its time; of its time or visits
    constexpr std::uint64_t small_ns = 1000;               // a call
    Summed& function = functions[number];
    if (function.answer != Unknown) return function.answer == Yes;
    function.answer = Asked; // it may call itself through others
    const bool is_little =
        static_cast<double>(function.own.time) <= small_part * static_cast<double>(function.all.time) || function.own.time <= small_ns * function.all.visits;
    if (depth == deepest || function.callers.size() < several || !is_little || function.all.visits == 0) return function.answer = No, false;
    std::size_t important = 0;
    bool wraps = false;
    for (const auto& [callee, amount] : function.callees) {
        if (static_cast<double>(amount.time) <= negligible * static_cast<double>(function.all.time) &&
            static_cast<double>(amount.visits) <= negligible * static_cast<double>(function.all.visits))
            continue;
        ++important;
        wraps = functions[callee].is_call || is_mere_wrapper(functions, callee, depth + 1);
    }
    const bool yes = important == 1 && wraps;
    functions[number].answer = yes ? Yes : No;
    return yes;
}

bool is_mpi4py(const std::string& module) { return module.find("/mpi4py/MPI.") != std::string::npos; }

} // namespace

Wrappers::Wrappers(const Profile& profile) : profile_(profile), is_wrapper_(profile.paths.size()), is_binding_(profile.paths.size()) {
    const std::size_t n = profile.paths.size();
    const InterpreterFrames interpreter(profile);
    std::vector<Amount> own(n);
    const auto take = [&](const Cell& cell) {
        own[cell.path].time += cell.metric == 0 ? cell.value : 0;
        own[cell.path].visits += cell.metric == static_cast<std::uint32_t>(Metric::Visits) && is_call(profile.paths[cell.path].kind) ? cell.value : 0;
    };
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            if (profile.witnesses.ranks.empty() || profile.witnesses.ranks.contains(location.rank)) for_each_cell(data, take);
    std::for_each(profile.witnesses.cells.begin(), profile.witnesses.cells.end(), take);
    std::vector<Amount> all = own;
    for (std::size_t p = n; p-- > 1;) all[profile.paths[p].parent].add(all[p]);
    constexpr std::uint32_t none = 0; // of paths that are neither
    std::vector<std::uint32_t> function(n, none);
    std::vector<Summed> functions(1);
    std::map<std::tuple<bool, std::string, std::string>, std::uint32_t> known;
    for (std::size_t p = 1; p < n; ++p) {
        const CallPath& path = profile.paths[p];
        if (!is_code(path.kind) && !is_call(path.kind)) continue;
        const Label label = label_of(profile, path);
        is_binding_[p] = path.kind == NodeKind::Frame && (profile.paths[path.parent].kind == NodeKind::Python || is_binding_[path.parent]) &&
                         (interpreter.contains(path) || is_mpi4py(label.module));
        const auto [at, added] =
            known.emplace(std::tuple(is_call(path.kind), path.kind == NodeKind::Python ? label.file : label.module, short_function_name(label.name)),
                          static_cast<std::uint32_t>(functions.size()));
        if (added) functions.emplace_back().is_call = is_call(path.kind);
        function[p] = at->second;
        const std::uint32_t above = function[path.parent];
        functions[at->second].own.add(own[p]);
        if (above == at->second) // it calls itself, or it is the same activation
            continue;
        functions[at->second].all.add(all[p]);
        if (above != none && (all[p].time != 0 || all[p].visits != 0)) {
            functions[at->second].callers.insert(above);
            functions[above].callees[at->second].add(all[p]);
        }
    }
    for (std::size_t p = 1; p < n; ++p) is_wrapper_[p] = function[p] != none && is_code(profile.paths[p].kind) && is_mere_wrapper(functions, function[p]);
}

Wrappers::Caller Wrappers::caller_of(std::uint32_t path) const {
    Caller caller{profile_.paths[path].parent, ""};
    std::string last;
    while (caller.path != 0 && is_binding_[caller.path]) caller.path = profile_.paths[caller.path].parent;
    while (caller.path != 0 && is_wrapper_[caller.path] && is_code(profile_.paths[profile_.paths[caller.path].parent].kind)) {
        const std::string name = short_function_name(label_of(profile_, profile_.paths[caller.path]).name);
        if (name != last) caller.through = name + (caller.through.empty() ? "" : " > ") + caller.through;
        last = name;
        caller.path = profile_.paths[caller.path].parent;
    }
    return caller;
}

} // namespace libprofile::tools
