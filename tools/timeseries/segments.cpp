#include "tools/timeseries/segments.hpp"

#include <utility>

namespace libprofile::tools {

namespace {

/// Table 2.
SegmentSign sign_of(const Segment& segment, double run_time, const TimeSeriesParameters& parameters) {
    const double least = parameters.high_share * run_time;
    const bool imb = segment.imb >= least && segment.imb >= parameters.high_part * segment.sum_imb;
    const bool sum = segment.sum_imb >= least, wait = segment.sum_wait >= least;
    if (sum && imb) return wait ? SegmentSign::All : SegmentSign::Imbalance;
    if (sum) return wait ? SegmentSign::TradeOffAndWaiting : SegmentSign::TradeOff;
    return wait ? SegmentSign::Waiting : SegmentSign::None;
}

} // namespace

std::vector<Segment> segments(const std::vector<NodeLoss>& losses, const std::vector<SignificantPath>& paths, double run_time,
                              const TimeSeriesParameters& parameters) {
    std::vector<Segment> all;
    Segment open;
    const auto end = [&] {
        open.sign = sign_of(open, run_time, parameters);
        all.push_back(std::exchange(open, {}));
    };
    for (const SignificantPath& path : paths) {
        const NodeLoss& loss = losses[path.loss];
        const bool ends = loss.node_class == NodeClass::Synchronisation;
        open.paths.push_back(path);
        if (path.by_imbalance) (ends ? open.imb : open.sum_imb) += loss.imb;
        if (path.by_waiting) open.sum_wait += loss.wait;
        if (!ends) continue;
        open.synchronisation = path.loss;
        end();
    }
    if (!open.paths.empty()) end();
    return all;
}

const char* advice(SegmentSign sign) {
    switch (sign) { // without default: a sign that is missing does not compile
    case SegmentSign::None: break;
    case SegmentSign::Waiting: return "much waiting that no imbalance here explains: see which of its call paths could do without";
    case SegmentSign::TradeOff:
        return "imbalances that make up for each other before ranks meet: fine if the classes of the call paths are right, else a large imbalance";
    case SegmentSign::Imbalance: return "load imbalance: see what its call paths compute on the ranks that take longest";
    case SegmentSign::TradeOffAndWaiting: return "computing and waiting make up for each other: see whether ranks wait for those that compute longer";
    case SegmentSign::All: return "load imbalance and much waiting: begin with the imbalance, then see which waiting is left";
    }
    return "";
}

} // namespace libprofile::tools
