// Builds live files in memory: the sample job's rank as a snapshot, and a journal behind it.
// Contract: for tests; one thread; allocates freely.
#pragma once

#include "format/journal.hpp"
#include "libprofile/clustering/iteration_profile.hpp"
#include "tests/unit/tools_profile_builder.hpp"

namespace libprofile::test {

class JournalBuilder {
  public:
    /// Any payload: numbers first, then bytes.
    void record(const std::function<void(Encoder&)>& write, const ByteVector& cells = {}) {
        Encoder measure(nullptr, 0);
        write(measure);
        const std::size_t size = measure.size() + cells.size();
        ByteVector payload(padded_to_8(size));
        Encoder encoder(payload.data(), measure.size());
        write(encoder);
        std::copy(cells.begin(), cells.end(), payload.begin() + static_cast<std::ptrdiff_t>(measure.size()));
        const JournalRecordHeader header{journal_mark, static_cast<std::uint32_t>(size), journal_check(payload.data(), size, sequence_++)};
        const auto* place = reinterpret_cast<const unsigned char*>(&header);
        bytes_.insert(bytes_.end(), place, place + sizeof header);
        bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    }
    static ByteVector coded(const std::vector<BuiltCell>& cells) {
        ByteVector bytes(cells.size() * JournalCells::largest + JournalCells::slack);
        unsigned char* out = bytes.data();
        std::uint32_t previous = 0;
        for (const BuiltCell& c : cells) {
            const std::uint32_t key = Cell::make_key(static_cast<std::uint32_t>(c.node), static_cast<std::size_t>(c.metric));
            out = JournalCells::put(out, key - previous, c.value);
            previous = key;
        }
        bytes.resize(static_cast<std::size_t>(out - bytes.data()));
        return bytes;
    }
    /// A phase "late", a function, and a node 6 below main that calls it.
    void definitions() {
        record([](Encoder& e) {
            e.number(static_cast<std::uint64_t>(JournalRecord::Definitions));
            for (const std::uint64_t n : {2u, 1u, static_cast<unsigned>(PhaseKind::Iterations)}) e.number(n);
            e.text("late");
            for (const std::uint64_t n : {2u, 0u, 1u}) e.number(n);
            FunctionRecord function{11, "MPI_Bcast", static_cast<std::uint64_t>(TimeCategory::MpiColl)};
            describe(e, function);
            for (const std::uint64_t n : {6u, 1u}) e.number(n);
            NodeRecord node{5, static_cast<std::uint64_t>(NodeKind::Mpi), 11, 0};
            describe(e, node);
        });
    }
    void iteration(JournalIteration r, const std::vector<BuiltCell>& cells) {
        r.cells = cells.size();
        record(
            [&](Encoder& e) {
                e.number(static_cast<std::uint64_t>(JournalRecord::Iteration));
                describe(e, r);
            },
            coded(cells));
    }
    void put_back(std::uint64_t phase) {
        record([&](Encoder& e) {
            e.number(static_cast<std::uint64_t>(JournalRecord::PutBack));
            e.number(phase);
        });
    }
    void phase(JournalPhase r, const std::vector<BuiltCell>& cells) {
        r.cells = cells.size();
        record(
            [&](Encoder& e) {
                e.number(static_cast<std::uint64_t>(JournalRecord::Phase));
                describe(e, r);
            },
            coded(cells));
    }
    const ByteVector& bytes() const { return bytes_; }

  private:
    ByteVector bytes_;
    std::uint64_t sequence_ = 0;
};

/// Two more iterations of "timestep", whose rest (300 ns) was of the first, one of "late", and what was outside.
inline ByteVector sample_journal() {
    JournalBuilder j;
    j.iteration({1, 0, 400, 2400, 3200, 1, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 350}, {3, Metric::Time, 50}, {3, Metric::Visits, 7}});
    j.definitions();
    j.iteration({1, 0, 100, 2500, 3400, 2, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 40}, {6, Metric::Time, 60}, {6, Metric::Visits, 1}});
    j.phase({0, 1, 3500, 30, 20, 0}, {{1, Metric::Time, 900}, {5, Metric::Time, 300}, {5, Metric::Visits, 2}});
    j.iteration({2, 0, 70, 70, 4000, 3, 1, {5, 6, 7, 8}, 0}, {{6, Metric::Time, 70}, {6, Metric::Visits, 2}});
    return j.bytes();
}

/// An iteration that was taken back, one that has its values as well, and one that was taken back at the end.
inline ByteVector taken_back_journal() {
    JournalBuilder j;
    j.iteration({1, 0, 400, 2400, 3400, 0, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 350}, {3, Metric::Time, 50}, {3, Metric::Visits, 7}});
    j.put_back(1);
    j.iteration({1, 3, 200, 2600, 3600, 0, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 540}, {3, Metric::Time, 60}, {3, Metric::Visits, 9}});
    j.iteration({1, 0, 100, 2700, 3700, 0, 0, {1, 2, 3, 4}, 0}, {{2, Metric::Time, 100}});
    j.put_back(1);
    return j.bytes();
}

/// `room`: bytes of the journal's block, at least those of the journal.
/// `with_series`: the snapshot has values of its iterations, too. `counters`: names of those that the user chose, and of those of regions.
/// `add`: blocks of the rank beside those of the sample.
inline ByteVector live_file(const ByteVector& journal, std::size_t room, bool with_series = false, const std::vector<std::string>& counters = {},
                            const std::function<void(ProfileBuilder&)>& add = {}) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics(counters);
    add_sample_rank(b, 0, true);
    if (add) add(b);
    if (with_series) b.series(0, "timestep", 3, {1, 1, 2, 1, 1, 1}, {10, 10, 100, 10, 10, 20});
    ByteVector bytes = b.bytes();
    const BlockHeader header{block_magic, static_cast<std::uint32_t>(BlockType::Journal), room, room, 0, 0};
    const auto* place = reinterpret_cast<const unsigned char*>(&header);
    bytes.insert(bytes.end(), place, place + sizeof header);
    bytes.insert(bytes.end(), journal.begin(), journal.end());
    bytes.resize(bytes.size() + room - journal.size());
    return bytes;
}

} // namespace libprofile::test
