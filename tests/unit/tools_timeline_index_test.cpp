// The index of events that are left in their file: what it says of any time is what all decoded events say.
#include "tests/unit/split_mix.hpp"
#include "tests/unit/tools_timeline_file.hpp"
#include "tools/timeline/row_window.hpp"
#include "tools/timeline/state_pieces.hpp"

#include <cmath>
#include <gtest/gtest.h>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;

namespace {

constexpr std::size_t computing = 0;

/// The literal definition: the state at a time; nothing if it is not known.
std::optional<std::size_t> state_at(const Profile& profile, const KeptEvents& events, std::uint64_t ns) {
    bool is_known = false;
    for (std::size_t p = 0; p < events.parts.size(); ++p) {
        is_known = is_known || (events.parts[p].begin_ns <= ns && ns < events.parts[p].end_ns);
        const bool is_short = p > 0 && events.dropped_parts == 0 && events.parts[p].begin_ns - events.parts[p - 1].end_ns <= shortest_window_ns;
        is_known = is_known || (is_short && events.parts[p - 1].end_ns <= ns && ns < events.parts[p].begin_ns);
    }
    if (!is_known) return std::nullopt;
    std::size_t state = computing;
    std::uint64_t latest = 0;
    for (const TracedInterval& interval : events.intervals) {
        const TimelineState own = timeline_state_of(profile, profile.paths[interval.path]);
        if (own == TimelineState::Region || interval.begin_ns > ns || interval.end_ns <= ns || interval.begin_ns < latest) continue;
        if (interval.begin_ns == latest && state != computing) continue; // the one that ended first is the inner one
        latest = interval.begin_ns;
        state = static_cast<std::size_t>(own);
    }
    return state;
}

/// Sums by all times at which something begins or ends.
TimelineSums literal_sums(const Profile& profile, const KeptEvents& events, std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> cuts = {from, to};
    const auto add = [&](std::uint64_t ns) {
        if (ns > from && ns < to) cuts.push_back(ns);
    };
    for (const TracedInterval& interval : events.intervals) {
        add(interval.begin_ns);
        add(interval.end_ns);
    }
    for (const EventPart& part : events.parts) {
        add(part.begin_ns);
        add(part.end_ns);
    }
    std::sort(cuts.begin(), cuts.end());
    TimelineSums sums = {};
    KeptEvents there = events;
    std::erase_if(there.intervals, [&](const TracedInterval& one) { return one.begin_ns >= to || one.end_ns <= from; });
    for (std::size_t i = 1; i < cuts.size(); ++i)
        if (cuts[i] > cuts[i - 1])
            if (const auto state = state_at(profile, there, cuts[i - 1])) sums[*state] += cuts[i] - cuts[i - 1];
    return sums;
}

/// A profile, read whole and with its events left in the file.
struct BothWays {
    template <class Made> explicit BothWays(const Made& made)
        : file(made), whole(read_profile(file.path())), left(read_profile_without_events(file.path(), 0)) {
        index = TimelineIndex::open(left, [](std::size_t, std::size_t) {});
        if (index == nullptr || index->row(0) == nullptr) throw std::runtime_error(index == nullptr ? "no index" : index->notes().front());
        EXPECT_TRUE(index->notes().empty());
    }
    TimelineFile file;
    Profile whole, left;
    std::shared_ptr<const TimelineIndex> index;
    const KeptEvents& events(std::size_t l = 0) const { return whole.locations[l].events; }
    const IndexedRow& row(std::size_t l = 0) const { return *index->row(l); }
    std::uint64_t end(std::size_t l = 0) const { return events(l).parts.back().end_ns; }
};

TEST(TimelineIndex, SumsBetweenAnyTwoTimesAreThoseOfTheEvents) {
    for (const MadeTrace trace : {MadeTrace{3, 40, 1}, MadeTrace{60, 40, 1}, MadeTrace{60, 40, 4}, MadeTrace{2, 1200, 1}, MadeTrace{2, 1200, 1, true}}) {
        const BothWays both(trace);
        Random random{7};
        for (int i = 0; i < 24; ++i) {
            std::uint64_t from = random() % (both.end() + 1000), to = random() % (both.end() + 1000);
            if (from > to) std::swap(from, to);
            if (i % 2 == 0) to = std::min(to, from + 3000); // within a leaf
            if (i == 0) from = 0, to = both.end() + 1;
            EXPECT_EQ(sums_between(both.row(), from, to), literal_sums(both.whole, both.events(), from, to)) << from << " to " << to;
        }
    }
}

/// What of events lies in a time: begin, end and path of intervals.
std::vector<std::array<std::uint64_t, 3>> inside(const KeptEvents& events, std::uint64_t from, std::uint64_t to) {
    std::vector<std::array<std::uint64_t, 3>> list;
    for (const TracedInterval& one : events.intervals)
        if (one.begin_ns < to && one.end_ns > from) list.push_back({one.begin_ns, one.end_ns, one.path});
    std::sort(list.begin(), list.end());
    return list;
}

TEST(TimelineIndex, EventsBetweenTwoTimesAreThoseThatAllOfTheFileHas) {
    for (const MadeTrace trace : {MadeTrace{60, 40, 1}, MadeTrace{60, 40, 4}, MadeTrace{4, 2000, 1}, MadeTrace{2, 1500, 1, true}}) {
        const BothWays both(trace);
        Random random{11};
        for (int i = 0; i < 40; ++i) {
            const std::uint64_t from = random() % both.end(), to = from + 1 + random() % 200'000;
            const KeptEvents events = events_between(both.row(), from, to);
            EXPECT_EQ(inside(events, from, to), inside(both.events(), from, to));
            for (const EventPart& part : both.events().parts) {
                if (part.begin_ns >= to || part.end_ns <= from) continue;
                const auto same = std::find_if(events.parts.begin(), events.parts.end(), [&](const EventPart& one) {
                    return one.begin_ns == part.begin_ns && one.end_ns == part.end_ns && one.number == part.number && one.phase == part.phase;
                });
                EXPECT_NE(same, events.parts.end()) << "part " << part.number;
            }
            // Each message is there with its call.
            for (const TracedMessage& message : events.messages) EXPECT_LT(message.interval, events.intervals.size());
            std::size_t messages = 0, own = 0;
            const auto count = [&](const KeptEvents& of, std::size_t& sum) {
                for (const TracedMessage& message : of.messages) {
                    const TracedInterval& call = of.intervals[message.interval];
                    sum += call.begin_ns < to && call.end_ns > from ? message.number : 0;
                }
            };
            count(events, own);
            count(both.events(), messages);
            EXPECT_EQ(own, messages);
        }
    }
}

/// The pixels by the literal definition.
void expect_pixels(const BothWays& both, double from, double to, std::size_t n) {
    const TimelinePixels found = pixels_between(both.row(), from, to, n, {~std::uint64_t{0}, ~std::uint64_t{0}});
    ASSERT_TRUE(found.is_exact);
    for (std::size_t x = 0; x < n; ++x) {
        const auto begin = static_cast<std::uint64_t>(from + static_cast<double>(x) * (to - from) / static_cast<double>(n)),
                   end = static_cast<std::uint64_t>(from + static_cast<double>(x + 1) * (to - from) / static_cast<double>(n));
        const TimelineSums sums = literal_sums(both.whole, both.events(), begin, end);
        const std::uint64_t most = *std::max_element(sums.begin(), sums.end());
        if (most == 0) {
            EXPECT_EQ(found.pixels[x].state, TimelinePixel::unknown);
            continue;
        }
        ASSERT_LT(found.pixels[x].state, sums.size());
        EXPECT_EQ(sums[found.pixels[x].state], most) << "pixel " << x;
    }
}

TEST(TimelineIndex, APixelHasTheStateOfMostOfItsTime) {
    for (const MadeTrace trace : {MadeTrace{60, 40, 1}, MadeTrace{60, 40, 4}, MadeTrace{2, 1500, 1, true}}) {
        const BothWays both(trace);
        const double whole = std::floor(static_cast<double>(both.end()) / 200) * 200; // pixels of whole ns
        expect_pixels(both, 0, whole, 200);
        expect_pixels(both, 100'000, 120'000, 100);
    }
}

/// How long the leaf, the ten or the group is that has a time.
std::uint64_t length_at(const IndexedRow& row, std::uint64_t ns, std::size_t leaves) {
    const RowIndex& index = row.index();
    const std::size_t g = index.group_at(ns);
    std::vector<std::uint64_t> begins;
    if (leaves == 1)
        for (const EventLeaf& leaf : row.leaves(g)) begins.push_back(leaf.cursor.time);
    else if (leaves == LeafTen::arity)
        for (const LeafTen& ten : row.tens(g / RowIndex::groups_of_tens)) begins.push_back(ten.time);
    else
        begins.push_back(index.groups[g].time);
    const auto behind = std::upper_bound(begins.begin(), begins.end(), ns);
    return (behind == begins.end() ? index.end_of(g) : *behind) - (behind == begins.begin() ? ns : behind[-1]);
}

TEST(TimelineIndex, PixelsOfSumsAreOffByNoMoreThanOneOfThemAtEachEnd) {
    const BothWays both(MadeTrace{9000, 40, 1});
    const RowIndex& index = both.row().index();
    ASSERT_GT(index.groups.size(), 2 * RowIndex::groups_of_tens);
    const std::size_t n = 300;
    const double end = static_cast<double>(both.end());
    for (const std::size_t leaves : {LeafGroup::arity, LeafTen::arity, std::size_t{1}}) {
        const std::uint64_t effort = leaves == 1 ? 2 * index.leaves : leaves == LeafTen::arity ? index.leaves / 5 : 0;
        const TimelinePixels found = pixels_between(both.row(), 0, end, n, {0, effort});
        EXPECT_FALSE(found.is_exact);
        for (std::size_t x = 0; x < n; ++x) {
            const auto from = static_cast<std::uint64_t>(end * static_cast<double>(x) / n),
                       to = static_cast<std::uint64_t>(end * static_cast<double>(x + 1) / n);
            const TimelineSums sums = sums_between(both.row(), from, to);
            const std::uint64_t most = *std::max_element(sums.begin(), sums.end());
            std::uint64_t slack = 0; // the sums at both ends
            for (const std::uint64_t ns : {from, to}) slack += length_at(both.row(), ns, leaves);
            ASSERT_LT(found.pixels[x].state, sums.size());
            EXPECT_GE(sums[found.pixels[x].state] + slack, most);
            EXPECT_TRUE(found.pixels[x].is_half_known);
        }
    }
}

/// What the thread did in some leaves that follow each other in a group.
struct LiteralSum {
    std::uint64_t begin = 0, end = 0, longest = 0;
    TimelineSums sums = {};
};
std::vector<LiteralSum> sums_of(const IndexedRow& row, std::size_t leaves) {
    std::vector<LiteralSum> all;
    for (std::size_t g = 0; g < row.index().groups.size(); ++g) {
        const std::vector<EventLeaf> list = row.leaves(g);
        for (std::size_t l = 0; l < list.size(); ++l) {
            if (l % leaves == 0) all.push_back({list[l].cursor.time});
            all.back().longest = std::max(all.back().longest, list[l].longest);
        }
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].end = i + 1 < all.size() ? all[i + 1].begin : row.index().end;
        all[i].sums = sums_between(row, all[i].begin, all[i].end);
    }
    return all;
}

/// By the definition: they are spread evenly over their time.
void expect_pixels_of_sums(const IndexedRow& row, double from, double to, std::size_t n, const std::vector<LiteralSum>& all, std::uint64_t effort) {
    const TimelinePixels found = pixels_between(row, from, to, n, {0, effort});
    ASSERT_FALSE(found.is_exact);
    const double pixel = (to - from) / static_cast<double>(n);
    for (std::size_t x = 0; x < n; ++x) {
        std::array<double, timeline_state_count> states = {};
        std::uint64_t longest = 0;
        double known = 0;
        const double begin = from + static_cast<double>(x) * pixel, end = begin + pixel;
        for (const LiteralSum& sum : all) {
            const double inside = std::min(end, static_cast<double>(sum.end)) - std::max(begin, static_cast<double>(sum.begin));
            if (inside <= pixel * 1e-9) continue;
            longest = std::max(longest, sum.longest);
            for (std::size_t s = 0; s < states.size(); ++s) {
                states[s] += static_cast<double>(sum.sums[s]) * inside / static_cast<double>(sum.end - sum.begin);
                known += static_cast<double>(sum.sums[s]) * inside / static_cast<double>(sum.end - sum.begin);
            }
        }
        const TimelinePixel& own = found.pixels[x];
        if (known < pixel * 1e-5) continue;
        ASSERT_LT(own.state, states.size()) << x;
        ASSERT_NEAR(states[own.state], *std::max_element(states.begin(), states.end()), pixel * 1e-6) << "pixel " << x;
        ASSERT_EQ(own.longest, longest) << "pixel " << x;
        EXPECT_TRUE(own.is_half_known == (known * 2 > pixel) || std::abs(known * 2 - pixel) < pixel * 1e-6) << "pixel " << x;
    }
}

void expect_pixels_of_all_sums(const BothWays& both, const std::string& what) {
    SCOPED_TRACE(what);
    const RowIndex& index = both.row().index();
    const std::vector<LiteralSum> leaves = sums_of(both.row(), 1), tens = sums_of(both.row(), LeafTen::arity), hundreds = sums_of(both.row(), LeafGroup::arity);
    Random random{19};
    for (int i = 0; i < 12; ++i) {
        std::uint64_t from = index.begin(), to = index.end;
        if (i > 3) { // at a border of groups, or of ten of them
            const std::size_t g = i % 2 == 0 ? random() % index.groups.size() : index.groups.size() / RowIndex::groups_of_tens * RowIndex::groups_of_tens;
            const std::uint64_t border = g < index.groups.size() ? index.groups[g].time : index.end;
            from = border - std::min(border, random() % 40'000);
            to = border + 1 + random() % 40'000;
        } else if (i > 0) {
            from = random() % index.end;
            to = from + 1 + random() % (2 * index.end);
        }
        const std::uint64_t groups = index.group_at(to) - index.group_at(from) + 1;
        if (to <= index.begin() || from >= index.end) continue;
        const auto expect = [&](const std::vector<LiteralSum>& sums, std::uint64_t effort) {
            expect_pixels_of_sums(both.row(), static_cast<double>(from), static_cast<double>(to), 1 + random() % 90, sums, effort);
        };
        expect(leaves, groups * 100);
        expect(tens, groups * 100 - 1);
        expect(tens, groups * 10);
        expect(hundreds, groups * 10 - 1);
        expect(hundreds, 0);
    }
}

TEST(TimelineIndex, PixelsOfSumsAreThoseOfTheirDefinition) {
    for (const std::size_t leaves : {1, 9, 10, 11, 99, 100, 101, 110, 111, 999, 1000, 1001, 1010}) {
        Random random{leaves};
        std::vector<MadeCall> calls;
        std::uint64_t ns = 1000;
        for (std::size_t i = 0; i + 1 < leaves * 256; ++i) {
            const std::uint64_t begin = ns;
            if (i % 20'000 >= 3'000) ns += random() % 1000 + (random() % 1000 == 0 ? 100'000 : 0); // else leaves of no length
            calls.push_back({2 + (i / 700 + random() % 3) % 2, begin, ns});
            if (i % 20'000 >= 3'000) ns += random() % 700;
        }
        const BothWays both(calls);
        ASSERT_EQ(both.row().index().leaves, leaves);
        expect_pixels_of_all_sums(both, fmt::format("{} leaves", leaves));
    }
    for (const MadeTrace trace : {MadeTrace{9000, 40, 1}, MadeTrace{9000, 40, 4}, MadeTrace{2, 1500, 1, true}}) // with gaps, and long calls
        expect_pixels_of_all_sums(BothWays(trace), fmt::format("{} parts", trace.parts));
}

TEST(TimelineIndex, ItIsKeptAndUsedOnlyForTheEventsThatItIsOf) {
    const BothWays both(MadeTrace{60, 40, 1});
    const std::filesystem::path path = TimelineIndex::path_of(both.left);
    ASSERT_TRUE(std::filesystem::exists(path));
    const auto written = std::filesystem::last_write_time(path);
    std::size_t made = 0;
    const auto again = TimelineIndex::open(both.left, [&](std::size_t, std::size_t) { ++made; });
    EXPECT_EQ(made, 0u);
    EXPECT_EQ(std::filesystem::last_write_time(path), written);
    // Other events in the same place.
    const TimelineFile other({60, 41, 1});
    std::filesystem::copy_file(other.path() / "profile.lprof", both.file.path() / "profile.lprof", std::filesystem::copy_options::overwrite_existing);
    const Profile changed = read_profile_without_events(both.file.path(), 0);
    const auto fresh = TimelineIndex::open(changed, [&](std::size_t, std::size_t) { ++made; });
    EXPECT_GT(made, 0u);
    const Profile whole = read_profile(both.file.path());
    EXPECT_EQ(sums_between(*fresh->row(0), 0, ~std::uint64_t{0} >> 1), literal_sums(whole, whole.locations[0].events, 0, ~std::uint64_t{0} >> 1));
}

std::vector<std::uint8_t> states_of_tens(const IndexedRow& row) {
    std::vector<std::uint8_t> states;
    const std::uint64_t tens = row.index().groups.size() * LeafTen::arity;
    for (const TimelinePixel& pixel : pixels_between(row, 0, static_cast<double>(row.index().end), 30, {0, tens}).pixels) states.push_back(pixel.state);
    return states;
}

TEST(TimelineIndex, ADamagedOneIsMadeAgainOrIsAnError) {
    const BothWays both(MadeTrace{60, 40, 1});
    const std::filesystem::path path = TimelineIndex::path_of(both.left);
    const auto size = std::filesystem::file_size(path);
    const TimelineSums all = sums_between(both.row(), 0, both.end());
    Random random{3};
    for (int i = 0; i < 60; ++i) {
        const FileSource source(path);
        std::vector<unsigned char> bytes = source.read(0, size);
        if (i < 10)
            bytes.resize(bytes.size() * static_cast<std::size_t>(i) / 10);
        else
            bytes[random() % bytes.size()] ^= static_cast<unsigned char>(1 + random() % 255);
        const auto index = TimelineIndex::read(both.left, std::make_shared<const MemorySource>(bytes));
        if (!index) continue;
        try {
            EXPECT_EQ(sums_between(*index->row(0), 0, both.end()), all);
            events_between(*index->row(0), both.end() / 3, both.end() / 2);
            sums_between(*index->row(0), both.end() / 3, both.end() / 2);
            EXPECT_EQ(states_of_tens(*index->row(0)), states_of_tens(both.row()));
        } catch (const ReadError&) {
        }
    }
}

TEST(TimelineIndex, DamagedEventsHaveNoRowAndANote) {
    TimelineFile file({60, 40, 1});
    const Profile good = read_profile_without_events(file.path(), 0);
    file.damage(good.locations[0].left_events->at + 100);
    const Profile profile = read_profile_without_events(file.path(), 0);
    ASSERT_TRUE(profile.locations[0].left_events);
    const auto index = TimelineIndex::open(profile, [](std::size_t, std::size_t) {});
    EXPECT_EQ(index->row(0), nullptr);
    EXPECT_EQ(index->notes().size(), 1u);
}

TEST(ReaderWithoutEvents, AllElseIsThatOfTheWholeFile) {
    const BothWays both(MadeTrace{60, 40, 1});
    EXPECT_EQ(both.left.notes, both.whole.notes);
    EXPECT_EQ(both.left.complete, both.whole.complete);
    EXPECT_EQ(both.left.paths.size(), both.whole.paths.size());
    EXPECT_EQ(both.left.locations[0].phases[0].iteration_ns, both.whole.locations[0].phases[0].iteration_ns);
    EXPECT_EQ(both.left.locations[0].events.stride, 0u);
    // Where there are few events, they are read.
    EXPECT_FALSE(read_profile_without_events(both.file.path(), std::uint64_t{1} << 40).locations[0].left_events);
}

TEST(TimelineIndex, ALeafBehindTheEndOfAPartKnowsTheNumberOfItsOwn) {
    std::vector<EventLeaf> leaves(3);
    leaves[0].cursor.part.number = 511; // over: the leaf begins with a head
    leaves[1].cursor.events_left = 100;
    leaves[1].cursor.part.number = 512;
    leaves[2].cursor.events_left = 50;
    leaves[2].cursor.part.number = 3; // of another phase
    const std::optional<std::vector<EventLeaf>> decoded = decoded_leaves(encoded_leaves(leaves), leaves.size());
    ASSERT_TRUE(decoded);
    EXPECT_EQ((*decoded)[1].cursor.part.number, 512u);
    EXPECT_EQ((*decoded)[2].cursor.part.number, 3u);
}

} // namespace
