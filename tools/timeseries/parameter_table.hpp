// The parameters of the analysis of time series by name: the one table that options, JSON and docs have them from.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/timeseries/parameters.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace libprofile::tools {

struct ParameterRow {
    using Member = std::variant<double TimeSeriesParameters::*, std::uint32_t TimeSeriesParameters::*>; // the latter: a whole number
    std::string_view name;
    std::string_view in_paper; // empty: ours
    Member member;
    double least, most;
    std::string_view text;
};

/// All of which a result depends.
std::span<const ParameterRow> parameter_rows();

double value_of(const TimeSeriesParameters& parameters, const ParameterRow& row);

/// "ratio_min=0.05". @return what is wrong with it; nothing if it was set
std::optional<std::string> set_parameter(TimeSeriesParameters& parameters, const std::string& setting);

/// A line for each, "  child_num_acc [5]        ...".
std::string parameter_lines();

} // namespace libprofile::tools
