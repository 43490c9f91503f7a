// The numbers of metrics, modules, functions, sites, phases and call paths in one profile that is made of many files: what is the same has
// one number, and is put into the profile when it comes first.
// Contract: not thread-safe; allocates; throws std::bad_alloc only.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "tools/reader/decode.hpp"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// Numbers of the profile by those of a file's tables.
struct TableNumbers {
    std::vector<std::uint32_t> modules;
    std::map<std::uint64_t, std::uint32_t> functions;
};

/// Paths and metrics of the profile by those of the file.
struct CellNumbers {
    const std::vector<std::uint32_t>& nodes;
    const std::vector<std::uint32_t>& metrics;
};

/// Gives the cells of a phase the numbers of the profile. Returns false if one of them has none.
bool map_cells(PhaseData& data, CellNumbers numbers);

class Numbering {
  public:
    /// Puts path 0 and the metrics of the catalogue into an empty profile, which must outlive this.
    explicit Numbering(Profile& profile);

    std::uint32_t metric(const MetricInfo& info);
    std::uint32_t phase(const std::string& name, PhaseKind kind);
    std::optional<std::uint32_t> known_phase(const std::string& name, PhaseKind kind) const;
    std::optional<std::uint32_t> known_module(const Module& module) const;
    std::optional<std::uint32_t> known_site(const Module& module, std::uint64_t offset) const;
    /// Nodes from the root to a path.
    std::uint32_t depth(std::uint32_t path) const { return depths_[path]; }

    /// Empty if modules or functions are missing.
    std::optional<TableNumbers> numbers_of(const RawTables& tables);
    /// Paths of the profile by node ids of a tree. Empty if modules, functions or the tree are missing, or do not fit.
    std::vector<std::uint32_t> nodes_of(const RawTables& tables, const std::optional<TableNumbers>& numbers, std::uint32_t thread);

  private:
    struct PathKey {
        std::uint32_t parent;
        std::uint32_t target;
        NodeKind kind;
        std::uint64_t address;
        bool operator==(const PathKey&) const = default;
    };

    struct KeyHash {
        std::size_t operator()(const PathKey& k) const {
            const std::uint64_t key = (std::uint64_t{k.parent} << 32) | k.target;
            return mix(mix(key) + k.address + static_cast<std::uint64_t>(k.kind));
        }
        std::size_t operator()(const std::pair<std::uint32_t, std::uint64_t>& site) const { return mix(site.second + mix(site.first)); }
    };

    std::uint32_t module(const Module& raw);
    std::uint32_t function(const Function& raw);
    std::uint32_t site(std::uint32_t module, std::uint64_t offset);
    std::uint32_t path(const PathKey& key);
    bool map_tree(const RawTree& tree, const TableNumbers& numbers, std::vector<std::uint32_t>& nodes);

    Profile& profile_;
    std::map<std::string, std::uint32_t> metrics_;
    std::map<std::string, std::uint32_t> modules_;
    std::map<std::string, std::uint32_t> functions_;
    std::unordered_map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t, KeyHash> sites_;
    std::unordered_map<PathKey, std::uint32_t, KeyHash> paths_;
    std::map<std::pair<std::string, PhaseKind>, std::uint32_t> phases_;
    std::vector<std::uint32_t> depths_ = {0}; // by path
};

} // namespace libprofile::tools
