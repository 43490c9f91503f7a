// How well `libprofile diagnose` finds causes that were planted in generated runs (tests/unit/tools_lost_run.hpp). docs/diagnosis.md has the results.
//
//   ground_truth [tuned|held_out|judged|unseen|fresh] [--seeds N] [--from SEED] [--clean SEEDS] [--ranks N] [--share PERCENT] [--cause NAME]
//                [--jitter NAME] [--wrong]
//
// `tuned`: shapes that the detectors were made with; the others are those of LostShapes.
// --from: the first seed; --clean: seeds of each kind of run without a cause. --wrong says what was missed, and what was not planted.
#include "tests/unit/tools_truth_score.hpp"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>

using namespace libprofile::test;

namespace {

/// Other numbers of ranks and iterations, too, than detectors were made with.
struct Sizes {
    std::vector<std::size_t> ranks;
    std::size_t iterations, of_many_ranks;
    std::size_t iterations_of(std::size_t of) const { return of >= 500 ? of_many_ranks : iterations; }
};

Sizes sizes_of(LostShapes shapes) {
    if (shapes == LostShapes::Judged) return {{2, 6, 48, 500}, 700, 500};
    if (shapes == LostShapes::Unseen) return {{2, 12, 96, 700}, 800, 450};
    if (shapes == LostShapes::Fresh) return {{2, 10, 128, 1000}, 900, 500};
    return {{2, 8, 64, 1000}, 1000, 400};
}

struct Row {
    std::string name;
    TruthScore score;
};

std::string share(std::size_t part, std::size_t all) {
    char text[32];
    if (all == 0) return "-";
    std::snprintf(text, sizeof text, "%.2f", static_cast<double>(part) / static_cast<double>(all));
    return text;
}

void print(const std::vector<Row>& rows, const char* first) {
    std::printf("\n| %s | planted | recall | precision | ranks | function | iterations | period | gain |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n", first);
    for (const Row& row : rows) {
        const TruthScore& s = row.score;
        std::printf("| %s | %zu | %s | %s | %s | %s | %s | %s | %s |\n", row.name.c_str(), s.planted, share(s.found, s.planted).c_str(),
                    share(s.right, s.reported).c_str(), share(s.ranks, s.found).c_str(), share(s.function, s.functions).c_str(),
                    share(s.iterations, s.iteration_lists).c_str(), share(s.period, s.periods).c_str(), share(s.gain, s.found).c_str());
    }
}

} // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::string> options{{"--seeds", "2"}, {"--from", "1"}, {"--clean", "3"}, {"--ranks", ""},
                                               {"--share", ""},  {"--cause", ""}, {"--jitter", ""}};
    const std::map<std::string, LostShapes> names{{"tuned", LostShapes::Tuned},
                                                  {"held_out", LostShapes::HeldOut},
                                                  {"judged", LostShapes::Judged},
                                                  {"unseen", LostShapes::Unseen},
                                                  {"fresh", LostShapes::Fresh}};
    LostShapes shapes = LostShapes::Tuned;
    bool tells_wrong = false;
    for (int a = 1; a < argc; ++a) {
        if (options.contains(argv[a]) && a + 1 < argc) {
            options[argv[a]] = argv[a + 1];
            ++a;
        } else if (std::strcmp(argv[a], "--wrong") == 0)
            tells_wrong = true;
        else if (const auto named = names.find(argv[a]); named != names.end())
            shapes = named->second;
        else {
            std::fprintf(stderr, "usage: ground_truth [tuned|held_out|judged|unseen|fresh] [--seeds N] [--from SEED] [--clean SEEDS] [--ranks N] [--share "
                                 "PERCENT] [--cause NAME] "
                                 "[--jitter NAME] [--wrong]\n");
            return 2;
        }
    }
    const auto is_wanted = [&](const char* option, const std::string& value) { return options[option].empty() || options[option] == value; };
    const std::vector<std::string> jitters = jitters_of(shapes);
    std::map<std::string, TruthScore> by_cause, by_size, by_jitter;
    std::string wrong;
    const Sizes sizes = sizes_of(shapes);
    const unsigned seeds_from = 1000 * static_cast<unsigned>(shapes) + static_cast<unsigned>(std::stoi(options["--from"])) - 1;
    for (const std::size_t ranks : sizes.ranks)
        for (const double percent : {1.0, 2.0, 5.0, 20.0}) {
            char size[64];
            std::snprintf(size, sizeof size, "%4zu ranks, %2g %%", ranks, percent);
            if (!is_wanted("--ranks", std::to_string(ranks)) || !is_wanted("--share", std::to_string(static_cast<int>(percent)))) continue;
            std::size_t turn = 0;
            for (const std::string& cause : causes_of_truth()) {
                if (!is_wanted("--cause", cause)) continue;
                const int seeds = ranks >= 500 ? (std::stoi(options["--seeds"]) + 1) / 2 : std::stoi(options["--seeds"]);
                for (int seed = 1; seed <= seeds; ++seed) {
                    // Of many seeds each shape meets each jitter.
                    const std::size_t round = static_cast<std::size_t>(seed - 1) / jitters.size();
                    const std::string& jitter = options["--jitter"].empty() ? jitters[(turn++ + round) % jitters.size()] : options["--jitter"];
                    LostRunChoice choice{ranks, sizes.iterations_of(ranks), jitter, {cause}, percent / 100, seeds_from + static_cast<unsigned>(seed), shapes};
                    const TruthScore score = score_of(choice, std::min(0.01, percent / 200));
                    by_size[size].add(score);
                    if (percent >= 2) {
                        by_cause[cause].add(score);
                        by_jitter[jitter].add(score);
                    }
                    if (percent >= 2) wrong += score.wrong;
                }
            }
        }
    const auto rows = [](const std::map<std::string, TruthScore>& scores) {
        std::vector<Row> list;
        TruthScore all;
        for (const auto& [name, score] : scores) {
            list.push_back({name, score});
            all.add(score);
        }
        list.push_back({"all", all});
        return list;
    };
    print(rows(by_size), "size");
    print(rows(by_cause), "cause, from 2 %");
    print(rows(by_jitter), "jitter, from 2 %");
    std::size_t clean = 0, runs = 0;
    const auto cleans = static_cast<unsigned>(std::stoi(options["--clean"]));
    for (const std::string& jitter : jitters)
        for (const std::size_t ranks : sizes.ranks)
            for (unsigned seed = 1; seed <= (ranks >= 500 ? (cleans + 2) / 3 : cleans); ++seed) {
                if (!is_wanted("--jitter", jitter) || !is_wanted("--ranks", std::to_string(ranks)) ||
                    (!options["--cause"].empty() && options["--cause"] != "none"))
                    continue;
                const TruthScore score = score_of({ranks, sizes.iterations_of(ranks), jitter, {}, 0, 500 + seeds_from + seed, shapes});
                ++runs;
                clean += score.reported;
                wrong += score.wrong;
            }
    std::printf("\nclean runs: %zu, findings in them: %zu\n", runs, clean);
    if (tells_wrong) std::printf("\n%s", wrong.c_str());
    return 0;
}
