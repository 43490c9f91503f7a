// What a file has of one thread, and how it becomes a location of a profile: phases, the values of their iterations, what lay inside these.
// Contract: not thread-safe; allocates; throws std::bad_alloc only. What does not fit is lost, and said.
#pragma once

#include "tools/reader/numbering.hpp"
#include "tools/reader/profile_notes.hpp"

namespace libprofile::tools {

struct LocationParts {
    std::vector<RawPhase*> phases;
    std::vector<RawSeries*> series;
    std::vector<RawInside*> insides;
    std::vector<const RawBegins*> begins;
    std::vector<RawSequences*> sequences;
};

class LocationBuilder {
  public:
    /// All must outlive this. @param file its name
    LocationBuilder(const std::string& file, Profile& profile, Numbering& numbering, ProfileNotes& notes)
        : file_(file), profile_(profile), numbering_(numbering), notes_(notes) {}

    void take_phases(const LocationParts& parts, Location& location, CellNumbers numbers);
    /// For the phases that were taken.
    void attach_series(const LocationParts& parts, Location& location, CellNumbers numbers);
    void attach_insides(const LocationParts& parts, Location& location);
    void attach_begins(const LocationParts& parts, Location& location);
    void attach_sequences(const LocationParts& parts, Location& location, const std::vector<std::uint32_t>& nodes);
    void attach_trace(Trace& trace, Location& location, const std::vector<std::uint32_t>& nodes);
    /// `phases`: of the main thread, which come first: phase_of_number().
    void attach_events(KeptEvents& events, Location& location, const std::vector<std::uint32_t>& nodes, const std::map<std::uint32_t, std::uint32_t>& phases);
    /// Phases that were taken, by their number in the file.
    const std::map<std::uint32_t, std::uint32_t>& phase_of_number() const { return phase_of_number_; }
    void attach_partners(Partners& partners, Location& location, const std::vector<std::uint32_t>& nodes);
    void check_sums(const Location& location);

  private:
    std::optional<const char*> oddity_of_insides(const Location& location) const;
    bool map_sequences(SequencesData& data, const std::vector<std::uint32_t>& nodes) const;
    bool map_trace(Trace& trace, const std::vector<std::uint32_t>& nodes) const;
    void note(std::string what) { notes_.note(std::move(what)); }
    void lose(std::string what) { notes_.lose(std::move(what)); }

    const std::string& file_;
    Profile& profile_;
    Numbering& numbering_;
    ProfileNotes& notes_;
    std::map<std::uint32_t, std::uint32_t> phase_of_number_; // those that were taken
};

} // namespace libprofile::tools
