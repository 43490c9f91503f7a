// The runs that a command line names, read for comparison.
// Contract: one thread (starts others and waits for them); writes new names into folders of profiles; throws ReadError, ExportError, FrameError,
// UsageError with a sentence.
#pragma once

#include "tools/comparison/comparison.hpp"
#include "tools/comparison/over_time.hpp"
#include "tools/comparison/run.hpp"

#include <string>
#include <vector>

namespace libprofile::tools {

/// A name, and the folders or files of its repetitions.
struct NamedPlaces {
    std::string name;
    std::vector<std::string> places;
};

/// Whether it is NAME=RUN, and no file that is called so.
bool is_named(const std::string& argument);

/// "today=DIR,DIR" is a group of that name, and so are all arguments of one name; each other argument is a group of its own, named after its folder.
std::vector<NamedPlaces> named_places(const std::vector<std::string>& arguments);

/// The groups that `RUN RUN`, `NAME=RUN NAME=RUN` or `--baseline RUN -- RUN` name, the baseline first.
/// @param command "compare", for what is said when they do not make two
std::vector<NamedPlaces> compared_places(const std::vector<std::string>& runs, const std::vector<std::string>& baseline, const std::string& command);

/// Profiles of libprofile and of other tools, recognised by their content.
std::vector<Run> read_runs(const std::vector<std::string>& places, const RunChoice& choice);

/// The same, group by group.
std::vector<RunGroup> read_groups(const std::vector<NamedPlaces>& groups, const RunChoice& choice);

/// The first one that is a profile of another tool, which has no iterations; empty: none is.
std::string foreign_place(const std::vector<NamedPlaces>& groups);

/// Groups of profiles of libprofile, with names and the values of all iterations, for comparisons over time.
struct ProfilesOfGroups {
    std::vector<Profile> profiles;     // of all runs, in order
    std::vector<ProfiledGroup> groups; // which point to them
};
/// @throws UsageError when a run is a profile of another tool
ProfilesOfGroups read_profiles(const std::vector<NamedPlaces>& groups);

/// What read_groups() makes of them.
std::vector<RunGroup> runs_of(const std::vector<ProfiledGroup>& groups, const RunChoice& choice);

} // namespace libprofile::tools
