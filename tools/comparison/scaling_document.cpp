#include "tools/comparison/scaling_document.hpp"

#include "tools/comparison/amounts.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr std::size_t told = 4, scaled_on_screen = 15;
constexpr double worth_saying = 0.05; // of what is lost
constexpr double not_shorter = 0.9;   // of the baseline's time: work that is not divided up

const char* name_of(ScalingKind kind) { return kind == ScalingKind::Strong ? "strong" : "weak"; }

/// "8 ranks", "4 ranks x 2 threads".
std::string size_text(const ScaledSize& size) {
    const std::string ranks = plural(size.ranks, "rank");
    if (size.resources == size.ranks) return ranks;
    return size.resources % size.ranks == 0 ? fmt::format("{} x {}", ranks, plural(size.resources / size.ranks, "thread"))
                                            : fmt::format("{} with {}", ranks, plural(size.resources, "thread"));
}

double factor_of(const Scaling& scaling) { return static_cast<double>(scaling.largest().resources) / static_cast<double>(scaling.smallest().resources); }

std::string head(const Scaling& scaling, const Amounts& amounts) {
    const ScaledSize &smallest = scaling.smallest(), &largest = scaling.largest();
    const std::string speedup = scaling.kind == ScalingKind::Strong
                                    ? fmt::format(", {:.3g} times as fast with {:.3g} times the processors", smallest.time / largest.time, factor_of(scaling))
                                    : "";
    return fmt::format("efficiency is {} on {}: {}, {} on {} ({} scaling{})", percent(largest.efficiency), size_text(largest), amounts.text(largest.time),
                       amounts.text(smallest.time), size_text(smallest), name_of(scaling.kind), speedup);
}

std::string why_kind(const Scaling& scaling) {
    if (scaling.is_told) return "";
    const std::string seen =
        fmt::format("all ranks together compute {:.2f} times as long with {:.3g} times the processors", scaling.computing, factor_of(scaling));
    if (!scaling.is_sure)
        return fmt::format("not sure whether this is strong or weak scaling: {}; taken as {}, say --strong or --weak", seen, name_of(scaling.kind));
    return fmt::format("taken as {} scaling: {}", name_of(scaling.kind), seen);
}

std::string parts_of_loss(const Scaling& scaling, const Amounts& amounts) {
    if (scaling.lost <= 0) return fmt::format("nothing is lost: ranks take {} less than ideal on average", amounts.text(-scaling.lost));
    std::vector<std::size_t> order(time_use_count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return scaling.lost_by_use[a] > scaling.lost_by_use[b]; });
    std::string parts;
    for (const std::size_t use : order) {
        const double lost = scaling.lost_by_use[use];
        if (lost < worth_saying / 5 * scaling.lost) continue;
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", amounts.text(lost), time_use_name(static_cast<TimeUse>(use)));
    }
    return fmt::format("{} of a rank's {} are lost: {}", amounts.text(scaling.lost), amounts.text(scaling.largest().time), parts);
}

std::string activity_sentence(const Scaling& scaling, const ScaledActivity& one, const Amounts& amounts) {
    std::string why;
    const double before = one.time.front(), after = one.time.back();
    if (scaling.kind == ScalingKind::Strong && one.activity.use == TimeUse::Computing && before > 0 && after >= not_shorter * before)
        why = "; it does not get shorter: every rank does all of it";
    return fmt::format("{} {} {}: {} on {}, {} on {}{}", amounts.difference(one.lost), time_use_name(one.activity.use), activity_text(one.activity),
                       before == 0 ? "nothing" : amounts.text(before), size_text(scaling.smallest()), amounts.text(after), size_text(scaling.largest()), why);
}

std::string model_text(const GrowthModel& model, const Amounts& amounts) {
    if (model.factor == 0) return amounts.text(model.constant);
    return fmt::format("{}{} {}", model.constant == 0 ? "" : amounts.text(model.constant) + " + ", amounts.text(model.factor), growth_text(model));
}

/// "p^0.5", "not sure: log2(p) or p^0.5"; empty if there are too few sizes.
std::string short_growth(const Growth& growth) {
    if (!growth.is_known) return "";
    const std::string best = growth_text(growth.best);
    const auto with_constant = [](const GrowthModel& m) { return (m.constant > 0 && m.factor != 0 ? "c + " : "") + growth_text(m); };
    return growth.rivals.empty() ? with_constant(growth.best)
                                 : fmt::format("not sure: {} or {}", with_constant(growth.best), with_constant(growth.rivals.front()));
}

std::string growth_sentence(const Growth& growth, const std::string& what, const Amounts& amounts) {
    const std::string best = fmt::format("{} goes with {}", what, model_text(growth.best, amounts));
    if (growth.rivals.empty()) return best + fmt::format(", where p is ranks x threads (predicts left out sizes to {})", percent(growth.best.error));
    return fmt::format("not sure how {} goes on: {} and {} fit alike", what, model_text(growth.best, amounts), model_text(growth.rivals.front(), amounts));
}

} // namespace

std::vector<std::string> scaling_sentences(const Scaling& scaling) {
    const Amounts amounts(std::max(scaling.smallest().time, scaling.largest().time), "ns");
    std::vector<std::string> sentences = {head(scaling, amounts), parts_of_loss(scaling, amounts)};
    for (std::size_t i = 0; i < std::min(told, scaling.activities.size()) && scaling.lost > 0; ++i)
        if (scaling.activities[i].lost >= worth_saying * scaling.lost) sentences.push_back(activity_sentence(scaling, scaling.activities[i], amounts));
    if (const std::string why = why_kind(scaling); !why.empty()) sentences.push_back(why);
    if (scaling.growth.is_known)
        sentences.push_back(growth_sentence(scaling.growth, "the run's time", amounts));
    else
        sentences.push_back(
            fmt::format("how it would go on is not said of {} sizes; {} are needed", number_word(scaling.sizes.size()), number_word(sizes_for_growth)));
    for (std::string& sentence : sentences) sentence = printable(sentence);
    return sentences;
}

ReportDocument scaling_document(const Scaling& scaling, const ScalingForm& form) {
    ReportDocument document;
    document.title = printable(form.command);
    const std::vector<std::string> sentences = scaling_sentences(scaling);
    for (std::size_t i = 1; i < sentences.size(); ++i) document.findings.emplace_back(i == 1 ? sentences[0] : "", sentences[i]);
    for (const std::string& remark : scaling.remarks) document.warnings.push_back(printable(remark));
    document.properties = {{"scaling", std::string(name_of(scaling.kind))},
                           {"told", std::uint64_t{scaling.is_told}},
                           {"computing", scaling.computing},
                           {"lost", scaling.lost},
                           {"growth", short_growth(scaling.growth)}};

    ReportTable sizes{"sizes", "Sizes", "of several runs of one size the median", {}, {}, {}, {}, 0, ""};
    sizes.columns = {{"ranks", "ranks", ColumnUnit::Count},     {"resources", "x threads", ColumnUnit::Count},
                     {"runs", "runs", ColumnUnit::Count},       {"time", "time", ColumnUnit::Ns},
                     {"spread", "spread", ColumnUnit::Ns},      {"efficiency", "efficiency", ColumnUnit::Share},
                     {"speedup", "speedup", ColumnUnit::Count}, {"lost", "lost", ColumnUnit::Ns}};
    for (const ScaledSize& size : scaling.sizes)
        sizes.rows.push_back({std::uint64_t{size.ranks}, std::uint64_t{size.resources}, std::uint64_t{size.runs.size()}, size.time,
                              size.runs.size() > 1 ? ReportValue(size.spread) : ReportValue(), size.efficiency, scaling.smallest().time / size.time,
                              size.lost});
    document.tables.push_back(std::move(sizes));

    ReportTable uses{"kinds", "Lost time", fmt::format("on {}, mean per rank", size_text(scaling.largest())), {}, {}, {}, {}, 0, ""};
    uses.columns = {{"lost", "lost", ColumnUnit::Ns, true}, {"share", "share", ColumnUnit::Share}, {"kind", "kind", ColumnUnit::Text}};
    for (std::size_t use = 0; use < time_use_count; ++use)
        if (scaling.lost_by_use[use] != 0)
            uses.rows.push_back({scaling.lost_by_use[use], scaling.lost <= 0 ? ReportValue() : scaling.lost_by_use[use] / scaling.lost,
                                 std::string(time_use_name(static_cast<TimeUse>(use)))});
    document.tables.push_back(std::move(uses));

    ReportTable functions{"functions", "Functions", "most lost first; mean per rank", {}, {}, {}, {}, 0, "functions"};
    functions.columns = {{"lost", "lost", ColumnUnit::Ns, true}, {"efficiency", "efficiency", ColumnUnit::Share}};
    for (std::size_t s = 0; s < scaling.sizes.size(); ++s) {
        const std::string resources = fmt::format("{}", scaling.sizes[s].resources);
        functions.columns.push_back({"time_" + resources, s == 0 || s + 1 == scaling.sizes.size() ? "on " + resources : "", ColumnUnit::Ns});
    }
    for (const auto& [key, label, least] : {std::tuple("kind", "kind", 9), {"", "function", 24}, {"function", "", 0}, {"caller", "", 0}, {"file", "", 0}})
        functions.columns.push_back({key, label, ColumnUnit::Text, false, static_cast<std::size_t>(least)});
    functions.columns.push_back({"growth", scaling.growth.is_known ? "growth" : "", ColumnUnit::Text, false, 8});
    const std::size_t rows = std::min(scaling.activities.size(), form.top != 0 ? form.top : form.everything ? scaling.activities.size() : scaled_on_screen);
    functions.left_out = scaling.activities.size() - rows;
    for (std::size_t i = 0; i < rows; ++i) {
        const ScaledActivity& one = scaling.activities[i];
        std::vector<ReportValue> cells = {one.lost, std::isnan(one.efficiency) ? ReportValue() : one.efficiency};
        cells.insert(cells.end(), one.time.begin(), one.time.end());
        for (const std::string& text : {std::string(time_use_name(one.activity.use)), activity_text(one.activity), printable(one.activity.name),
                                        printable(one.activity.caller), printable(one.activity.file), short_growth(one.growth)})
            cells.emplace_back(text);
        functions.rows.push_back(std::move(cells));
    }
    document.tables.push_back(std::move(functions));
    return document;
}

std::string scaling_text(const Scaling& scaling, const ScalingForm& form, const TextStyle& style) {
    TextWriter to(style);
    const std::vector<std::string> sentences = scaling_sentences(scaling);
    for (const std::string& text : wrapped(spelled(style, sentences[0]), to.width())) to.line(tinted(style, Tint::Title, text));
    for (std::size_t i = 1; i < sentences.size(); ++i) to.paragraph(spelled(style, sentences[i]), "  ", "    ");
    for (const std::string& remark : scaling.remarks) to.note(printable(remark));
    append_tables(scaling_document(scaling, form), to);
    return to.text();
}

} // namespace libprofile::tools
