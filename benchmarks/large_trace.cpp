// Writes the profile of a job with a large event trace, for measurements of `libprofile view --serve`:
//   large_trace FOLDER RANKS ITERATIONS CALLS
// Each rank makes CALLS calls of MPI in each iteration: exchanges with its neighbours in a ring, inside a named region, and now and then a reduction.
// Times are made up, the same ones on every run; iterations begin at the same time on all ranks. Prints the size of the file.
// Memory: the events of a rank.
#include "benchmarks/written_profile.hpp"
#include "format/begins.hpp"
#include "format/clock.hpp"
#include "format/events.hpp"
#include "format/regions.hpp"
#include "tests/unit/split_mix.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace {

using namespace libprofile;
using namespace libprofile::test;

enum Node : std::uint64_t { Root, Main, Exchange, Receive, Send, Wait, Reduce, Nodes = Reduce };
constexpr std::uint64_t region = 7, call_ns = 20'000, first_ns = 1'000'000;

struct Job {
    std::uint64_t ranks, iterations, calls;
    std::uint64_t length() const { return calls * call_ns; } // of an iteration
    std::uint64_t wall() const { return first_ns + iterations * length(); }
};

/// The payload of an Events block while it is made.
class Events {
  public:
    Events(const Job& job, std::uint32_t rank) : job_(job), rank_(rank), random_{rank + 1} {
        bytes_.reserve(job.iterations * job.calls * 13);
        EventsRecord head{0, 1, 1'000'000, 0, 0, 0, job.iterations};
        put(head);
        for (std::uint64_t i = 0; i < job.iterations; ++i) iteration(i);
    }
    const ByteVector& bytes() const { return bytes_; }
    const std::uint64_t* time_of() const { return time_of_; }

  private:
    template <class Record> static void put_into(ByteVector& bytes, Record& record) {
        unsigned char room[160];
        Encoder e(room, sizeof room);
        describe(e, record);
        bytes.insert(bytes.end(), room, room + e.size());
    }
    template <class Record> void put(Record& record) { put_into(bytes_, record); }

    void interval(std::uint64_t node, std::uint64_t begin, std::uint64_t end) {
        EventRecord event;
        const auto difference = static_cast<std::int64_t>(node - node_);
        event.rest = (static_cast<std::uint64_t>(difference) << 1) ^ static_cast<std::uint64_t>(difference >> 63);
        event.gap = static_cast<std::int64_t>(begin - at_);
        event.length = end - begin;
        put_into(part_, event);
        node_ = node;
        at_ = end;
        ++events_;
    }
    void call(std::uint64_t node, std::uint64_t length) {
        interval(node, now_, now_ + length);
        now_ += length;
        time_of_[node] += length;
    }
    void message(bool is_received, std::uint64_t number) {
        EventRecord event;
        event.type = EventType::Message;
        event.rest = MessageHasPartner | MessageHasNumber | (is_received ? std::uint64_t{MessageIsReceived} : 0);
        event.partner = (rank_ + (is_received ? job_.ranks - 1 : 1)) % job_.ranks;
        event.tag = 7;
        event.bytes = 8 * (100 + number % 5);
        event.number = number;
        put_into(part_, event);
        ++events_;
    }
    std::uint64_t about(std::uint64_t ns) { return ns / 2 + random_() % ns; }

    void iteration(std::uint64_t number) {
        const std::uint64_t begin = first_ns + number * job_.length(), end = begin + job_.length();
        part_.clear();
        events_ = node_ = 0;
        at_ = now_ = begin;
        for (std::uint64_t c = 0; c < job_.calls; c += 3) {
            if (c / 3 % 8 == 7) {
                now_ += about(10'000);
                call(Reduce, about(6'000));
                continue;
            }
            const std::uint64_t around = now_ += about(14'000 + rank_ % 8 * 500);
            call(Receive, about(700));
            call(Send, about(1'500));
            message(false, ++messages_);
            now_ += about(5'000);
            call(Wait, about(8'000));
            message(true, messages_);
            interval(Exchange, around, now_ += 100);
        }
        EventPartRecord head{static_cast<std::uint64_t>(PartKind::Iteration), 0, number, PartHasItsTurn, number == 0 ? begin : 0, end - begin, events_, 0};
        put(head);
        bytes_.insert(bytes_.end(), part_.begin(), part_.end());
    }

    const Job& job_;
    std::uint32_t rank_;
    Random random_;
    ByteVector bytes_, part_;
    std::uint64_t events_ = 0, node_ = 0, at_ = 0, now_ = 0, messages_ = 0;
    std::uint64_t time_of_[Nodes + 1] = {};
};

void write_job(WrittenProfile& file, const Job& job) {
    file.block(of(BlockType::Job), no_rank, [&](Encoder& e) {
        JobRecord r;
        r.ranks = job.ranks;
        r.mpi = "Open MPI 4.1.4";
        r.command = "./large";
        r.executable = "/nowhere/large";
        r.version = "0.1.0";
        describe(e, r);
    });
    file.block(of(BlockType::Metrics), no_rank, write_metrics);
    file.block(of(BlockType::Modules), no_rank, [](Encoder& e) {
        e.number(1);
        ModuleRecord r{"LARGE", "/nowhere/large"};
        describe(e, r);
    });
    file.block(of(BlockType::Functions), no_rank, [](Encoder& e) {
        FunctionRecord list[] = {{0, "MPI_Irecv", static_cast<std::uint64_t>(TimeCategory::MpiP2p)},
                                 {1, "MPI_Isend", static_cast<std::uint64_t>(TimeCategory::MpiP2p)},
                                 {2, "MPI_Waitall", static_cast<std::uint64_t>(TimeCategory::MpiP2p)},
                                 {3, "MPI_Allreduce", static_cast<std::uint64_t>(TimeCategory::MpiColl)}};
        e.number(std::size(list));
        for (FunctionRecord& r : list) describe(e, r);
    });
    file.block(of(BlockType::Tree), no_rank, [](Encoder& e) {
        TreeRecord t{0, Nodes};
        describe(e, t);
        NodeRecord list[] = {{1, static_cast<std::uint64_t>(NodeKind::Frame), 0, 0x1000}, {1, static_cast<std::uint64_t>(NodeKind::Region), 0, region},
                             {1, static_cast<std::uint64_t>(NodeKind::Mpi), 0, 0},        {2, static_cast<std::uint64_t>(NodeKind::Mpi), 1, 0},
                             {3, static_cast<std::uint64_t>(NodeKind::Mpi), 2, 0},        {5, static_cast<std::uint64_t>(NodeKind::Mpi), 3, 0}};
        for (NodeRecord& r : list) describe(e, r);
    });
}

void write_rank(WrittenProfile& file, const Job& job, std::uint32_t rank) {
    const Events events(job, rank);
    const std::uint64_t wall = job.wall() - first_ns;
    write_rank_tables(file, rank, wall, Nodes);
    file.block(of(BlockType::Clock), rank, [&](Encoder& e) {
        ClockRecord r{1, 1, 0, job.wall(), job.wall(), 0, 0, 0};
        describe(e, r);
    });
    file.block(of(BlockType::Regions), rank, [&](Encoder& e) {
        RegionsRecord r;
        r.names = 1;
        describe(e, r);
        RegionNameRecord name{0, region, "exchange"};
        describe(e, name);
    });
    file.block(of(BlockType::Phase, 1), rank, [&](Encoder& e) {
        PhaseRecord r;
        r.name = "step";
        r.kind = static_cast<std::uint64_t>(PhaseKind::Iterations);
        r.instances = job.iterations;
        r.wall_ns = r.wall_inclusive_ns = wall;
        r.classes = r.clusters = r.metrics = 1;
        describe(e, r);
        ClusterRecord cluster{job.iterations, 0};
        describe(e, cluster);
        for (const std::uint64_t n : {std::uint64_t{1}, job.iterations, std::uint64_t{0}}) e.number(n); // one run
        e.signed_number(static_cast<std::int64_t>(job.length()));
        for (std::uint64_t i = 1; i < job.iterations; ++i) e.signed_number(0);
    });
    file.block(of(BlockType::Begins, 1), rank, [&](Encoder& e) {
        BeginsRecord r{0, 0, first_ns};
        describe(e, r);
        const std::string gaps(GapCode::bytes * job.iterations, '\0');
        e.text(Text(gaps.data(), gaps.size()));
    });
    file.block(of(BlockType::Cells, 1, 1), rank, [&](Encoder& e) {
        CellsRecord r{0, 0, 0, 2};
        describe(e, r);
        e.number(Nodes);
        e.number(0);
        for (std::uint64_t n = 0; n < Nodes; ++n) e.number(1);
        std::uint64_t calls = 0;
        for (std::uint64_t n = Main; n <= Nodes; ++n) calls += events.time_of()[n];
        e.number(wall - calls);
        for (std::uint64_t n = Exchange; n <= Nodes; ++n) e.number(events.time_of()[n]);
    });
    file.block(of(BlockType::Events), rank, events.bytes());
}

} // namespace

int main(int argc, char** argv) {
    const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
    const Job job = argc == 5 ? Job{number(2), number(3), number(4)} : Job{};
    if (job.ranks == 0 || job.iterations == 0 || job.calls == 0) {
        std::fprintf(stderr, "usage: large_trace FOLDER RANKS ITERATIONS CALLS\n");
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    WrittenProfile file(folder / "profile.lprof", job.ranks);
    write_job(file, job);
    for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
        write_rank(file, job, rank);
        file.directory(rank);
    }
    const bool good = file.end();
    std::printf("%.2f GiB\n", static_cast<double>(file.size()) / (1 << 30));
    return good ? 0 : 1;
}
