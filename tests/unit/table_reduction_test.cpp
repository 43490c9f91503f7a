// Tables of call paths against naive sets of paths: random jobs, random trees of ranks, little memory.
#include "libprofile/merge/table_builder.hpp"
#include "libprofile/merge/table_exchange.hpp"

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace libprofile {

namespace {

using Path = std::vector<std::string>; // outermost first

/// Call paths of a rank in the order in which they occurred.
struct Calls {
    struct Node {
        std::uint32_t parent;
        NodeKind kind;
        std::string target; // module or function
        std::uint64_t b;
    };
    std::vector<Node> nodes = {{0, NodeKind::Root, "", 0}};

    Path path(std::uint32_t node) const {
        Path result;
        for (; node != 0; node = nodes[node].parent)
            result.insert(result.begin(), std::to_string(static_cast<int>(nodes[node].kind)) + " " + nodes[node].target + " " + std::to_string(nodes[node].b));
        return result;
    }
};

/// Names that begin with 'p' have no build-id.
ModuleRecord module_of(const std::string& name) {
    return name[0] == 'p' ? ModuleRecord{Text(), Text(name.data(), name.size())} : ModuleRecord{Text(name.data(), name.size()), Text("/lib/some.so")};
}

Path path_in(const PathTable& table, std::uint32_t node) {
    Path result;
    for (; node != 0; node = table[node].parent) {
        const TableNode& n = table[node];
        std::string target;
        const auto text = [](Text t) { return std::string(t.data, t.size); };
        if (n.kind() == NodeKind::Frame) {
            const ModuleRecord module = table.module(n.target());
            target = text(module.build_id.size != 0 ? module.build_id : module.path);
        } else if (n.kind() == NodeKind::Mpi) {
            target = text(table.function(n.target()).name);
        }
        result.insert(result.begin(), std::to_string(static_cast<int>(n.kind())) + " " + target + " " + std::to_string(n.b));
    }
    return result;
}

struct Rank {
    explicit Rank(std::uint64_t limit) : budget(limit) {}
    Calls calls;
    PageBudget budget;
    std::vector<std::uint32_t> numbers; // in the own table
    TableSignature layout;
    std::unique_ptr<TableReduction> reduction;
};

void build(const Calls& calls, PathTable& table, std::vector<std::uint32_t>& numbers, PageBudget& budget) {
    std::map<std::string, std::uint32_t> modules, functions;
    for (const Calls::Node& n : calls.nodes) {
        if (n.kind == NodeKind::Frame) modules[n.target];
        if (n.kind == NodeKind::Mpi) functions[n.target];
    }
    // Modules without a build-id come first, as in compare().
    for (const bool with_id : {false, true})
        for (auto& [name, number] : modules) {
            if ((name[0] != 'p') != with_id) continue;
            number = static_cast<std::uint32_t>(table.module_count());
            ASSERT_TRUE(table.add_module(module_of(name)));
        }
    for (auto& [name, number] : functions) {
        number = static_cast<std::uint32_t>(table.function_count());
        ASSERT_TRUE(table.add_function({0, Text(name.data(), name.size()), 3}));
    }
    TableBuilder builder(budget);
    for (std::size_t i = 1; i < calls.nodes.size(); ++i) {
        const Calls::Node& n = calls.nodes[i];
        const std::uint32_t target = n.kind == NodeKind::Frame ? modules[n.target] : n.kind == NodeKind::Mpi ? functions[n.target] : 0;
        ASSERT_TRUE(builder.add(n.parent, n.kind, target, n.b));
    }
    ASSERT_TRUE(builder.build(table));
    for (std::uint32_t i = 0; i < calls.nodes.size(); ++i) numbers.push_back(builder.number_of(i));
}

/// Steps of threads that play ranks. A step may fail on a rank. Then no rank hears from that one any more, as after a timeout.
class Network {
  public:
    explicit Network(std::size_t ranks) : fails_at_(ranks, never), steps_(ranks), is_gone_(ranks) {}
    void fail(std::size_t rank, std::size_t step) { fails_at_[rank] = step; }
    std::size_t steps(std::size_t rank) const { return steps_[rank]; }
    bool has_failed(std::size_t rank) const { return is_gone_[rank]; }

    struct Port {
        Network* network;
        std::uint64_t rank;
        bool step(std::uint64_t partner, const void* out, std::size_t out_size, void* in, std::size_t in_size) {
            return network->step(rank, partner, out, out_size, in, in_size);
        }
    };
    /// MPI may still read and write the buffers of failed steps.
    void use_what_failed() {
        for (const Left& left : left_) {
            const auto* out = static_cast<const volatile unsigned char*>(left.out);
            for (std::size_t i = 0; i < left.out_size; ++i) (void)out[i];
            if (left.in_size != 0) std::memset(left.in, 0x5a, left.in_size);
        }
    }

  private:
    static constexpr std::size_t never = ~std::size_t{0};
    struct Left {
        const void* out;
        std::size_t out_size;
        void* in;
        std::size_t in_size;
    };

    bool step(std::uint64_t rank, std::uint64_t partner, const void* out, std::size_t out_size, void* in, std::size_t in_size) {
        std::unique_lock lock(mutex_);
        EXPECT_FALSE(is_gone_[rank]) << "a step after one that failed";
        EXPECT_TRUE(partner != rank || (out_size == 0 && in_size == 0));
        const std::size_t number = steps_[rank]++;
        bool ok = number != fails_at_[rank];
        if (ok && out_size != 0) {
            const auto* begin = static_cast<const unsigned char*>(out);
            sent_[{rank, partner, number}].assign(begin, begin + out_size);
            arrived_.notify_all();
        }
        if (ok && in_size != 0) {
            const std::tuple key{partner, rank, number};
            arrived_.wait(lock, [&] { return sent_.contains(key) || is_gone_[partner]; });
            ok = sent_.contains(key);
            if (ok) {
                EXPECT_EQ(sent_[key].size(), in_size);
                std::memcpy(in, sent_[key].data(), in_size);
                sent_.erase(key);
            }
        }
        if (ok) return true;
        is_gone_[rank] = true;
        left_.push_back({out, out_size, in, in_size});
        arrived_.notify_all();
        return false;
    }

    std::vector<std::size_t> fails_at_;
    std::vector<std::size_t> steps_;
    std::vector<bool> is_gone_;
    std::vector<Left> left_;
    std::mutex mutex_;
    std::condition_variable arrived_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::size_t>, std::vector<unsigned char>> sent_;
};

class Job {
  public:
    /// @param extra memory per rank beyond the own table, bytes
    Job(std::vector<Calls> calls, unsigned seed, std::uint64_t extra = 1ull << 40) : random_(seed) {
        for (std::size_t r = 0; r < calls.size(); ++r) {
            Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>(1ull << 40));
            rank.calls = std::move(calls[r]);
            PathTable table(rank.budget);
            build(rank.calls, table, rank.numbers, rank.budget);
            for (const std::uint32_t n : rank.numbers) rank.layout.add(n);
            for (const std::uint64_t word : table.signature().words) rank.layout.add(word);
            const std::uint64_t own = rank.budget.used();
            rank.budget = PageBudget(own + extra);
            rank.budget.take(own);
            rank.reduction = std::make_unique<TableReduction>(rank.budget, r, std::move(table), rank.layout);
        }
        children_.resize(ranks_.size());
    }

    /// Attaches each rank to an earlier one; `binomial` or any.
    void choose_tree(bool binomial) {
        for (std::size_t r = 1; r < ranks_.size(); ++r) {
            std::size_t parent = binomial ? r & (r - 1) : random_() % r;
            while (children_[parent].size() >= TableReduction::most_children - 1) parent = random_() % r;
            children_[parent].push_back(r);
        }
        if (!binomial)
            for (auto& list : children_) std::shuffle(list.begin(), list.end(), random_);
    }

    void run() {
        up(0);
        ranks_[0]->reduction->lead();
        PageArray<unsigned char> bytes(unlimited_);
        ASSERT_TRUE(ranks_[0]->reduction->encode(bytes));
        job_bytes.assign(bytes.data(), bytes.data() + bytes.size());
        ASSERT_TRUE(job_.decode(bytes.data(), bytes.size()));
        down(0);
    }

    /// Ranks as threads that exchange messages. A `failing` rank fails in that step. Returns the number of ranks that made all steps.
    std::size_t run_in_steps(std::size_t failing = 0, std::size_t failing_step = ~std::size_t{0}) {
        Network network(ranks_.size());
        network.fail(failing, failing_step);
        std::vector<std::thread> threads;
        std::vector<TableMail> mail(ranks_.size());
        std::vector<char> done(ranks_.size());
        for (std::size_t r = 0; r < ranks_.size(); ++r)
            threads.emplace_back([&, r] {
                Network::Port port{&network, r};
                done[r] = TableExchange(port, *ranks_[r]->reduction, mail[r], ranks_[r]->budget, r, ranks_.size()).run();
            });
        for (std::thread& thread : threads) thread.join();
        network.use_what_failed();
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            EXPECT_NE(done[r] != 0, network.has_failed(r)) << "rank " << r;
            if (done[r] != 0) {
                EXPECT_EQ(network.steps(r), most_steps()) << "rank " << r;
            }
            // As in the caller: ranks rely on the maps of others if all ranks have come this far and keep their promises.
            if (done[r] == 0) given_up_.insert(r);
            rely_ = rely_ && done[r] != 0 && ranks_[r]->reduction->keeps_promises();
        }
        if (ranks_[0]->reduction->has_map()) {
            PageArray<unsigned char> bytes(unlimited_);
            EXPECT_TRUE(ranks_[0]->reduction->encode(bytes));
            EXPECT_TRUE(job_.decode(bytes.data(), bytes.size()));
        }
        return static_cast<std::size_t>(std::accumulate(done.begin(), done.end(), 0));
    }
    bool relies() const { return rely_; }
    std::size_t most_steps() const { return 5u * static_cast<std::size_t>(std::bit_width(ranks_.size() - 1)); }
    /// Checks that every path is the same path in the job's table. Returns the number of ranks in it.
    std::size_t check() {
        std::size_t inside = 0;
        for (std::uint32_t i = 1; i < job_.size(); ++i) EXPECT_LT(job_[i].parent, i);
        for (std::size_t r = 0; r < ranks_.size(); ++r) {
            Rank& rank = *ranks_[r];
            if (given_up_.contains(r)) continue;
            if (!rank.reduction->has_map() && (!rank.reduction->is_shared() || !rely_)) continue;
            ++inside;
            const Rank& owner = rely_ ? *ranks_[rank.reduction->owner()] : rank;
            EXPECT_TRUE(owner.reduction->has_map());
            if (rely_) {
                EXPECT_EQ(owner.reduction->owner(), rank.reduction->owner()) << "an owner writes its map";
            }
            EXPECT_EQ(owner.layout, rank.layout);
            const TableReduction& map = rank.reduction->has_map() ? *rank.reduction : *owner.reduction;
            for (std::uint32_t i = 0; i < rank.calls.nodes.size(); ++i)
                EXPECT_EQ(path_in(job_, map.job_node(rank.numbers[i])), rank.calls.path(i)) << "rank " << r << " node " << i;
            if (testing::Test::HasFailure()) break;
        }
        return inside;
    }
    std::size_t unlike_maps() const {
        std::set<std::uint64_t> owners;
        for (const auto& rank : ranks_) owners.insert(rank->reduction->owner());
        return owners.size();
    }
    const PathTable& table() const { return job_; }
    std::uint64_t bytes_up = 0;
    std::uint64_t bytes_down = 0;
    std::vector<unsigned char> job_bytes;

  private:
    void up(std::size_t r) {
        TableReduction& own = *ranks_[r]->reduction;
        for (const std::size_t c : children_[r]) {
            up(c);
            TableReduction& child = *ranks_[c]->reduction;
            if (own.consider(c, child.offer()) != TableAnswer::Send) continue;
            PageArray<unsigned char> bytes(ranks_[r]->budget);
            if (bytes.append(child.offer().bytes) != nullptr) {
                PageArray<unsigned char> sent(unlimited_);
                ASSERT_TRUE(child.encode(sent));
                ASSERT_EQ(sent.size(), bytes.size());
                std::memcpy(bytes.data(), sent.data(), sent.size());
                bytes_up += sent.size();
            }
            own.take(std::move(bytes));
        }
    }
    void down(std::size_t r) {
        std::vector<std::size_t> replied;
        PageArray<unsigned char> map(ranks_[r]->budget);
        TableReply reply;
        while (ranks_[r]->reduction->has_children()) {
            const std::size_t most = ranks_[children_[r][children_[r].size() - 1 - replied.size()]]->reduction->most_map_bytes();
            const std::uint64_t c = ranks_[r]->reduction->reply_to_last_child(reply, map);
            EXPECT_LE(map.size(), most);
            PageArray<unsigned char> bytes(ranks_[c]->budget);
            if (map.size() != 0 && bytes.append(map.size()) != nullptr) std::memcpy(bytes.data(), map.data(), map.size());
            bytes_down += map.size();
            ranks_[c]->reduction->receive(reply, std::move(bytes));
            replied.push_back(c);
        }
        EXPECT_EQ(replied, std::vector<std::size_t>(children_[r].rbegin(), children_[r].rend()));
        for (const std::size_t c : children_[r]) down(c);
    }

    std::mt19937 random_;
    bool rely_ = true; // on the maps of others
    std::set<std::size_t> given_up_;
    PageBudget unlimited_{1ull << 40};
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::vector<std::vector<std::size_t>> children_;
    PathTable job_{unlimited_};
};

Calls random_calls(std::mt19937& random, std::size_t nodes, unsigned modules, unsigned addresses) {
    Calls calls;
    std::set<std::tuple<std::uint32_t, int, std::string, std::uint64_t>> known;
    for (std::size_t i = 0; i < nodes; ++i) {
        const auto parent = static_cast<std::uint32_t>(random() % calls.nodes.size());
        const unsigned kind = random() % 8;
        Calls::Node node{parent, NodeKind::Frame, "", random() % addresses};
        if (kind < 5) {
            const unsigned m = random() % modules;
            node.target = (m % 3 == 0 ? "p" : "b") + std::to_string(m);
        } else if (kind < 7) {
            node = {parent, NodeKind::Mpi, "MPI_" + std::to_string(random() % 20), 0};
        } else {
            node = {parent, NodeKind::Unknown, "", random() * std::uint64_t{0x100000001}};
        }
        if (known.insert({parent, static_cast<int>(node.kind), node.target, node.b}).second) calls.nodes.push_back(node);
    }
    return calls;
}

/// The same calls in another order.
Calls shuffled(const Calls& calls, std::mt19937& random) {
    Calls result;
    std::vector<std::uint32_t> open, index(calls.nodes.size());
    std::vector<std::vector<std::uint32_t>> children(calls.nodes.size());
    for (std::uint32_t i = 1; i < calls.nodes.size(); ++i) children[calls.nodes[i].parent].push_back(i);
    open = children[0];
    while (!open.empty()) {
        std::swap(open[random() % open.size()], open.back());
        const std::uint32_t i = open.back();
        open.pop_back();
        Calls::Node node = calls.nodes[i];
        node.parent = index[node.parent];
        index[i] = static_cast<std::uint32_t>(result.nodes.size());
        result.nodes.push_back(node);
        open.insert(open.end(), children[i].begin(), children[i].end());
    }
    return result;
}

Calls part_of(const Calls& calls, std::mt19937& random, unsigned percent) {
    Calls result;
    std::vector<std::uint32_t> index(calls.nodes.size());
    for (std::uint32_t i = 1; i < calls.nodes.size(); ++i) {
        const Calls::Node& n = calls.nodes[i];
        if ((n.parent != 0 && index[n.parent] == 0) || random() % 100 >= percent) continue;
        index[i] = static_cast<std::uint32_t>(result.nodes.size());
        result.nodes.push_back({index[n.parent], n.kind, n.target, n.b});
    }
    return result;
}

} // namespace

TEST(PathTableTest, OneTableWhateverTheOrderInWhichItsPathsWereMet) {
    std::mt19937 random(1);
    PageBudget budget(1ull << 30);
    for (int round = 0; round < 50; ++round) {
        const Calls calls = random_calls(random, 1 + random() % 300, 7, 5);
        PathTable one(budget), other(budget);
        std::vector<std::uint32_t> numbers, other_numbers;
        build(calls, one, numbers, budget);
        const Calls again = shuffled(calls, random);
        build(again, other, other_numbers, budget);
        ASSERT_EQ(one.signature(), other.signature());
        ASSERT_EQ(one.size(), calls.nodes.size());
        for (std::uint32_t i = 0; i < calls.nodes.size(); ++i) {
            ASSERT_EQ(path_in(one, numbers[i]), calls.path(i));
            ASSERT_EQ(path_in(other, other_numbers[i]), again.path(i));
        }
    }
}

TEST(PathTableTest, PathsThatCameTwiceAreOne) {
    PageBudget budget(1ull << 30);
    PathTable table(budget);
    TableBuilder builder(budget);
    for (std::uint32_t base : {0u, 3u}) {
        ASSERT_TRUE(builder.add(0, NodeKind::Unknown, 0, 7));
        ASSERT_TRUE(builder.add(base + 1, NodeKind::Unknown, 0, 8));
        ASSERT_TRUE(builder.add(base + 1, NodeKind::Unknown, 0, 9 + base));
    }
    ASSERT_EQ(builder.base(), 6u);
    ASSERT_TRUE(builder.build(table));
    EXPECT_EQ(table.size(), 5u);
    EXPECT_EQ(builder.number_of(1), builder.number_of(4));
    EXPECT_EQ(builder.number_of(2), builder.number_of(5));
    EXPECT_NE(builder.number_of(3), builder.number_of(6));
}

TEST(PathTableTest, DamagedTablesAreRefused) {
    std::mt19937 random(2);
    PageBudget budget(1ull << 30);
    PathTable table(budget), copy(budget);
    std::vector<std::uint32_t> numbers;
    build(random_calls(random, 200, 7, 5), table, numbers, budget);
    std::vector<unsigned char> bytes(1 << 20);
    Encoder encoder(bytes.data(), bytes.size());
    table.encode(encoder);
    ASSERT_LE(encoder.size(), bytes.size());
    bytes.resize(encoder.size());
    ASSERT_TRUE(copy.decode(bytes.data(), bytes.size()));
    EXPECT_EQ(copy.signature(), table.signature());
    for (std::size_t size = 0; size < bytes.size(); ++size) ASSERT_FALSE(copy.decode(bytes.data(), size));
    for (int i = 0; i < 20000; ++i) { // no crash, and an accepted table is in order
        std::vector<unsigned char> bad = bytes;
        bad[random() % bad.size()] ^= static_cast<unsigned char>(1u << (random() % 8));
        if (!copy.decode(bad.data(), bad.size())) continue;
        for (std::uint32_t k = 1; k < copy.size(); ++k) ASSERT_LT(copy[k].parent, k);
    }
}

TEST(TableReductionTest, EveryPathIsTheSamePathInTheJobsTable) {
    std::mt19937 random(3);
    for (int round = 0; round < 36; ++round) {
        const std::size_t ranks = round < 24 ? 1 + random() % 20 : 1 + random() % 300;
        const Calls common = random_calls(random, random() % 200, 7, 5);
        const Calls mpmd = random_calls(random, random() % 100, 3, 5);
        std::vector<Calls> calls;
        const int kind = round % 6;
        for (std::size_t r = 0; r < ranks; ++r) {
            switch (kind) {
            case 0: calls.push_back(common); break;
            case 1: calls.push_back(shuffled(common, random)); break;
            case 2: calls.push_back(part_of(common, random, 90)); break;
            case 3: calls.push_back(random_calls(random, random() % 60, 9, 50)); break;
            case 4: calls.push_back(r % 2 == 0 ? common : mpmd); break;
            default: calls.push_back(r % 7 == 3 ? Calls() : part_of(r % 3 == 0 ? mpmd : common, random, 95)); break;
            }
        }
        std::vector<unsigned char> first;
        for (const bool binomial : {true, false}) {
            Job job(calls, random());
            job.choose_tree(binomial);
            job.run();
            ASSERT_EQ(job.check(), ranks);
            if (HasFailure()) return;
            std::set<Path> expected;
            for (const Calls& c : calls)
                for (std::uint32_t i = 0; i < c.nodes.size(); ++i) expected.insert(c.path(i));
            ASSERT_EQ(job.table().size(), expected.size());
            if (binomial) first = job.job_bytes;
            ASSERT_EQ(job.job_bytes, first) << "the job's table must not depend on the tree of ranks";
            if (kind == 0) {
                EXPECT_EQ(job.bytes_up, 0u);
                EXPECT_EQ(job.bytes_down, 0u);
                EXPECT_EQ(job.unlike_maps(), 1u);
            }
            if (kind == 1) {
                EXPECT_EQ(job.bytes_up, 0u) << "the order must not matter";
            }
        }
    }
}

TEST(TableReductionTest, WithoutMemoryForAChildOnlyTheRanksBehindItKeepTheirOwnTables) {
    std::mt19937 random(4);
    std::size_t without = 0, with = 0;
    for (int round = 0; round < 20; ++round) {
        std::vector<Calls> calls;
        const std::size_t ranks = 2 + random() % 30;
        const Calls common = random_calls(random, 2000, 7, 50);
        for (std::size_t r = 0; r < ranks; ++r) calls.push_back(r % 5 == 0 ? random_calls(random, 3000, 7, 50) : part_of(common, random, 95));
        Job job(std::move(calls), random(), random() % 300000);
        job.choose_tree(round % 2 == 0);
        job.run();
        const std::size_t inside = job.check();
        if (HasFailure()) return;
        with += inside;
        without += ranks - inside;
    }
    EXPECT_GT(with, 0u);
    EXPECT_GT(without, 0u);
}

namespace {

/// Ranks that have much in common. Some are equal, and some have much more than others.
std::vector<Calls> mixed_calls(std::mt19937& random, std::size_t ranks) {
    const Calls common = random_calls(random, 100, 7, 5);
    std::vector<Calls> calls;
    for (std::size_t r = 0; r < ranks; ++r) calls.push_back(r % 3 == 0 ? part_of(common, random, 90) : r % 7 == 2 ? random_calls(random, 200, 7, 50) : common);
    return calls;
}

} // namespace

TEST(TableExchangeTest, StepsLeadToTheSameTablesForAnyNumberOfRanks) {
    std::mt19937 random(5);
    for (std::size_t ranks = 1; ranks <= 33; ++ranks) {
        const std::vector<Calls> calls = mixed_calls(random, ranks);
        Job job(calls, random()), told(calls, 1);
        ASSERT_EQ(job.run_in_steps(), ranks);
        ASSERT_TRUE(job.relies());
        ASSERT_EQ(job.check(), ranks);
        told.choose_tree(true);
        told.run();
        ASSERT_EQ(job.table().signature(), told.table().signature());
        if (HasFailure()) return;
    }
}

TEST(TableExchangeTest, AStepThatFailsAnywhereEndsTheExchangeAndNobodyReliesOnAMissingMap) {
    std::mt19937 random(6);
    constexpr std::size_t most = 40; // jobs with at most this many steps are tried completely
    for (const std::size_t ranks : {2u, 3u, 5u, 6u, 8u, 13u, 33u}) {
        const std::vector<Calls> calls = mixed_calls(random, ranks);
        const std::size_t steps = Job(calls, 1).most_steps();
        for (std::size_t i = 0; i < std::min<std::size_t>(ranks * steps, most); ++i) {
            const std::size_t one = ranks * steps <= most ? i : random() % (ranks * steps); // all steps, or some
            Job job(calls, random());
            EXPECT_LT(job.run_in_steps(one / steps, one % steps), ranks);
            EXPECT_FALSE(job.relies());
            job.check();
            if (HasFailure()) FAIL() << "of " << ranks << " ranks " << one / steps << " failed in step " << one % steps;
        }
    }
}

TEST(TableExchangeTest, WithoutMemoryAllStepsAreMade) {
    std::mt19937 random(7);
    std::size_t with = 0, without = 0;
    for (int round = 0; round < 40; ++round) {
        const std::size_t ranks = 2 + random() % 20;
        Job job(mixed_calls(random, ranks), random(), random() % 60000);
        ASSERT_EQ(job.run_in_steps(), ranks);
        const std::size_t inside = job.check();
        if (HasFailure()) return;
        with += inside;
        without += ranks - inside;
    }
    EXPECT_GT(with, 0u);
    EXPECT_GT(without, 0u);
}

} // namespace libprofile
