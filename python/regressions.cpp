#include "python/bindings.hpp"

#include "tools/comparison/over_time_document.hpp"

#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::python {

namespace {

using namespace tools;

using OpenRuns = std::vector<std::pair<std::string, std::shared_ptr<Profile>>>; // name and profile

/// @param by empty: what fits best
std::optional<AlignBy> forced_by(const std::string& by) {
    const std::optional<AlignBy> forced = align_by_named(by);
    if (!forced && !by.empty()) throw py::value_error("there is no alignment by " + by + "; there are structure, work, step, progress");
    return forced;
}

/// As `libprofile compare --over-time --format json` prints it.
std::string regressions(const OpenRuns& before, const OpenRuns& after, const std::optional<std::string>& phase,
                        const std::optional<std::pair<std::uint64_t, std::uint64_t>>& iterations, const std::vector<std::uint32_t>& ranks,
                        const std::string& align) {
    std::vector<ProfiledGroup> groups = {{"old", {}}, {"new", {}}};
    for (std::size_t side = 0; side < 2; ++side)
        for (const auto& [name, profile] : side == 0 ? before : after) groups[side].runs.push_back({name, profile.get()});
    RunChoice choice;
    choice.has_phase = phase.has_value();
    choice.phase = phase.value_or("");
    choice.ranks = ranks;
    if (iterations) choice.iterations = IterationRange{iterations->first, iterations->second};
    const std::optional<AlignBy> forced = forced_by(align);
    ComparisonForm form;
    form.command = "regressions";
    form.everything = true;
    const py::gil_scoped_release others;
    return document_json(over_time_document(compare_over_time(groups, choice, forced), groups, form));
}

/// Which iterations are the same: of the first and of the second profile, then by what, how many pairs have other calls, the cost, and how many
/// pairs have the same calls in another order.
py::tuple align(const std::shared_ptr<Profile>& a, const std::shared_ptr<Profile>& b, const std::optional<std::string>& phase, const std::string& by) {
    const std::optional<AlignBy> forced = forced_by(by);
    RunChoice choice;
    choice.has_phase = phase.has_value();
    choice.phase = phase.value_or("");
    IterationAlignment alignment;
    {
        const py::gil_scoped_release others;
        alignment = align_runs({"old", a.get()}, {"new", b.get()}, choice, forced);
    }
    std::vector<std::int64_t> before, after;
    for (std::size_t i = 0; i < alignment.partner.size(); ++i) {
        if (alignment.partner[i] == no_partner) continue;
        before.push_back(static_cast<std::int64_t>(i));
        after.push_back(alignment.partner[i]);
    }
    const auto array = [](const std::vector<std::int64_t>& values) {
        return py::array_t<std::int64_t>(static_cast<py::ssize_t>(values.size()), values.data());
    };
    return py::make_tuple(array(before), array(after), align_by_name(alignment.by), alignment.different, alignment.cost, alignment.reordered);
}

} // namespace

void add_regressions(py::module_& module) {
    module.def("regressions", &regressions);
    module.def("align", &align);
}

} // namespace libprofile::python
