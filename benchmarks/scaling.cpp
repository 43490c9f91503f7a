// Measures how long merging the call-path tables of a job takes with very many ranks: one process runs the code of the runtime
// (libprofile/merge) for all ranks of a binomial tree, with an assumed network. docs/scaling.md has the results.
//
//   scaling [largest number of ranks] [folder for charts]
#include "libprofile/merge/table_builder.hpp"
#include "libprofile/merge/table_reduction.hpp"
#include "tests/unit/split_mix.hpp"
#include "tools/plot/charts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <time.h>

using namespace libprofile;
using libprofile::test::Random;

namespace {

constexpr double message_s = 5e-6; // latency of a message
constexpr double byte_s = 1e-9;    // 1 GB/s
constexpr std::uint64_t quota = 256u << 20;

/// Processor time: other programs may run.
double seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

enum class Kind { Identical, Sampled, Disjoint };

struct Workload {
    const char* name;
    Kind kind;
};
constexpr Workload workloads[] = {
    {"identical: the same 2,000 call paths", Kind::Identical},
    {"sampled: and 500 samples, Zipf over 50,000 code locations", Kind::Sampled},
    {"disjoint: 500 call paths of the rank alone", Kind::Disjoint},
};

constexpr std::uint32_t common_nodes = 2000;

/// The call paths of one rank.
bool build(Kind kind, std::uint64_t rank, PathTable& table, PageBudget& budget, TableSignature& layout) {
    for (int m = 0; m < 12; ++m) {
        const std::string id = "build-id of module " + std::string(1, static_cast<char>('a' + m));
        if (!table.add_module({Text(id.c_str()), "/usr/lib/x86_64-linux-gnu/libsomething.so.1"})) return false;
    }
    if (!table.add_function({0, "MPI_Allreduce", 8}) || !table.add_function({0, "MPI_Send", 7})) return false;
    TableBuilder builder(budget);
    bool ok = true;
    const auto tree = [&](Random random, std::uint32_t nodes) {
        for (std::uint32_t i = 1; i <= nodes; ++i) {
            const std::uint32_t parent = i < 8 ? i - 1 : static_cast<std::uint32_t>(i - 1 - random() % std::min<std::uint32_t>(i - 1, 12));
            ok = ok && (i % 5 == 0 ? builder.add(parent, NodeKind::Mpi, static_cast<std::uint32_t>(random() % 2), i)
                                   : builder.add(parent, NodeKind::Frame, static_cast<std::uint32_t>(random() % 12), 0x400000 + random() % 0x200000));
        }
    };
    std::uint32_t count = kind == Kind::Disjoint ? 500 : common_nodes;
    tree({kind == Kind::Disjoint ? rank + 1000 : 1}, count);
    if (kind == Kind::Sampled) {
        Random random{rank * 7919 + 5};
        for (int i = 0; i < 500; ++i) {
            const auto place = static_cast<std::uint64_t>(std::pow(50000.0, random.uniform()));
            Random of_place{place};
            const auto parent = static_cast<std::uint32_t>(1 + of_place() % common_nodes);
            ok = ok && builder.add(parent, NodeKind::Frame, static_cast<std::uint32_t>(of_place() % 12), 0x400000 + of_place() % 0x200000);
        }
        count += 500;
    }
    if (!ok || !builder.build(table)) return false;
    for (std::uint32_t i = 0; i <= count; ++i) layout.add(builder.number_of(i));
    for (const std::uint64_t word : table.signature().words) layout.add(word);
    return true;
}

struct Rank {
    PageBudget budget{quota};
    std::unique_ptr<TableReduction> reduction;
    std::uint64_t own_bytes = 0;
    double begin_down = 0;
};

struct Result {
    std::uint64_t own_nodes = 0, job_nodes = 0, outside = 0, maps = 0;
    std::uint64_t sent = 0, most_sent = 0, messages = 0, most_messages = 0;
    std::uint64_t memory_first = 0, memory_others = 0; // maximum, in addition to the own table
    double up_s = 0, down_s = 0, build_s = 0;
};

class Simulation {
  public:
    Simulation(Kind kind, std::uint64_t ranks) : kind_(kind), ranks_(ranks), inner_(ranks), sent_(ranks), messages_(ranks) {}

    Result run() {
        std::unique_ptr<Rank> first = make(0);
        result_.up_s = up(0, *first);
        inner_[0] = std::move(first);
        const double begin = seconds();
        inner_[0]->reduction->lead();
        result_.job_nodes = inner_[0]->reduction->table().size();
        inner_[0]->begin_down = seconds() - begin;
        down(0);
        for (std::uint64_t r = 0; r < ranks_; ++r) {
            result_.sent += sent_[r];
            result_.messages += messages_[r];
            result_.most_sent = std::max(result_.most_sent, sent_[r]);
            result_.most_messages = std::max<std::uint64_t>(result_.most_messages, messages_[r]);
        }
        return result_;
    }

  private:
    std::unique_ptr<Rank> make(std::uint64_t r) {
        auto rank = std::make_unique<Rank>();
        PathTable table(rank->budget);
        TableSignature layout;
        const double begin = seconds();
        if (!build(kind_, r, table, rank->budget, layout)) std::abort();
        result_.build_s = std::max(result_.build_s, r < 100 ? seconds() - begin : 0);
        result_.own_nodes = std::max<std::uint64_t>(result_.own_nodes, table.size());
        rank->own_bytes = rank->budget.used();
        PageBudget without_building(quota);
        without_building.take(rank->own_bytes);
        rank->budget = without_building;
        rank->reduction = std::make_unique<TableReduction>(rank->budget, r, std::move(table), layout);
        return rank;
    }
    void send(std::uint64_t r, std::uint64_t bytes, double& clock) {
        sent_[r] += bytes;
        ++messages_[r];
        clock += message_s + static_cast<double>(bytes) * byte_s;
    }
    /// Returns the time at which the rank has the union of its part of the tree.
    double up(std::uint64_t r, Rank& own) {
        double clock = 0;
        for (std::uint64_t bit = 1; (r & bit) == 0 && r + bit < ranks_; bit *= 2) {
            std::unique_ptr<Rank> child = make(r + bit);
            clock = std::max(clock, up(r + bit, *child));
            const TableOffer offer = child->reduction->offer();
            send(r + bit, sizeof offer, clock);
            double begin = seconds();
            const TableAnswer answer = own.reduction->consider(r + bit, offer);
            clock += seconds() - begin;
            send(r, sizeof answer, clock);
            if (answer == TableAnswer::Send) {
                begin = seconds();
                PageArray<unsigned char> bytes(own.budget), sent(child->budget);
                if (!child->reduction->encode(sent)) std::abort();
                if (bytes.append(sent.size()) != nullptr) std::memcpy(bytes.data(), sent.data(), sent.size());
                const std::uint64_t size = sent.size();
                sent.release();
                own.reduction->take(std::move(bytes));
                clock += seconds() - begin;
                send(r + bit, size, clock);
            }
            child->reduction->release_table();
            note_memory(r + bit, *child);
            if ((r + bit) % 2 == 0) inner_[r + bit] = std::move(child); // leaves are made again on the way down
        }
        return clock;
    }
    void note_memory(std::uint64_t r, const Rank& rank) {
        std::uint64_t& most = r == 0 ? result_.memory_first : result_.memory_others;
        most = std::max(most, rank.budget.peak() - rank.own_bytes);
    }
    void down(std::uint64_t r) {
        Rank& own = *inner_[r];
        double clock = own.begin_down, begin = seconds();
        if (own.reduction->has_map() && own.reduction->owner() == r) ++result_.maps;
        if (!own.reduction->has_map() && !own.reduction->is_shared()) ++result_.outside;
        std::vector<std::uint64_t> children;
        PageArray<unsigned char> map(own.budget);
        TableReply reply;
        while (own.reduction->has_children()) {
            const std::uint64_t c = own.reduction->reply_to_last_child(reply, map);
            clock += seconds() - begin;
            send(r, sizeof reply + map.size(), clock);
            begin = seconds();
            if (inner_[c] == nullptr) { // a leaf
                result_.maps += reply.kind == TableReply::Map && reply.owner == TableReply::itself ? 1 : 0;
                result_.outside += reply.kind == TableReply::None ? 1 : 0;
                result_.down_s = std::max(result_.down_s, clock);
            } else {
                PageArray<unsigned char> bytes(inner_[c]->budget);
                if (map.size() != 0 && bytes.append(map.size()) != nullptr) std::memcpy(bytes.data(), map.data(), map.size());
                inner_[c]->reduction->receive(reply, std::move(bytes));
                inner_[c]->begin_down = clock + (seconds() - begin);
                children.push_back(c);
            }
            begin = seconds(); // the child's work counts for the child
        }
        map.release();
        note_memory(r, own);
        result_.down_s = std::max(result_.down_s, clock);
        inner_[r].reset();
        for (const std::uint64_t c : children) down(c);
    }

    Kind kind_;
    std::uint64_t ranks_;
    std::vector<std::unique_ptr<Rank>> inner_;
    std::vector<std::uint64_t> sent_;
    std::vector<std::uint32_t> messages_;
    Result result_;
};

std::string bytes_label(double bytes) {
    char text[32];
    if (bytes < 1024)
        std::snprintf(text, sizeof text, "%.0f B", bytes);
    else if (bytes < 1024.0 * 1024)
        std::snprintf(text, sizeof text, "%.0f KiB", bytes / 1024);
    else
        std::snprintf(text, sizeof text, "%.0f MiB", bytes / 1024 / 1024);
    return text;
}

std::string time_label(double s) {
    char text[32];
    if (s < 1e-3)
        std::snprintf(text, sizeof text, "%.0f us", s * 1e6);
    else if (s < 1)
        std::snprintf(text, sizeof text, "%.0f ms", s * 1e3);
    else
        std::snprintf(text, sizeof text, "%.0f s", s);
    return text;
}

} // namespace

int main(int argc, char** argv) {
    const std::uint64_t largest = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
    std::vector<std::uint64_t> sizes;
    std::vector<std::string> labels;
    for (std::uint64_t n : {2, 16, 64, 256, 1024, 4096, 16384, 100000})
        if (n <= largest) {
            sizes.push_back(n);
            labels.push_back(std::to_string(n));
        }
    tools::ChartText bytes{"Bytes a rank sends to unify call-path tables (mean)", "ranks", "", bytes_label};
    tools::ChartText memory{"Memory of the rank that needs most, beyond its own table", "ranks", "", bytes_label};
    tools::ChartText time{"Time on the critical path, up and down the tree of ranks", "ranks", "", time_label};
    std::vector<tools::Line> byte_lines, memory_lines, time_lines;
    for (const Workload& workload : workloads) {
        std::printf("### %s\n\n| ranks | paths: rank, job | sent: mean, most | messages: mean, most | memory: first, others | up, down | maps | own |\n"
                    "|--:|--:|--:|--:|--:|--:|--:|--:|\n",
                    workload.name);
        const int colour = static_cast<int>(byte_lines.size());
        const std::string_view name = workload.name;
        tools::Line b{std::string(name.substr(0, name.find(':'))), {}, colour}, m = b, t = b;
        for (const std::uint64_t n : sizes) {
            const Result r = Simulation(workload.kind, n).run();
            const auto ranks = static_cast<double>(n);
            std::printf("| %llu | %llu, %llu | %s, %s | %.1f, %llu | %s, %s | %s, %s | %llu | %llu |\n", static_cast<unsigned long long>(n),
                        static_cast<unsigned long long>(r.own_nodes), static_cast<unsigned long long>(r.job_nodes),
                        bytes_label(static_cast<double>(r.sent) / ranks).c_str(), bytes_label(static_cast<double>(r.most_sent)).c_str(),
                        static_cast<double>(r.messages) / ranks, static_cast<unsigned long long>(r.most_messages),
                        bytes_label(static_cast<double>(r.memory_first)).c_str(), bytes_label(static_cast<double>(r.memory_others)).c_str(),
                        time_label(r.up_s).c_str(), time_label(r.down_s).c_str(), static_cast<unsigned long long>(r.maps),
                        static_cast<unsigned long long>(r.outside));
            std::fflush(stdout);
            b.values.push_back(static_cast<double>(r.sent) / ranks);
            m.values.push_back(static_cast<double>(std::max(r.memory_first, r.memory_others)));
            t.values.push_back(r.up_s + r.down_s);
        }
        std::printf("\n");
        byte_lines.push_back(b);
        memory_lines.push_back(m);
        time_lines.push_back(t);
    }
    if (argc > 2) {
        const std::filesystem::path folder = argv[2];
        tools::line_chart(bytes, labels, byte_lines, true).save(folder / "scaling-bytes.svg");
        tools::line_chart(memory, labels, memory_lines, true).save(folder / "scaling-memory.svg");
        tools::line_chart(time, labels, time_lines, true).save(folder / "scaling-time.svg");
    }
}
