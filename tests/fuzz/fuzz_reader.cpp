// Fuzz target: whatever bytes a profile file holds, reading, reporting and exporting end in a result or in one error.
#include "format/codec.hpp"
#include "tests/fuzz/timeline_fuzz.hpp"
#include "tests/fuzz/totals_seed.hpp"
#include "tools/export/formats.hpp"
#include "tools/names/expand_inlined.hpp"
#include "tools/reader/rank_stream.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/json.hpp"
#include "tools/report/text.hpp"
#include "tools/view/page_data.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

namespace {

class Nowhere final : public libprofile::tools::Sink {
  public:
    void add(const std::string&, std::string_view) override {}
};

/// One of what can be made of a profile: all of it would take most of the time, so that few inputs were tried.
void show(const libprofile::tools::Profile& profile, std::size_t chosen) {
    using namespace libprofile::tools;
    if (chosen % 4 == 0) {
        if (chosen / 4 % 3 == 0)
            report_text(profile, TextStyle{});
        else if (chosen / 4 % 3 == 1)
            report_json(profile, {true, true});
        else
            page_data(profile, {});
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

namespace {

/// A rank at a time, as frames of whole runs are made.
void read_by_rank(const std::uint8_t* data, std::size_t size) {
    using namespace libprofile::tools;
    try {
        const auto stream = RankStream::open(std::make_unique<const MemorySource>(Bytes(data, size)));
        if (stream) {
            RankStream::Room room(*stream);
            for (std::size_t rank = 0; rank < stream->ranks().size(); ++rank)
                stream->sum_up(rank, room, [](std::uint32_t, std::uint32_t, const PathColumn&) {});
        }
    } catch (const ReadError&) {
    }
}

void read_totals(const std::uint8_t* data, std::size_t size) {
    using namespace libprofile::tools;
    const int file = ::memfd_create("totals", MFD_CLOEXEC);
    if (file < 0) return;
    if (::write(file, data, size) == static_cast<ssize_t>(size)) {
        const TotalsKey key = libprofile::test::totals_seed_key();
        const auto totals = TotalsFile::open(file, key);
        std::vector<unsigned char> bytes;
        std::uint64_t paths = 0;
        if (totals)
            for (const TotalsFile::Place& place : totals->places())
                totals->read(place, bytes, [&](std::uint32_t path, std::uint64_t) { paths += path < key.paths ? 0 : 1; });
        if (paths != 0) std::abort();
    }
    ::close(file);
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
    read_by_rank(data, size);
    read_totals(data, size);
    libprofile::test::fuzz_timelines(Bytes(data, size), chosen);
    return 0;
}
