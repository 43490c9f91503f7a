// From values to pixels, and the labels in between.
// Contract: plain values; thread-safe; allocates its results.
#pragma once

#include "tools/plot/svg.hpp"

#include <functional>
#include <string>
#include <vector>

namespace libprofile::tools {

/// A value axis that begins at 0, or a logarithmic one of whole decades on which 0 lies at the lower end.
class Scale {
  public:
    Scale(const std::vector<double>& values, bool logarithmic);

    double position(double value) const; // 0 to 1
    /// Values that get a label.
    const std::vector<double>& ticks() const { return ticks_; }
    double top() const { return top_; }

  private:
    bool logarithmic_;
    double bottom_ = 0;
    double top_ = 1;
    std::vector<double> ticks_;
};

using LabelOf = std::function<std::string(double)>;

/// Grid, labels and title of the value axis on the left of `plot`.
void draw_value_axis(Svg& svg, const Box& plot, const Scale& scale, const std::string& title, const LabelOf& label);

/// "12 %", "0.004 %".
std::string share_label(double share);

} // namespace libprofile::tools
