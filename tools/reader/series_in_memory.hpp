// What a reader gets of a series that is still in the memory of its writer.
// Contract: thread-safe (no state); allocates in proportion to the series; throws std::bad_alloc only.
#pragma once

#include "libprofile/clustering/time_series.hpp"
#include "tools/reader/series.hpp"

namespace libprofile::tools {

SeriesData series_data_of(const TimeSeries& series);

} // namespace libprofile::tools
