#include "tools/launch/hwloc_machine.hpp"

#include "format/machine.hpp"

#include <algorithm>
#include <cstdint>
#include <dlfcn.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <string>
#include <type_traits>
#include <utility>

namespace libprofile::tools {

namespace {

/// The functions of libhwloc that are used, by their names there.
struct Hwloc {
#define HWLOC_FUNCTION(name) decltype(&::hwloc_##name) name = nullptr
    HWLOC_FUNCTION(get_api_version);
    HWLOC_FUNCTION(topology_init);
    HWLOC_FUNCTION(topology_set_flags);
    HWLOC_FUNCTION(topology_load);
    HWLOC_FUNCTION(topology_destroy);
    HWLOC_FUNCTION(get_obj_by_depth);
    HWLOC_FUNCTION(get_nbobjs_by_depth);
    HWLOC_FUNCTION(distances_get_by_type);
    HWLOC_FUNCTION(distances_release);
    HWLOC_FUNCTION(cpukinds_get_nr);
    HWLOC_FUNCTION(cpukinds_get_by_cpuset);
#undef HWLOC_FUNCTION

    bool open() {
        void* const library = ::dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return false;
        const auto find = [library](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
            return function != nullptr;
        };
        return find(get_api_version, "hwloc_get_api_version") && get_api_version() >> 16 == HWLOC_API_VERSION >> 16 &&
               find(topology_init, "hwloc_topology_init") && find(topology_set_flags, "hwloc_topology_set_flags") &&
               find(topology_load, "hwloc_topology_load") && find(topology_destroy, "hwloc_topology_destroy") &&
               find(get_obj_by_depth, "hwloc_get_obj_by_depth") && find(get_nbobjs_by_depth, "hwloc_get_nbobjs_by_depth") &&
               find(distances_get_by_type, "hwloc_distances_get_by_type") && find(distances_release, "hwloc_distances_release") &&
               (!find(cpukinds_get_nr, "hwloc_cpukinds_get_nr") || find(cpukinds_get_by_cpuset, "hwloc_cpukinds_get_by_cpuset")); // from 2.4 on
    }
};

MachineObject type_of(const hwloc_obj& object) {
    switch (object.type) {
    case HWLOC_OBJ_MACHINE: return MachineObject::Machine;
    case HWLOC_OBJ_PACKAGE: return MachineObject::Package;
    case HWLOC_OBJ_GROUP: return MachineObject::Group;
    case HWLOC_OBJ_DIE: return MachineObject::Die;
    case HWLOC_OBJ_NUMANODE: return MachineObject::NumaNode;
    case HWLOC_OBJ_L5CACHE: return MachineObject::L5Cache;
    case HWLOC_OBJ_L4CACHE: return MachineObject::L4Cache;
    case HWLOC_OBJ_L3CACHE: return MachineObject::L3Cache;
    case HWLOC_OBJ_L2CACHE: return MachineObject::L2Cache;
    case HWLOC_OBJ_L1CACHE: return MachineObject::L1Cache;
    case HWLOC_OBJ_CORE: return MachineObject::Core;
    case HWLOC_OBJ_PU: return MachineObject::Processor;
    default: return MachineObject::Other;
    }
}

class Reader {
  public:
    Reader(const Hwloc& hwloc, hwloc_topology_t topology) : hwloc_(hwloc), topology_(topology) {}

    /// @return the objects with their children behind them
    std::vector<MachineObjectRecord> objects() {
        const bool differ = hwloc_.cpukinds_get_nr != nullptr && hwloc_.cpukinds_get_nr(topology_, 0) > 1;
        add(*hwloc_.get_obj_by_depth(topology_, 0, 0), differ);
        return std::move(list_);
    }

    /// Of NUMA nodes, row by row in the order of the objects; empty if there are none.
    std::vector<std::uint64_t> distances() const {
        unsigned count = 1;
        hwloc_distances_s* matrix = nullptr;
        const int nodes = hwloc_.get_nbobjs_by_depth(topology_, HWLOC_TYPE_DEPTH_NUMANODE);
        if (nodes < 2 || hwloc_.distances_get_by_type(topology_, HWLOC_OBJ_NUMANODE, &count, &matrix, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 || count == 0)
            return {};
        std::vector<std::uint64_t> values;
        const auto position = [&](unsigned number) {
            for (unsigned i = 0; i < matrix->nbobjs; ++i)
                if (matrix->objs[i] != nullptr && matrix->objs[i]->os_index == number) return static_cast<int>(i);
            return -1;
        };
        for (const unsigned from : numa_)
            for (const unsigned to : numa_)
                if (const int row = position(from), column = position(to); row >= 0 && column >= 0)
                    values.push_back(matrix->values[static_cast<std::size_t>(row) * matrix->nbobjs + static_cast<std::size_t>(column)]);
        hwloc_.distances_release(topology_, matrix);
        if (values.size() != numa_.size() * numa_.size()) values.clear();
        return values;
    }

  private:
    void add(const hwloc_obj& object, bool kinds_differ) {
        MachineObjectRecord record;
        record.type = static_cast<std::uint64_t>(type_of(object));
        if (object.os_index < most_machine_number) record.number = std::uint64_t{object.os_index} + 1; // HWLOC_UNKNOWN_INDEX is more
        if (object.type == HWLOC_OBJ_NUMANODE) {
            record.size = object.attr->numanode.local_memory;
            numa_.push_back(object.os_index);
        } else if (object.type >= HWLOC_OBJ_L1CACHE && object.type <= HWLOC_OBJ_L5CACHE)
            record.size = object.attr->cache.size;
        else if (object.type == HWLOC_OBJ_CORE && kinds_differ)
            record.kind = static_cast<std::uint64_t>(std::max(-1, hwloc_.cpukinds_get_by_cpuset(topology_, object.cpuset, 0)) + 1);
        record.children = std::uint64_t{object.memory_arity} + object.arity;
        list_.push_back(record);
        for (const hwloc_obj* child = object.memory_first_child; child != nullptr; child = child->next_sibling) add(*child, kinds_differ);
        for (const hwloc_obj* child = object.first_child; child != nullptr; child = child->next_sibling) add(*child, kinds_differ);
    }

    const Hwloc& hwloc_;
    const hwloc_topology_t topology_;
    std::vector<MachineObjectRecord> list_;
    std::vector<unsigned> numa_; // the kernel's numbers, in the order of the objects
};

} // namespace

std::vector<unsigned char> hwloc_machine() {
    Hwloc hwloc;
    hwloc_topology_t topology = nullptr;
    if (!hwloc.open() || hwloc.topology_init(&topology) != 0) return {};
    // All of the machine, whatever a control group allows: the profile has what each thread was allowed to use.
    hwloc.topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    std::vector<unsigned char> bytes;
    if (hwloc.topology_load(topology) == 0) {
        Reader reader(hwloc, topology);
        std::vector<MachineObjectRecord> objects = reader.objects();
        const std::vector<std::uint64_t> distances = reader.distances();
        std::uint64_t side = 0;
        while (side * side < distances.size()) ++side;
        const unsigned version = hwloc.get_api_version();
        const std::string source = fmt::format("hwloc {}.{}.{}", version >> 16, version >> 8 & 255, version & 255);
        const auto write = [&](Encoder& encoder) {
            MachineRecord head{Text(source.data(), source.size()), objects.size(), side};
            describe(encoder, head);
            for (MachineObjectRecord& object : objects) describe(encoder, object);
            for (const std::uint64_t value : distances) encoder.number(value);
        };
        Encoder measure(nullptr, 0);
        write(measure);
        bytes.resize(measure.size());
        Encoder encoder(bytes.data(), bytes.size());
        write(encoder);
    }
    hwloc.topology_destroy(topology);
    return bytes;
}

} // namespace libprofile::tools
