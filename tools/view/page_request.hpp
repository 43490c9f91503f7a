// What the page of `libprofile view` is to hold.
// Contract: plain data.
#pragma once

#include "tools/names/source_text.hpp"
#include "tools/timeline/timeline_index.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace libprofile::tools {

/// The page cannot be made or written; one sentence.
struct ViewError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct PageRequest {
    std::vector<std::string> metrics;                         // of the value maps, by name; empty: as many as fit
    std::size_t map_bytes = std::size_t{4500} * 1000;         // of all value maps together, compressed
    std::size_t exact_values = std::size_t{600} * 1000;       // up to so many values of maps are there exactly, too
    std::size_t exact_cells = std::size_t{300} * 1000;        // up to so many values of clusters are exact
    std::size_t iteration_times = std::size_t{100} * 1000;    // up to so many iterations of a phase, all ranks, have their computing times
    std::size_t values_in_memory = std::size_t{60} * 1000000; // more metrics of iterations are not read
    std::size_t file_bytes = std::size_t{20} * 1000000;       // of a file: events get what the rest leaves
    std::size_t served_event_bytes = std::size_t{160} * 1000000;
    std::size_t most_maps = ~std::size_t{0}; // of a phase
    std::vector<SourceMap> source_maps = {}; // where source files are now
    std::string folder = {};                 // of the profile, in commands; empty: the one that the job wrote
    bool with_source = false;                // a page that is not served has source text, too
    bool served = false;                     // the page may ask (page_answers.hpp)
    TimelineIndex::Progress on_index = {};   // while an index of events is made
    std::uint64_t snapshot = 0;              // number of a state of a job that runs; 0: there is one only
};

} // namespace libprofile::tools
