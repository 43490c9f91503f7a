// The source lines of one function: what was spent there, and in what is called from there.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
//
// A function is known by its name without parameters and template arguments, in all modules and files, inlined or not. A line is the one
// of the sampled instruction, or of the call. A line that a recursive function came through several times counts once in its inclusive
// value. The sum of the own values of all lines is that of the function.
#pragma once

#include "tools/analysis/selected_tree.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// The names of functions that a user may have meant, those with most time first: the one that is called so; else all that are called so
/// in some class, namespace or module; else all that have the text in their name, upper and lower case alike.
std::vector<std::string> functions_called(const Profile& profile, const std::string& text);

/// All of them, those with most time first.
std::vector<std::string> function_names(const Profile& profile);

struct FunctionLine {
    std::string file; // as in the profile; empty if unknown
    std::uint64_t line = 0;
    std::uint32_t module = 0;             // of one of its addresses: index into Profile::modules
    std::vector<SelectedValue> own;       // by metric of the choice
    std::vector<SelectedValue> inclusive; // with what is called there
    std::vector<std::string> called;      // functions, those with most of the first metric first
};

struct FunctionLines {
    std::vector<FunctionLine> lines; // with a value; by file, those with most own time first, then line
    std::vector<SelectedValue> own;
    std::vector<SelectedValue> inclusive; // the outermost calls only
    std::vector<SampleStratum> strata;    // of the samples that shared out times
};

/// @param function one of function_names()
/// @param counts by call path: it is one that was asked for
FunctionLines function_lines(const Profile& profile, const std::string& function, const std::vector<bool>& counts, const TreeChoice& choice);

/// The lines of the functions with most own time in the whole run, all ranks and threads: time, samples and visits, in this order.
std::vector<std::pair<std::string, FunctionLines>> hottest_lines(const Profile& profile, std::size_t most);

} // namespace libprofile::tools
