// particles [STEPS [COUNT]]: particles in a wind (default 200 steps, 2000 particles), C++ with MPI.
//
// A channel of 32 x 16, closed to a ring and cut into slices, one per rank. Particles repel each other. Most
// begin in one dense cloud, which the wind drives around the ring, so its work goes from rank to rank. Every
// step sends the positions at the borders (Sendrecv). Every 4th step migrates particles to the next slice (Probe,
// since their number is unknown), finds borders again and rebuilds the lists of neighbours. Every 25th gathers
// all particles on rank 0, which computes a checksum alone.
//
// The printed checksum depends on STEPS and COUNT only: forces are added in the order of the particles'
// numbers, whichever rank owns them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

#include <libprofile.hpp>

namespace {

constexpr double length = 32.0, height = 16.0;
constexpr double reach = 0.8, skin = 0.8; // no particle moves farther than skin / 2 between two rebuilds
constexpr double longest_move = 0.1;
constexpr int rebuild_period = 4, output_period = 25;
constexpr int columns = 19, lines = 9; // boxes, each larger than reach + skin

struct Particle {
    double x, y;
    double number;
};

struct Channel {
    int rank = 0, ranks = 1, left = 0, right = 0, count = 0; // count: of all particles
    double begin = 0.0, end = length;
    std::vector<Particle> own, ghosts, next;
    std::vector<int> border_left, border_right; // of own, sent to the neighbours each step
    std::vector<std::vector<int>> neighbours;   // of each own particle; from own.size() on: ghosts
    const Particle& particle(int i) const {
        const int mine = static_cast<int>(own.size());
        return i < mine ? own[i] : ghosts[i - mine];
    }
};

/// The shortest way from a to b around the ring.
double way(double a, double b, double around) {
    const double straight = b - a;
    return straight > 0.5 * around    ? straight - around
           : straight < -0.5 * around ? straight + around
                                      : straight;
}

double wrap(double x, double around) {
    return x < 0.0 ? x + around : x >= around ? x - around : x;
}

/// Sends particles to one side and returns those that come from the other; their number is unknown.
[[gnu::noinline]] void migrate_to(int to, int from, const std::vector<Particle>& leaving, Channel& channel) {
    MPI_Request request;
    MPI_Isend(leaving.data(), static_cast<int>(leaving.size() * 3), MPI_DOUBLE, to, 1, MPI_COMM_WORLD,
              &request);
    MPI_Status status;
    MPI_Probe(from, 1, MPI_COMM_WORLD, &status);
    int numbers = 0;
    MPI_Get_count(&status, MPI_DOUBLE, &numbers);
    std::vector<Particle> arriving(numbers / 3);
    MPI_Recv(arriving.data(), numbers, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    channel.own.insert(channel.own.end(), arriving.begin(), arriving.end());
}

[[gnu::noinline]] void migrate(Channel& channel) {
    if (channel.ranks == 1)
        return;
    std::vector<Particle> to_left, to_right, staying;
    const double middle = 0.5 * (channel.begin + channel.end);
    for (const Particle& particle : channel.own) {
        const bool is_here = particle.x >= channel.begin && particle.x < channel.end;
        (is_here ? staying : way(middle, particle.x, length) > 0.0 ? to_right : to_left).push_back(particle);
    }
    channel.own.swap(staying);
    migrate_to(channel.right, channel.left, to_right, channel);
    migrate_to(channel.left, channel.right, to_left, channel);
}

/// Sends positions next to one border to the rank beyond it; those from the other side become ghosts.
[[gnu::noinline]] void send_border(const std::vector<int>& border, int to, int from, Channel& channel) {
    std::vector<Particle> outgoing, incoming(channel.count);
    for (const int i : border)
        outgoing.push_back(channel.own[i]);
    MPI_Status status;
    MPI_Sendrecv(outgoing.data(), static_cast<int>(outgoing.size() * 3), MPI_DOUBLE, to, 2, incoming.data(),
                 static_cast<int>(incoming.size() * 3), MPI_DOUBLE, from, 2, MPI_COMM_WORLD, &status);
    int numbers = 0;
    MPI_Get_count(&status, MPI_DOUBLE, &numbers);
    channel.ghosts.insert(channel.ghosts.end(), incoming.begin(), incoming.begin() + numbers / 3);
}

[[gnu::noinline]] void exchange_borders(Channel& channel) {
    channel.ghosts.clear();
    if (channel.ranks == 1)
        return;
    send_border(channel.border_right, channel.right, channel.left, channel);
    send_border(channel.border_left, channel.left, channel.right, channel);
}

[[gnu::noinline]] void find_borders(Channel& channel) {
    channel.border_left.clear();
    channel.border_right.clear();
    for (int i = 0; i < static_cast<int>(channel.own.size()); ++i) {
        if (channel.own[i].x < channel.begin + reach + skin)
            channel.border_left.push_back(i);
        if (channel.own[i].x >= channel.end - reach - skin)
            channel.border_right.push_back(i);
    }
}

/// All particles within reach + skin of each own one, in the order of their numbers.
[[gnu::noinline]] void build_neighbours(Channel& channel) {
    std::vector<std::vector<int>> boxes(columns * lines);
    const auto column_of = [](double x) {
        return std::min(static_cast<int>(x / length * columns), columns - 1);
    };
    const auto line_of = [](double y) { return std::min(static_cast<int>(y / height * lines), lines - 1); };
    const int mine = static_cast<int>(channel.own.size()),
              all = mine + static_cast<int>(channel.ghosts.size());
    for (int i = 0; i < all; ++i) {
        const Particle& particle = channel.particle(i);
        boxes[line_of(particle.y) * columns + column_of(particle.x)].push_back(i);
    }
    channel.neighbours.assign(mine, {});
    for (int i = 0; i < mine; ++i) {
        const Particle& own = channel.own[i];
        std::vector<int>& list = channel.neighbours[i];
        for (int box = 0; box < 9; ++box) {
            const int column = (column_of(own.x) + box % 3 - 1 + columns) % columns;
            const int line = (line_of(own.y) + box / 3 - 1 + lines) % lines;
            for (const int j : boxes[line * columns + column]) {
                const double dx = way(own.x, channel.particle(j).x, length);
                const double dy = way(own.y, channel.particle(j).y, height);
                if (j != i && dx * dx + dy * dy < (reach + skin) * (reach + skin))
                    list.push_back(j);
            }
        }
        std::sort(list.begin(), list.end(),
                  [&](int a, int b) { return channel.particle(a).number < channel.particle(b).number; });
    }
}

[[gnu::noinline]] void rebuild(Channel& channel) {
    libprofile::phase phase("rebuild");
    migrate(channel);
    find_borders(channel);
    exchange_borders(channel);
    build_neighbours(channel);
}

/// Repulsion by neighbours, and the wind.
[[gnu::noinline]] void move_particles(Channel& channel) {
    channel.next.clear();
    for (std::size_t i = 0; i < channel.own.size(); ++i) {
        const Particle& own = channel.own[i];
        double force_x = 0.0, force_y = 0.0;
        for (const int j : channel.neighbours[i]) {
            const double dx = way(own.x, channel.particle(j).x, length);
            const double dy = way(own.y, channel.particle(j).y, height);
            const double square = dx * dx + dy * dy;
            if (square >= reach * reach)
                continue;
            const double push = (reach - std::sqrt(square)) / (square + 0.01);
            force_x -= push * dx;
            force_y -= push * dy;
        }
        const double speed = std::sqrt(force_x * force_x + force_y * force_y);
        const double factor = 0.0005 * std::min(1.0, 20.0 / (speed + 1e-9));
        const double wind = 0.8 * longest_move;
        channel.next.push_back({wrap(own.x + (wind + factor * force_x), length),
                                wrap(own.y + factor * force_y, height), own.number});
    }
    channel.own.swap(channel.next);
}

/// The number of particles, checked in each step, as in careful codes.
[[gnu::noinline]] void check_count(const Channel& channel) {
    int mine = static_cast<int>(channel.own.size()), sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != channel.count)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

/// Rank 0 computes, all others continue.
[[gnu::noinline]] std::uint64_t write_output(const Channel& channel) {
    libprofile::phase phase("output");
    int mine = static_cast<int>(channel.own.size() * 3);
    std::vector<int> counts(channel.ranks), offsets(channel.ranks, 0);
    MPI_Gather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int rank = 1; rank < channel.ranks; ++rank)
        offsets[rank] = offsets[rank - 1] + counts[rank - 1];
    std::vector<Particle> all(channel.rank == 0 ? channel.count : 0);
    MPI_Gatherv(channel.own.data(), mine, MPI_DOUBLE, all.data(), counts.data(), offsets.data(), MPI_DOUBLE,
                0, MPI_COMM_WORLD);
    std::sort(all.begin(), all.end(),
              [](const Particle& a, const Particle& b) { return a.number < b.number; });
    std::uint64_t sum = 0;
    for (const Particle& particle : all)
        for (const double value : {particle.x, particle.y})
            sum = (sum ^ static_cast<std::uint64_t>(std::llround(value * 1e9))) * 0x9e3779b97f4a7c15u;
    return sum ^ (sum >> 31);
}

[[gnu::noinline]] void advance(Channel& channel, int step) {
    libprofile::iteration iteration("timestep");
    if ((step - 1) % rebuild_period == 0)
        rebuild(channel);
    else
        exchange_borders(channel);
    move_particles(channel);
    check_count(channel);
    if (step % output_period == 0)
        write_output(channel);
}

/// Three of four particles in a cloud at the beginning of the ring, the others anywhere.
Channel make_channel(int count) {
    Channel channel;
    channel.count = count;
    MPI_Comm_rank(MPI_COMM_WORLD, &channel.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &channel.ranks);
    channel.left = (channel.rank + channel.ranks - 1) % channel.ranks;
    channel.right = (channel.rank + 1) % channel.ranks;
    channel.begin = length * channel.rank / channel.ranks;
    channel.end = length * (channel.rank + 1) / channel.ranks;
    std::uint64_t random = 1;
    const auto next_random = [&random] { // 0 .. 1
        random = random * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(random >> 11) * 0x1p-53;
    };
    for (int number = 0; number < count; ++number) {
        const double part = number % 4 == 0 ? 1.0 : 0.2;
        const double x = length * part * next_random(), y = height * next_random();
        if (x >= channel.begin && x < channel.end)
            channel.own.push_back({x, y, static_cast<double>(number)});
    }
    return channel;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int steps = argc > 1 ? std::atoi(argv[1]) : 200;
    const int count = argc > 2 ? std::atoi(argv[2]) : 2000;
    Channel channel = make_channel(count);
    if (steps < 1 || count < 1 || channel.ranks > 9) {
        std::fprintf(stderr, "usage: particles [STEPS [COUNT]], on at most 9 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    for (int step = 1; step <= steps; ++step)
        advance(channel, step);
    const std::uint64_t sum = write_output(channel);
    if (channel.rank == 0)
        std::printf("particles: %d steps, %d particles, checksum %016llX\n", steps, count,
                    static_cast<unsigned long long>(sum));
    MPI_Finalize();
}
