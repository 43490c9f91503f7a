// Pictures of machines: boxes lie in each other as the parts do, no text lies on another one, ranks stand where they were seen, and names are only text.
#include "tools/plot/machine_picture.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <regex>
#include <string>
#include <vector>

namespace libprofile::test {

namespace {

using enum MachineObject;
using tools::PlacedMachine;

struct PictureLevel {
    MachineObject type;
    std::uint32_t count;
};

tools::MachineTree tree_of(const std::vector<PictureLevel>& levels, bool has_distances) {
    tools::MachineTree tree;
    std::map<MachineObject, std::uint32_t> numbers;
    const std::function<void(std::size_t)> add = [&](std::size_t level) {
        if (level == levels.size()) return;
        const bool is_cache = levels[level].type >= L5Cache && levels[level].type <= L1Cache;
        for (std::uint32_t i = 0; i < levels[level].count; ++i) {
            const std::size_t at = tree.nodes.size();
            tree.nodes.push_back({levels[level].type, 0, numbers[levels[level].type]++, is_cache ? 48 << 10 : 0u});
            if (levels[level].type == Group) tree.nodes.push_back({NumaNode, static_cast<std::uint32_t>(at + 2), numbers[NumaNode]++, std::uint64_t{1} << 37});
            add(level + 1);
            tree.nodes[at].end = static_cast<std::uint32_t>(tree.nodes.size());
        }
    };
    add(0);
    const std::uint32_t nodes = numbers[NumaNode];
    if (has_distances) tree.distances.assign(nodes, std::vector<std::uint64_t>(nodes, 21));
    return tree;
}

PlacedMachine placed(const tools::MachineTree& tree, const std::string& host) {
    PlacedMachine machine;
    machine.used.host = host;
    machine.tree = &tree;
    machine.threads.resize(tree.nodes.size());
    return machine;
}

struct PictureText {
    double x, y, size;
    std::string anchor, text;
    /// An upper limit: no font of the picture is wider on average.
    tools::Box box() const {
        std::size_t letters = 0;
        for (const std::string entity : {"&amp;", "&lt;", "&gt;", "&quot;"})
            for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at) letters -= entity.size() - 1;
        for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
        const double width = 0.6 * size * static_cast<double>(letters);
        return {anchor == "middle" ? x - width / 2 : x, y - 0.8 * size, width, size};
    }
};

struct Picture {
    explicit Picture(const std::vector<PlacedMachine>& machines) : svg(tools::machine_picture(machines).document()) {
        std::smatch found;
        EXPECT_TRUE(std::regex_search(svg, found, std::regex(R"re(width="(\d+)" height="(\d+)")re")));
        width = std::stod(found[1]), height = std::stod(found[2]);
        const std::regex box(R"re(<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)" fill="none" stroke="(#\w+)")re");
        for (std::sregex_iterator at(svg.begin(), svg.end(), box), end; at != end; ++at)
            if ((*at)[5] != "#c8ced4") boxes.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])}); // of a distance
        const std::regex text(R"re(<text x="([\d.]+)" y="([\d.]+)" font-size="([\d.]+)" text-anchor="(\w+)" fill="#\w+">([^<]*)</text>)re");
        for (std::sregex_iterator at(svg.begin(), svg.end(), text), end; at != end; ++at)
            texts.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), (*at)[4], (*at)[5]});
    }
    std::size_t count(const std::string& wanted) const {
        return static_cast<std::size_t>(std::count_if(texts.begin(), texts.end(), [&](const PictureText& text) { return text.text == wanted; }));
    }
    std::string svg;
    double width = 0, height = 0;
    std::vector<tools::Box> boxes;
    std::vector<PictureText> texts;
};

constexpr double rounding = 0.11;

bool lies_in(const tools::Box& inner, const tools::Box& outer) {
    return inner.x >= outer.x - rounding && inner.y >= outer.y - rounding && inner.right() <= outer.right() + rounding &&
           inner.bottom() <= outer.bottom() + rounding;
}
bool are_apart(const tools::Box& a, const tools::Box& b) {
    return a.right() <= b.x + rounding || b.right() <= a.x + rounding || a.bottom() <= b.y + rounding || b.bottom() <= a.y + rounding;
}

void expect_readable(const Picture& picture, const std::string& what) {
    const tools::Box all{0, 0, picture.width, picture.height};
    for (std::size_t i = 0; i < picture.boxes.size(); ++i) {
        EXPECT_TRUE(lies_in(picture.boxes[i], all)) << what;
        for (std::size_t k = 0; k < i; ++k) // outer ones first
            ASSERT_TRUE(are_apart(picture.boxes[k], picture.boxes[i]) || lies_in(picture.boxes[i], picture.boxes[k])) << what << ": boxes " << k << ", " << i;
    }
    for (std::size_t i = 0; i < picture.texts.size(); ++i) {
        const tools::Box text = picture.texts[i].box();
        EXPECT_TRUE(lies_in(text, all)) << what << ": " << picture.texts[i].text;
        for (std::size_t k = 0; k < i; ++k)
            ASSERT_TRUE(are_apart(text, picture.texts[k].box())) << what << ": " << picture.texts[i].text << ", " << picture.texts[k].text;
        for (const tools::Box& box : picture.boxes)
            ASSERT_TRUE(are_apart(text, box) || lies_in(text, box) || lies_in(box, text)) << what << ": " << picture.texts[i].text << " crosses a box";
    }
}

const std::vector<PictureLevel> laptop = {{Machine, 1}, {Package, 1}, {L3Cache, 1}, {L2Cache, 2}, {L1Cache, 1}, {Core, 1}, {Processor, 2}};
const std::vector<PictureLevel> server = {{Machine, 1}, {Package, 2}, {Group, 4}, {L3Cache, 2}, {L2Cache, 8}, {L1Cache, 1}, {Core, 1}, {Processor, 2}};

const std::vector<PictureLevel> pair = {{Machine, 1}, {Package, 1}, {Group, 2}, {Core, 1}, {Processor, 1}};

} // namespace

TEST(MachinePicture, BoxesLieInEachOtherAndTextsApart) {
    for (const auto& [levels, least, most] : {std::tuple(laptop, 400, 700), {server, 900, 2200}, {pair, 400, 700}}) {
        const tools::MachineTree tree = tree_of(levels, true);
        PlacedMachine machine = placed(tree, "host");
        for (std::uint32_t i = 0, rank = 0; i < tree.nodes.size(); ++i)
            if (tree.nodes[i].type == Processor && i % 3 == 0) machine.threads[i] = {{rank++, 0}};
        const Picture picture({machine});
        EXPECT_EQ(picture.boxes.size(), tree.nodes.size());
        EXPECT_GT(picture.width, least);
        EXPECT_LT(picture.width, most);
        EXPECT_LT(picture.height, picture.width * 1.2);
        expect_readable(picture, "ranks alone");
        // Crowded: many ranks and threads in a processor.
        for (std::uint32_t i = 0; i < tree.nodes.size(); i += 5)
            if (tree.nodes[i].type == Processor)
                for (std::uint32_t t = 0; t < 300; t += 1 + t % 3) machine.threads[i].push_back({t / 20, t % 20});
        expect_readable(Picture({machine}), "crowded");
    }
}

TEST(MachinePicture, RanksAndThreadsStandInTheirProcessors) {
    const tools::MachineTree tree = tree_of(laptop, false);
    PlacedMachine machine = placed(tree, "host");
    const std::vector<std::uint32_t> processors = {6, 7, 11, 12};
    for (const std::uint32_t processor : processors) ASSERT_EQ(tree.nodes[processor].type, Processor);
    machine.threads[6] = {{0, 0}, {1, 0}, {2, 0}, {5, 0}};
    machine.threads[7] = {{0, 1}};
    machine.threads[12] = {{3, 0}, {3, 2}, {3, 3}};
    const Picture picture({machine});
    const auto texts_in = [&](std::uint32_t node) {
        std::vector<std::string> found;
        for (const PictureText& text : picture.texts)
            if (lies_in(text.box(), picture.boxes[node])) found.push_back(text.text);
        return found;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(texts_in(6), (Texts{"0", "ranks 0-2, 5"}));
    EXPECT_EQ(texts_in(7), (Texts{"1", "rank 0", "thread 1"}));
    EXPECT_EQ(texts_in(11), (Texts{"2"}));
    EXPECT_EQ(texts_in(12), (Texts{"3", "rank 3", "threads 0, 2-3"}));
    EXPECT_EQ(picture.count("core 1"), 1u);
    EXPECT_EQ(picture.count("L2 48.0 KiB"), 2u);
}

TEST(MachinePicture, NamesAreOnlyText) {
    const tools::MachineTree tree = tree_of(laptop, false);
    PlacedMachine machine = placed(tree, "</text><script>alert(1)</script>\x01&\"" + std::string(400, 'M'));
    PlacedMachine other;
    other.used.host = "<b>second";
    const Picture picture({machine, other});
    EXPECT_EQ(picture.svg.find("<script"), std::string::npos);
    EXPECT_EQ(picture.svg.find("<b>"), std::string::npos);
    EXPECT_NE(picture.svg.find("&lt;b&gt;second"), std::string::npos) << "a machine without a tree is named";
    EXPECT_EQ(picture.svg.find('\x01'), std::string::npos);
    expect_readable(picture, "a long name");
}

TEST(MachinePicture, MachinesLieOneBelowTheOther) {
    const tools::MachineTree small = tree_of(laptop, true), large = tree_of(server, true), flat = tree_of({{Machine, 1}}, false),
                             wide = tree_of({{Machine, 1}, {Group, 40}, {Core, 1}}, true);
    const Picture picture({placed(small, "one"), placed(large, "two"), placed(flat, "three"), placed(wide, "four")});
    expect_readable(picture, "four machines");
    EXPECT_EQ(picture.boxes.size(), small.nodes.size() + large.nodes.size() + 1 + wide.nodes.size());
    EXPECT_EQ(picture.count("NUMA distances of 40 nodes: libprofile report --machine"), 1u);
    EXPECT_EQ(picture.count("21"), 64u + 1) << "distances of eight nodes, and a processor";
}

} // namespace libprofile::test
