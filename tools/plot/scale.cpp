#include "tools/plot/scale.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// 1, 2 or 5 times a power of ten, so that some four steps lead to `top`.
double step_to(double top) {
    const double power = std::pow(10, std::floor(std::log10(top / 4)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
        if (power * factor * 5 >= top) return power * factor;
    return power * 10;
}

} // namespace

Scale::Scale(const std::vector<double>& values, bool logarithmic) : logarithmic_(logarithmic) {
    double least = 0, most = 0;
    for (const double v : values) {
        most = std::max(most, v);
        if (v > 0) least = least == 0 ? v : std::min(least, v);
    }
    if (most <= 0) {
        logarithmic_ = false;
        most = 1;
    }
    if (logarithmic_) {
        bottom_ = std::floor(std::log10(least) - 0.001);
        top_ = std::max(std::ceil(std::log10(most) - 1e-9), bottom_ + 1);
        const int step = std::max(1, static_cast<int>((top_ - bottom_) / 6));
        for (int e = static_cast<int>(bottom_); e <= static_cast<int>(top_); e += step) ticks_.push_back(std::pow(10, e));
        return;
    }
    const double step = step_to(most);
    top_ = step * std::ceil(most / step - 1e-9);
    for (int i = 0; i * step <= top_ * (1 + 1e-9); ++i) ticks_.push_back(i * step);
}

double Scale::position(double value) const {
    if (!logarithmic_) return value / top_;
    if (value <= 0) return 0;
    return std::clamp((std::log10(value) - bottom_) / (top_ - bottom_), 0.0, 1.0);
}

void draw_value_axis(Svg& svg, const Box& plot, const Scale& scale, const std::string& title, const LabelOf& label) {
    for (const double tick : scale.ticks()) {
        const double y = plot.bottom() - scale.position(tick) * plot.height;
        svg.line(plot.x, y, plot.right(), y, "#dddddd");
        svg.text(plot.x - 6, y + 4, label(tick), Anchor::End);
    }
    svg.line(plot.x, plot.y, plot.x, plot.bottom(), "#666666");
    svg.line(plot.x, plot.bottom(), plot.right(), plot.bottom(), "#666666");
    svg.upright_text(plot.x - 58, plot.y + plot.height / 2, title);
}

std::string share_label(double share) { return fmt::format("{:.6g} %", std::round(share * 1e10) / 1e8); }

} // namespace libprofile::tools
