// Runs a libFuzzer target without libFuzzer: mutates valid profiles for some seconds.
// Usage: driver SECONDS [SEED [PROFILE...]], or driver --write-corpus FOLDER, which makes the files in corpus/ but those of real jobs.
//
// Random bytes would stop at the checksums, so most mutants get theirs repaired: then the decoders see the damage.
#include "format/events.hpp"
#include "format/machine.hpp"
#include "format/pages.hpp"
#include "tests/fuzz/repair.hpp"
#include "tests/fuzz/totals_seed.hpp"
#include "tests/unit/tools_code_loops.hpp"
#include "tests/unit/tools_journal_builder.hpp"
#include "tests/unit/tools_profile_builder.hpp"
#include "tests/unit/tools_timeline_file.hpp"
#include "tools/reader/decode.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace libprofile;
using libprofile::test::ByteVector;
using libprofile::test::repair;

class Mutator {
  public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    ByteVector mutate(ByteVector bytes) {
        for (std::uint64_t n = 1 + below(4); n-- > 0;) change(bytes);
        if (below(8) != 0) repair(bytes.data(), bytes.size());
        return bytes;
    }

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    void change(ByteVector& bytes) {
        if (bytes.empty()) return;
        const std::size_t at = below(bytes.size());
        constexpr unsigned char special[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
        switch (below(6)) {
        case 0: bytes[at] ^= static_cast<unsigned char>(1u << below(8)); break;
        case 1: bytes[at] = static_cast<unsigned char>(below(256)); break;
        case 2: bytes[at] = special[below(std::size(special))]; break;
        case 3: // a long number
            for (std::size_t i = at; i < std::min(at + 1 + below(10), bytes.size()); ++i) bytes[i] = 0xff;
            break;
        case 4: bytes.resize(at); break;
        default: { // a piece from elsewhere
            const std::size_t from = below(bytes.size());
            const std::size_t size = std::min({std::size_t{1} + below(64), bytes.size() - at, bytes.size() - from});
            std::memmove(bytes.data() + at, bytes.data() + from, size);
        }
        }
    }

    std::mt19937_64 random_;
};

/// Names with inlined functions, and loops, for both modules of the sample job.
ByteVector with_names() {
    test::ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    test::add_sample_rank(b, 0);
    test::add_sample_trace(b, 0);
    b.block(BlockType::Names, no_rank, [](Encoder& e) {
        e.number(2);
        tools::NameRecord solve{"", "/usr/lib/libsolve.so", 0x2000, "solve", "solve.cpp", 20, 2};
        describe(e, solve);
        tools::InlinedRecord sweep{"sweep", "sweep.hpp", 30}, kernel{"kernel", "kernel.hpp", 40};
        describe(e, sweep);
        describe(e, kernel);
        tools::NameRecord main{"BUILD-APP", "/home/user/app", 0x1000, "main", "main.cpp", 10, 0};
        describe(e, main);
    });
    b.block(BlockType::CodeLoops, no_rank, [](Encoder& e) {
        e.number(2);
        ModuleRecord app{"BUILD-APP", "/home/user/app"}, solve{"", "/usr/lib/libsolve.so"};
        describe(e, app);
        encode(e, test::sample_loops(0x1000));
        describe(e, solve);
        encode(e, test::sample_loops(0x2000));
    });
    return b.bytes();
}

/// Two ranks that share the job's tables, some of it compressed.
ByteVector with_job_tables() {
    test::ProfileBuilder b(2);
    b.job(2);
    b.metrics();
    b.modules(no_rank, {{"BUILD-APP", "/home/user/app"}});
    b.functions(no_rank, {{5, "MPI_Barrier", TimeCategory::MpiSyncColl}});
    std::vector<test::BuiltNode> nodes = {{0, NodeKind::OffCpu, 0, 0}, {0, NodeKind::Mpi, 5, 0}};
    std::vector<std::uint64_t> map = {2, 1};
    for (std::uint64_t i = 0; i < 200; ++i) {
        nodes.push_back({nodes.size(), NodeKind::Frame, 0, 0x1000 + i});
        map.push_back(nodes.size());
    }
    b.tree(no_rank, 0, nodes);
    b.compress_last();
    b.node_map(0, 0, map);
    b.compress_last();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        RankRecord r;
        r.rank = rank;
        r.threads = 1;
        b.rank(r);
        b.location(rank, {0, 205, 1, static_cast<std::uint64_t>(PathsIn::NodeMap), 0, 0});
        test::BuiltPhase p;
        p.wall_ns = 205;
        p.rest = {{1, Metric::Time, 5}};
        for (std::uint64_t i = 0; i < 200; ++i) p.rest.push_back({i + 3, Metric::Time, 1});
        b.phase(rank, p);
        b.compress_last();
        b.directory(rank);
    }
    b.end();
    return b.bytes();
}

/// Chosen counters, whose values single iterations have, too, and places.
ByteVector with_counters() {
    test::ProfileBuilder b(2);
    b.job(2);
    b.metrics({"page_faults", "PAPI_TOT_INS"});
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        test::add_sample_rank(b, rank);
        b.series(rank, "timestep", 3, {1, 1, 2, 1, 1, 1}, {10, 10, 100, 10, 10, 20});
        b.place(rank, "0-1,3", rank, rank == 0 ? "page_faults,PAPI_TOT_INS" : "other", 1);
        b.directory(rank);
    }
    b.end();
    return b.bytes();
}

/// Partners of messages, and clocks of two machines.
ByteVector with_partners() {
    test::ProfileBuilder b(2);
    b.job(2);
    b.metrics();
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        test::add_sample_rank(b, rank);
        b.partners(rank, {{2, MessageDirection::Sent, {{1 - rank, 3, 300}, {rank, 1, 0}}, 4, 0}, {2, MessageDirection::Received, {}, 0, 2}}, rank);
        b.clock(rank, {7 + rank, 1000 * rank, 5, 2001, 2000, 1, -500, 10 * rank});
        b.directory(rank);
    }
    b.end();
    return b.bytes();
}

/// A journal whose iterations have begins.
ByteVector with_begins() {
    return test::live_file(test::sample_journal(), 1024, false, {}, [](test::ProfileBuilder& b) {
        b.begins(0, 1, 1100, {"\0\0\5\0\0\0\0\0\0\0\0\0", 12});
        b.clock(0, {7, 0, 1000, 5000, 5000});
    });
}

/// The order of events in iterations, with iterations of another phase inside.
ByteVector with_sequences() {
    test::ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    test::add_sample_rank(b, 0);
    b.sequences(0, {0, 1, 6, 1, 1},
                {{{{11, 12}, 5, SequenceHasTimeline}, {{4, 0, 1, 400, 150, 80, 30}, {3, 2, 7, 4000, 1500, 800, 300}}}, {{{13, 14}, 1, 2}, {}}},
                {1, 1, 0, 2, 1, 1});
    b.directory(0);
    b.end();
    return b.bytes();
}

/// Events of a thread that makes and runs tasks.
ByteVector with_tasks() {
    test::ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    test::add_sample_rank(b, 0);
    b.block(BlockType::Events, 0, [](Encoder& e) {
        EventsRecord head{0, 1, 1u << 26, 0, 0, 0, 1};
        describe(e, head);
        EventPartRecord part{0, 0, 5, PartHasItsTurn, 10, 1000, 8, 2};
        describe(e, part);
        const auto add = [&e](TaskEvent what, std::uint64_t says, std::int64_t path, std::uint64_t length, std::uint64_t number, std::uint64_t address) {
            EventRecord event;
            event.type = EventType::Task;
            event.rest = task_rest(what, says);
            event.path = path;
            event.gap = 5;
            event.length = length;
            event.number = number;
            event.address = address;
            describe(e, event);
        };
        add(TaskEvent::Creation, TaskIsUntied, 2, 0, 1, 0);
        add(TaskEvent::Depends, static_cast<std::uint64_t>(TaskDependence::InOut), 0, 0, 0, 0x1234);
        add(TaskEvent::Run, TaskIsResumed, 1, 20, 1, 0);
        add(TaskEvent::Further, 1, 0, 0, 4, 0);
        add(TaskEvent::Run, TaskIsOver, -1, 30, 1, 0);
        add(TaskEvent::Further, 2, 0, 7, 0, 0);
        add(TaskEvent::Further, 9, 0, 8, 0, 0);
        add(TaskEvent::Further, 0, 0, 40, 0, 0);
    });
    b.block(BlockType::Machine, 0, [](Encoder& e) {
        MachineRecord machine{"hwloc", 4, 1};
        describe(e, machine);
        for (MachineObjectRecord object : {MachineObjectRecord{1, 2, 0, 0, 0}, {5, 0, 1, 1 << 20, 0}, {11, 1, 1, 0, 1}, {12, 0, 1, 0, 0}}) describe(e, object);
        e.number(10);
    });
    b.block(BlockType::Pages, 0, [](Encoder& e) {
        PagesRecord pages{4096, 1, 2, 3, 4, 5, 2};
        describe(e, pages);
        for (PageRangeRecord range : {PageRangeRecord{16, 1, 0}, PageRangeRecord{2, 3, 1}}) describe(e, range);
    });
    b.directory(0);
    b.end();
    return b.bytes();
}

/// Events that fill many leaves of an index.
ByteVector with_timeline() {
    test::ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    test::add_sample_rank(b, 0);
    test::TimelineFile::add_events(b, test::made_events({40, 40, 1, true}));
    b.directory(0);
    b.end();
    return b.bytes();
}

/// The files that are given by name, e.g. of real jobs.
std::vector<ByteVector> read_seeds(int count, char** names) {
    std::vector<ByteVector> seeds;
    for (int i = 0; i < count; ++i) {
        std::ifstream in(names[i], std::ios::binary);
        ByteVector bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
        if (bytes.empty())
            std::fprintf(stderr, "cannot read %s\n", names[i]);
        else
            seeds.push_back(std::move(bytes));
    }
    return seeds;
}

/// Every kind of block, and every way of using it.
std::vector<ByteVector> made_seeds() {
    return {test::sample_file(1),
            test::sample_file(3),
            test::sample_file(2, true),
            with_names(),
            with_job_tables(),
            test::live_file(test::sample_journal(), 1024),
            test::live_file(test::taken_back_journal(), 1024, true),
            with_counters(),
            with_partners(),
            with_begins(),
            with_sequences(),
            test::totals_seed(),
            with_tasks(),
            with_timeline()};
}

void write_corpus(const std::string& folder) {
    int number = 0;
    for (const ByteVector& seed : made_seeds())
        std::ofstream(folder + "/made-" + std::to_string(number++) + ".lprof", std::ios::binary)
            .write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
}

} // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::string(argv[1]) == "--write-corpus") {
        write_corpus(argv[2]);
        return 0;
    }
    const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
    const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
    std::vector<ByteVector> seeds = made_seeds();
    for (ByteVector& given : read_seeds(argc - 3, argv + 3)) seeds.push_back(std::move(given));
    Mutator mutator(seed);
    std::size_t runs = 0;
    double slowest = 0;
    const auto begin = std::chrono::steady_clock::now();
    const auto end = begin + std::chrono::duration<double>(seconds);
    for (auto now = std::chrono::steady_clock::now(); now < end; ++runs) {
        // Exactly as long as it is, so that a sanitizer sees every byte beyond.
        const ByteVector input = mutator.mutate(seeds[runs % seeds.size()]);
        LLVMFuzzerTestOneInput(input.data(), input.size());
        const auto after = std::chrono::steady_clock::now();
        slowest = std::max(slowest, std::chrono::duration<double>(after - now).count());
        now = after;
    }
    std::printf("%zu inputs, the slowest took %.3f s, seed %llu\n", runs, slowest, static_cast<unsigned long long>(seed));
    return 0;
}
