// Fuzz target: whatever bytes a profile file holds, reading, reporting and exporting end in a result or in one error.
#include "format/codec.hpp"
#include "tools/export/formats.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/json.hpp"
#include "tools/report/text.hpp"
#include "tools/view/page_data.hpp"

#include <cstddef>
#include <cstdint>

namespace {

class Nowhere final : public libprofile::tools::Sink {
  public:
    void add(const std::string&, std::string_view) override {}
};

/// One of what can be made of a profile: all of it would take most of the time, so that few inputs were tried.
void show(const libprofile::tools::Profile& profile, std::size_t chosen) {
    using namespace libprofile::tools;
    if (chosen % 4 == 0) {
        std::string data;
        if (chosen / 4 % 3 == 0)
            report_text(profile, TextStyle{});
        else if (chosen / 4 % 3 == 1)
            report_json(profile, {true, true});
        else
            append_page_data(profile, {}, data);
        return;
    }
    ExportRequest whole, part, late; // late: also what comes from a journal
    part.choice.iterations = IterationRange{1, 2};
    late.choice.iterations = IterationRange{4, 1000000};
    part.choice.by_line = true;
    const ExportRequest& request = chosen % 4 == 1 ? whole : chosen % 4 == 2 ? part : late;
    Nowhere sink;
    const auto& formats = export_formats();
    try {
        formats[chosen / 4 % formats.size()].write(profile, request, sink);
    } catch (const ExportError&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace libprofile::tools;
    const std::uint32_t chosen = libprofile::crc32(data, size);
    const NamedBytes whole{"profile.lprof", Bytes(data, size)};
    const NamedBytes killed[] = {{"profile.lprof.partial", whole.bytes}, {"rank-0.lprof", whole.bytes}};
    try {
        Profile profile = read_profile(chosen % 8 == 0 ? std::span<const NamedBytes>(killed) : std::span(&whole, 1));
        expand_inlined(profile);
        show(profile, chosen / 8);
    } catch (const ReadError&) {
    } catch (const SelectionError&) { // too many ranks are missing
    }
    // The same by its directories; the last byte chooses what.
    try {
        const std::uint8_t choice = size > sizeof(libprofile::FileHeader) ? data[size - 1] : 0;
        Selection selection;
        selection.ranks.insert(choice & 1u);
        if ((choice & 2u) != 0) selection.phases.insert("timestep");
        if ((choice & 4u) != 0) selection.metrics.insert("time");
        selection.series = selection.traces = (choice & 8u) != 0;
        read_profile(MemorySource(Bytes(data, size)), "profile.lprof", selection);
    } catch (const ReadError&) {
    }
    return 0;
}
