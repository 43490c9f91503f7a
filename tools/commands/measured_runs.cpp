#include "tools/commands/measured_runs.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/commands/add_names.hpp"
#include "tools/commands/command.hpp"
#include "tools/import/importers.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/reader.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

/// The last component of a path, with or without a slash at its end.
std::string folder_name(const std::string& place) {
    const fs::path path = fs::path(place).lexically_normal();
    const std::string name = path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
    return name.empty() || name == "." || name == ".." ? place : name;
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(',', at), list.size());
        if (end != at) parts.push_back(list.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

void check_all_differ(const std::vector<std::string>& places) {
    std::set<std::string> seen;
    for (const std::string& place : places) {
        std::error_code error;
        fs::path canonical = fs::weakly_canonical(fs::path(place) / "", error);
        if (!seen.insert(error ? place : canonical.string()).second)
            throw UsageError(fmt::format("{} is named twice; a run is no repetition of itself", place));
    }
}

std::vector<std::string> all_places(const std::vector<NamedPlaces>& groups) {
    std::vector<std::string> places;
    for (const NamedPlaces& group : groups) places.insert(places.end(), group.places.begin(), group.places.end());
    return places;
}

} // namespace

bool is_named(const std::string& argument) {
    std::error_code error;
    return argument.find('=') != std::string::npos && !fs::exists(argument, error);
}

std::vector<NamedPlaces> named_places(const std::vector<std::string>& arguments) {
    std::vector<NamedPlaces> groups;
    const auto group = [&](const std::string& name) -> NamedPlaces& {
        const auto known = std::find_if(groups.begin(), groups.end(), [&](const NamedPlaces& g) { return g.name == name; });
        return known != groups.end() ? *known : groups.emplace_back(NamedPlaces{name, {}});
    };
    for (const std::string& argument : arguments) {
        if (!is_named(argument)) {
            const std::string name = folder_name(argument);
            const bool is_new = std::none_of(groups.begin(), groups.end(), [&](const NamedPlaces& g) { return g.name == name; });
            groups.push_back({is_new ? name : argument, {argument}});
            continue;
        }
        const std::size_t equals = argument.find('=');
        const std::vector<std::string> places = split(argument.substr(equals + 1));
        if (equals == 0 || places.empty()) throw UsageError(fmt::format("{} is no NAME=RUN; write the folders of one name like today=run1,run2", argument));
        NamedPlaces& named = group(argument.substr(0, equals));
        named.places.insert(named.places.end(), places.begin(), places.end());
    }
    return groups;
}

std::vector<NamedPlaces> compared_places(const std::vector<std::string>& runs, const std::vector<std::string>& baseline, const std::string& command) {
    std::vector<NamedPlaces> places = named_places(runs);
    if (!baseline.empty()) {
        if (runs.empty()) throw UsageError(fmt::format("--baseline needs runs to compare with: libprofile {} --baseline a1 a2 -- b1 b2", command));
        if (std::none_of(runs.begin(), runs.end(), is_named)) places = {{"new", runs}};
        places.insert(places.begin(), {"baseline", baseline});
    }
    if (places.size() < 2)
        throw UsageError(places.size() == 1 && places[0].places.size() > 1
                             ? "all runs have one name; another one is needed to compare with, such as old=a1,a2 new=b1,b2"
                             : fmt::format("{0} needs two runs: libprofile {0} libprofile-<program>-<job> libprofile-<program>-<job>", command));
    return places;
}

std::vector<Run> read_runs(const std::vector<std::string>& places, const RunChoice& choice) {
    check_all_differ(places);
    Selection selection;
    selection.series = choice.iterations.has_value();
    std::vector<std::optional<Profile>> profiles(places.size());
    std::vector<std::optional<Frame>> frames(places.size());
    std::vector<std::string> tools(places.size());
    in_parallel(places.size(), [&](std::size_t i) {
        if (const ImportFormat* format = import_format(places[i])) {
            tools[i] = format->name;
            frames[i] = import_frame(places[i]); // with the place in its errors
        } else {
            profiles[i] = read_profile(fs::path(places[i]), selection);
        }
    });
    for (std::size_t i = 0; i < places.size(); ++i)
        if (profiles[i]) add_names(*profiles[i], places[i]);
    std::vector<Run> runs(places.size());
    in_parallel(places.size(), [&](std::size_t i) {
        runs[i] = profiles[i] ? run_of(*profiles[i], places[i], choice) : run_of(*std::move(frames[i]), places[i], tools[i], choice);
        profiles[i].reset();
    });
    return runs;
}

std::string foreign_place(const std::vector<NamedPlaces>& groups) {
    const std::vector<std::string> places = all_places(groups);
    const auto foreign = std::find_if(places.begin(), places.end(), [](const std::string& place) { return import_format(place) != nullptr; });
    return foreign == places.end() ? "" : *foreign;
}

std::vector<RunGroup> read_groups(const std::vector<NamedPlaces>& groups, const RunChoice& choice) {
    std::vector<Run> runs = read_runs(all_places(groups), choice);
    std::vector<RunGroup> result;
    std::size_t next = 0;
    for (const NamedPlaces& group : groups) {
        RunGroup& added = result.emplace_back(RunGroup{group.name, {}});
        for (std::size_t i = 0; i < group.places.size(); ++i) added.runs.push_back(std::move(runs[next++]));
    }
    return result;
}

ProfilesOfGroups read_profiles(const std::vector<NamedPlaces>& groups) {
    const std::vector<std::string> places = all_places(groups);
    check_all_differ(places);
    ProfilesOfGroups result;
    result.profiles.resize(places.size());
    in_parallel(places.size(), [&](std::size_t i) {
        if (import_format(places[i]) != nullptr) throw UsageError(fmt::format("{} is of another tool and has no iterations; leave out --over-time", places[i]));
        result.profiles[i] = read_profile(fs::path(places[i]));
    });
    for (std::size_t i = 0; i < places.size(); ++i) add_names(result.profiles[i], places[i]);
    std::size_t next = 0;
    for (const NamedPlaces& group : groups) {
        ProfiledGroup& added = result.groups.emplace_back(ProfiledGroup{group.name, {}});
        for (const std::string& place : group.places) added.runs.push_back({place, &result.profiles[next++]});
    }
    return result;
}

std::vector<RunGroup> runs_of(const std::vector<ProfiledGroup>& groups, const RunChoice& choice) {
    std::vector<RunGroup> result;
    for (const ProfiledGroup& group : groups) {
        RunGroup& added = result.emplace_back(RunGroup{group.name, std::vector<Run>(group.runs.size())});
        in_parallel(group.runs.size(), [&](std::size_t r) { added.runs[r] = run_of(*group.runs[r].profile, group.runs[r].place, choice); });
    }
    return result;
}

} // namespace libprofile::tools
