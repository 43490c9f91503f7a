#include "tools/commands/evaluate_report.hpp"

namespace libprofile::tools {

std::vector<std::string> evaluation_figures(const EvaluationContext&, const std::filesystem::path&) {
    return {};
}

} // namespace libprofile::tools
