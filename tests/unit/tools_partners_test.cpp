// Partners of messages: from the file to the model, the report and the evidence of a diagnosis; damaged ones.
#include "tests/unit/tools_read_one.hpp"
#include "tools/analysis/partners.hpp"
#include "tools/diagnosis/message_partners.hpp"
#include "tools/report/json.hpp"
#include "tools/report/text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace libprofile;
using namespace libprofile::test;
using namespace libprofile::tools;
using Json = nlohmann::json;

namespace {

/// A sample job of one rank with this block.
Profile with_partners(const std::function<void(Encoder&)>& write) {
    ProfileBuilder b(1);
    b.job(1);
    b.metrics();
    add_sample_rank(b, 0);
    b.block(BlockType::Partners, 0, write);
    return read_one(b.bytes());
}

/// Two ranks with these rows.
Profile with_rows(const std::vector<ProfileBuilder::BuiltPartners>& first, const std::vector<ProfileBuilder::BuiltPartners>& second, std::uint64_t lost = 0) {
    ProfileBuilder b(2);
    b.job(2);
    b.metrics();
    add_sample_rank(b, 0);
    b.partners(0, first, lost);
    add_sample_rank(b, 1);
    b.partners(1, second);
    return read_one(b.bytes());
}

constexpr MessageDirection sent = MessageDirection::Sent, received = MessageDirection::Received;

} // namespace

TEST(PartnersOfMessages, SumsOfBothRanksAreSharedOutToPairs) {
    const Profile p = with_rows({{2, sent, {{1, 3, 300}}, 0, 0}}, {{2, sent, {{0, 1, 100}}, 4, 1}, {2, received, {{0, 3, 300}}, 0, 0}});
    EXPECT_TRUE(p.notes.empty());
    const std::vector<SpotMessages> all = messages_by_partner(p, spot_table(p));
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].direction, sent);
    EXPECT_EQ(all[0].all.messages, 9u);
    EXPECT_EQ(all[0].all.bytes, 410u);
    EXPECT_EQ(all[0].unnamed.messages, 5u);
    ASSERT_EQ(all[0].pairs.size(), 2u);
    EXPECT_EQ(all[0].pairs[0].rank, 0u);
    EXPECT_EQ(all[0].pairs[0].partner, 1u);
    EXPECT_EQ(all[0].pairs[0].sum.bytes, 300u);
    const std::string text = report_text(p, {100, false, false});
    EXPECT_NE(text.find("410 B in 9 messages sent; rank 0 to rank 1 73.2 %, rank 1 to rank 0 24.4 %"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1 from rank 0 100.0 %"), std::string::npos) << text;
}

TEST(PartnersOfMessages, JsonHasEveryRow) {
    const Profile p = with_rows({{2, sent, {{1, 3, 300}}, 4, 1}}, {}, 7);
    const Json json = Json::parse(report_json(p, {}))["partners"];
    EXPECT_EQ(json["lost"], 7);
    ASSERT_EQ(json["rows"].size(), 1u);
    const Json& row = json["rows"][0];
    EXPECT_EQ(row["rank"], 0);
    EXPECT_EQ(row["direction"], "sent");
    EXPECT_EQ(row["partners"], Json::parse(R"([{"rank": 1, "messages": 3, "bytes": 300}])"));
    EXPECT_EQ(row["others"], Json::parse(R"({"messages": 4, "bytes": 8})"));
    EXPECT_EQ(row["unknown"], Json::parse(R"({"messages": 1, "bytes": 2})"));
}

TEST(PartnersOfMessages, ADiagnosisNamesThemOnlyIfAllAreKnown) {
    const auto told = [](const Profile& p) {
        const SpotTable spots = spot_table(p);
        return partners_there(p, spots, spots.of_path[p.locations[0].partners.rows[0].path], received, {0, 1});
    };
    EXPECT_EQ(told(with_rows({{2, received, {{1, 3, 300}}, 0, 0}}, {{2, received, {{0, 3, 300}, {1, 1, 0}}, 0, 0}})),
              "rank 0 receives there from rank 1 only, rank 1 from ranks 0-1 only");
    EXPECT_EQ(told(with_rows({{2, received, {{1, 3, 300}}, 1, 0}}, {{2, received, {{0, 3, 300}}, 0, 1}})), "") << "others, unknown";
    EXPECT_EQ(told(with_rows({{2, received, {{1, 3, 300}}, 0, 0}}, {{2, sent, {{0, 3, 300}}, 0, 0}}, 1)), "") << "lost messages";
}

TEST(PartnersOfMessages, DamagedOnesAreLeftOutAndNamed) {
    constexpr std::uint64_t huge = ~std::uint64_t{0};
    const auto lost = [](PartnersRecord record, PartnerRowRecord row, PartnerRecord partner) {
        const Profile p = with_partners([&](Encoder& e) {
            describe(e, record);
            describe(e, row);
            describe(e, partner);
        });
        EXPECT_EQ(p.locations.size(), 1u);
        return !p.complete && p.notes.size() == 1 && p.locations[0].partners.rows.empty();
    };
    const PartnersRecord one{0, 0, 1};
    const PartnerRowRecord row{1, 1, 0, 0, 0, 0, 1};
    const PartnerRecord partner{5, 1, 1};
    EXPECT_FALSE(lost(one, row, partner));
    EXPECT_TRUE(lost({huge, 0, 1}, row, partner)) << "thread";
    EXPECT_TRUE(lost({0, 0, huge}, row, partner)) << "more rows than bytes";
    EXPECT_TRUE(lost({0, 0, 2}, row, partner)) << "a row is missing";
    EXPECT_TRUE(lost({0, 0, 0}, row, partner)) << "bytes are left over";
    EXPECT_TRUE(lost(one, {6, 1, 0, 0, 0, 0, 1}, partner)) << "a node that is not there";
    EXPECT_TRUE(lost(one, {huge, 1, 0, 0, 0, 0, 1}, partner)) << "node";
    EXPECT_TRUE(lost(one, {1, 2, 0, 0, 0, 0, 1}, partner)) << "direction";
    EXPECT_TRUE(lost(one, {1, 1, 0, 0, 0, 0, 9}, partner)) << "more partners than a row has";
    EXPECT_TRUE(lost(one, {1, 1, 0, 0, 0, 0, 2}, partner)) << "a partner is missing";
    EXPECT_TRUE(lost(one, row, {huge, 1, 1})) << "rank";
}
