// The records of totals.lprof: what each thread's call paths had over the whole run. Written by `libprofile` beside a large profile, so that
// it need not read all clusters of all phases again (docs/format.md, "Totals").
// Contract: plain data; no allocation.
#pragma once

#include "format/codec.hpp"

#include <cstdint>

namespace libprofile {

/// Changes when the same profile gives other sums, or the blocks other bytes: what was kept is then made again.
inline constexpr std::uint64_t totals_method = 1;

/// One metric of one thread; then runs*( call paths left out since the run before, call paths of the run ), then the values of all runs.
struct TotalsRecord {
    std::uint64_t thread = 0;
    std::uint64_t metric = 0; // position in the index's list
    std::uint64_t rows = 0;   // values
    std::uint64_t runs = 0;
};
template <class Codec> void describe(Codec& c, TotalsRecord& r) {
    c.number(r.thread);
    c.number(r.metric);
    c.number(r.rows);
    c.number(r.runs);
}

/// The job's block: what the totals belong to, and where they are. Then files*( text name, size, mtime in ns ); metrics*( text name );
/// blocks*( TotalsPlaceRecord ) in the order of the file; sums*( TotalsRecord and what follows it ), over all threads, `thread` being 0.
struct TotalsIndexRecord {
    std::uint64_t method = 0; // totals_method
    Text version;             // of libprofile
    std::uint64_t paths = 0;  // of the profile
    std::uint64_t threads = 0;
    std::uint64_t files = 0;
    std::uint64_t metrics = 0;
    std::uint64_t blocks = 0;
    std::uint64_t sums = 0;
};
template <class Codec> void describe(Codec& c, TotalsIndexRecord& r) {
    c.number(r.method);
    c.text(r.version);
    c.number(r.paths);
    c.number(r.threads);
    c.number(r.files);
    c.number(r.metrics);
    c.number(r.blocks);
    c.number(r.sums);
}

struct TotalsPlaceRecord {
    std::uint64_t rank = 0;
    std::uint64_t thread = 0;
    std::uint64_t metric = 0;
    std::uint64_t rows = 0;
    std::uint64_t at = 0;   // offset of the block's header
    std::uint64_t size = 0; // of its payload
};
template <class Codec> void describe(Codec& c, TotalsPlaceRecord& r) {
    c.number(r.rank);
    c.number(r.thread);
    c.number(r.metric);
    c.number(r.rows);
    c.number(r.at);
    c.number(r.size);
}

} // namespace libprofile
