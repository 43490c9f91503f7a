// In which order the events of a phase's iterations came, as one location saw it (LIBPROFILE_ORDER).
// Contract: plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

/// A position of a timeline: an event, or an iteration of another phase that lay inside; or several equal ones in a row. In the order of their ends.
struct SequenceEvent {
    static constexpr std::uint32_t none = 0xffffffffu;

    bool is_inner = false;
    std::uint32_t path = 0;        // of an event
    std::uint32_t phase = none;    // of an iteration inside: index into Profile::phases; none: it was not read
    std::uint32_t sequence = none; // of that: position in the sequences of its phase; none: not known
    std::uint64_t count = 1;       // in a row
    // Over the timed iterations, in ns since the iteration began. Of several in a row: the first.
    std::uint64_t begin_sum = 0;
    std::uint64_t begin_most = 0;
    std::uint64_t length_sum = 0;  // of all in a row
    std::uint64_t length_most = 0; // of a single one
};

struct EventSequence {
    std::uint64_t hash[2] = {};   // equal on all ranks and in all runs of the same code
    std::uint64_t iterations = 0; // of the location
    bool has_timeline = false;    // else memory was short, or there were too many events
    bool is_too_long = false;
    std::vector<SequenceEvent> events;

    /// Of a position of the timeline, in ns. Each iteration of a sequence that has a timeline is timed.
    double mean_begin(const SequenceEvent& event) const { return iterations == 0 ? 0 : static_cast<double>(event.begin_sum) / static_cast<double>(iterations); }
    double mean_length(const SequenceEvent& event) const {
        return iterations == 0 ? 0 : static_cast<double>(event.length_sum) / static_cast<double>(iterations);
    }
};

struct SequencesData {
    std::uint64_t unnumbered = 0; // iterations whose sequence has no place: there was no memory for another hash
    std::uint64_t untimed = 0;    // iterations with a sequence, but in no timeline
    std::vector<EventSequence> sequences;
    std::vector<std::uint32_t> number_of_iteration; // position in `sequences` + 1, 0: not known; of the first iterations

    /// The position of an iteration's sequence, from 0.
    std::optional<std::uint32_t> of_iteration(std::uint64_t iteration) const {
        if (iteration >= number_of_iteration.size() || number_of_iteration[iteration] == 0) return std::nullopt;
        return number_of_iteration[iteration] - 1;
    }
    /// Of so many iterations, those without a sequence.
    std::uint64_t unknown(std::uint64_t iterations) const {
        std::uint64_t known = 0;
        for (const std::uint32_t number : number_of_iteration) known += number != 0 ? 1 : 0;
        return iterations - known;
    }
};

} // namespace libprofile::tools
