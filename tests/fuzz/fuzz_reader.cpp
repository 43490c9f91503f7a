// Fuzz target: whatever bytes a profile file holds, reading, reporting and exporting end in a result or in one error.
#include "tools/commands/report_json.hpp"
#include "tools/commands/report_text.hpp"
#include "tools/export/formats.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/profile/reader.hpp"

#include <cstddef>
#include <cstdint>

namespace {

class Nowhere final : public libprofile::tools::Sink {
  public:
    void add(const std::string&, std::string_view) override {}
};

void export_all(const libprofile::tools::Profile& profile) {
    using namespace libprofile::tools;
    ExportRequest whole, part, late; // late: also what comes from a journal
    part.choice.iterations = IterationRange{1, 2};
    late.choice.iterations = IterationRange{4, 1000000};
    part.choice.by_line = true;
    Nowhere sink;
    for (const ExportFormat& format : export_formats())
        for (const ExportRequest& request : {whole, part, late})
            try {
                format.write(profile, request, sink);
            } catch (const ExportError&) {
            }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace libprofile::tools;
    const NamedBytes file{"profile.lprof", Bytes(data, size)};
    try {
        Profile profile = read_profile(std::span(&file, 1));
        expand_inlined(profile);
        // A damaged job record may claim millions of ranks; the report would be right, but the fuzzer slow.
        constexpr std::uint64_t most_ranks = 1000;
        if (profile.job.ranks <= most_ranks) {
            report_text(profile, TextStyle{});
            report_json(profile, {true, true});
            export_all(profile);
        }
    } catch (const ReadError&) {
    }
    // The same by its directories; the last byte chooses what.
    try {
        const std::uint8_t choice = size > sizeof(libprofile::FileHeader) ? data[size - 1] : 0;
        Selection selection;
        selection.ranks.insert(choice & 1u);
        if ((choice & 2u) != 0)
            selection.phases.insert("timestep");
        if ((choice & 4u) != 0)
            selection.metrics.insert("time");
        selection.series = selection.traces = (choice & 8u) != 0;
        read_profile(MemorySource(Bytes(data, size)), "profile.lprof", selection);
    } catch (const ReadError&) {
    }
    return 0;
}
