#include "tools/comparison/growth.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace libprofile::tools {

namespace {

constexpr double powers[] = {-2, -1.5, -1, -2.0 / 3, -0.5, -1.0 / 3, 0, 1.0 / 3, 0.5, 2.0 / 3, 1, 1.5, 2, 3};
constexpr int most_logs = 2;
constexpr double ahead = 4;         // times the largest size: what models say of it tells whether they differ
constexpr double differs_by = 0.25; // of the best model's value there
constexpr double nearly_as_well = 2;
constexpr double noise = 1e-3; // predictions that are off by less are all equally good: no measured time is that exact

double value_of(const GrowthTerm& term, double p) { return std::pow(p, term.power) * std::pow(std::log2(p), term.logs); }

/// The best constant and factor for relative errors: each size counts alike, whatever its value. Empty if the term is none for these sizes.
std::optional<GrowthModel> fitted(const GrowthTerm& term, std::span<const double> sizes, std::span<const double> values, std::size_t left_out) {
    double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (i == left_out) continue;
        const double weight = 1 / (values[i] * values[i]), x = value_of(term, sizes[i]);
        sw += weight;
        sx += weight * x;
        sy += weight * values[i];
        sxx += weight * x * x;
        sxy += weight * x * values[i];
    }
    const double determinant = sw * sxx - sx * sx;
    if (!(determinant > 1e-12 * sw * sxx)) return {};
    GrowthModel model;
    model.term = term;
    model.factor = (sw * sxy - sx * sy) / determinant;
    model.constant = (sy - model.factor * sx) / sw;
    if (model.factor < 0) return {}; // what shrinks has a negative power
    if (model.constant < 0) {
        model.constant = 0;
        model.factor = sxy / sxx;
    }
    return model;
}

GrowthModel constant_model(std::span<const double> values, std::size_t left_out) {
    double weights = 0, sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i == left_out) continue;
        weights += 1 / (values[i] * values[i]);
        sum += 1 / values[i];
    }
    GrowthModel model;
    model.constant = sum / weights;
    return model;
}

/// The model of all sizes, with the error of those made without one of them. Empty if the term does not fit some of these.
template <class Fit> std::optional<GrowthModel> validated(std::span<const double> sizes, std::span<const double> values, Fit fit) {
    double error = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::optional<GrowthModel> without = fit(i);
        if (!without) return {};
        error += std::abs(without->at(sizes[i]) - values[i]) / values[i] / static_cast<double>(sizes.size());
    }
    std::optional<GrowthModel> model = fit(sizes.size());
    if (model) model->error = error;
    return model;
}

std::string power_text(double power) {
    for (const double third : {1.0 / 3, 2.0 / 3})
        if (std::abs(std::abs(power) - third) < 1e-9) return fmt::format("({}{}/3)", power < 0 ? "-" : "", third < 0.5 ? 1 : 2);
    return power < 0 ? fmt::format("({:g})", power) : fmt::format("{:g}", power);
}

} // namespace

double GrowthModel::at(double p) const { return constant + (factor == 0 ? 0 : factor * value_of(term, p)); }

Growth growth_of(std::span<const double> sizes, std::span<const double> values) {
    Growth growth;
    if (sizes.size() < sizes_for_growth || std::any_of(values.begin(), values.end(), [](double v) { return !(v > 0); })) return growth;
    growth.is_known = true;
    const GrowthModel constant = *validated(sizes, values, [&](std::size_t left_out) { return std::optional(constant_model(values, left_out)); });
    std::vector<GrowthModel> models = {constant};
    for (const double power : powers)
        for (int logs = 0; logs <= most_logs; ++logs) {
            const GrowthTerm term{power, logs};
            if (term == GrowthTerm()) continue;
            if (const auto model = validated(sizes, values, [&](std::size_t left_out) { return fitted(term, sizes, values, left_out); }))
                models.push_back(*model);
        }
    std::stable_sort(models.begin(), models.end(), [](const GrowthModel& a, const GrowthModel& b) { return a.error < b.error; });
    growth.best = constant.error <= noise ? constant : models.front();
    const double far = ahead * *std::max_element(sizes.begin(), sizes.end()), there = growth.best.at(far);
    for (const GrowthModel& model : models)
        if (model.error <= std::max(nearly_as_well * growth.best.error, noise) && std::abs(model.at(far) - there) > differs_by * there)
            growth.rivals.push_back(model);
    return growth;
}

std::string growth_text(const GrowthModel& model) {
    if (model.factor == 0) return "constant";
    std::string text;
    if (model.term.power != 0) text = model.term.power == 1 ? "p" : "p^" + power_text(model.term.power);
    if (model.term.logs != 0) text += fmt::format("{}log2(p){}", text.empty() ? "" : " ", model.term.logs == 1 ? "" : fmt::format("^{}", model.term.logs));
    return text;
}

} // namespace libprofile::tools
