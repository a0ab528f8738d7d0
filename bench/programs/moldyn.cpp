// Molecular dynamics: argon-like particles in a periodic box that attract and repel each other
// (Lennard-Jones), moved by velocity Verlet. Each pair is looked at once, so a thread adds forces to
// particles that others look at too: it does so in an array of its own, and the arrays are added up after a
// barrier.
//
// Size: cells along a side of the box, 4 particles a cell; the work grows with its sixth power. At least 3,
// for a particle must not feel another one twice. Small: 4.
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdio>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 8, .small = 4};

// In units of the particles' mass, diameter and binding energy.
constexpr double kDensity = 0.8442;
constexpr double kTimeStep = 0.004;
constexpr double kCutoff = 2.5;  // the distance beyond which particles do not feel each other
constexpr double kStartSpeed = 1.2;
constexpr std::size_t kFewestCells = 3;  // the cutoff fits into half the box
constexpr std::size_t kSteps = 80;

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;

  Vector& operator+=(const Vector& other) {
    x += other.x;
    y += other.y;
    z += other.z;
    return *this;
  }
  Vector& operator-=(const Vector& other) { return *this += -1.0 * other; }
  friend Vector operator-(const Vector& left, const Vector& right) {
    return {left.x - right.x, left.y - right.y, left.z - right.z};
  }
  friend Vector operator*(double factor, const Vector& vector) {
    return {factor * vector.x, factor * vector.y, factor * vector.z};
  }
  double squared() const { return x * x + y * y + z * z; }
};

// From the distance to the power of -6.
double potential_of_pair(double inverse_sixth) { return 4 * inverse_sixth * (inverse_sixth - 1); }

struct Particle {
  Vector position;
  Vector velocity;
  Vector force;
};

struct Energy {
  double kinetic = 0;
  double potential = 0;

  double total() const { return kinetic + potential; }
};

class Simulation {
 public:
  Simulation(std::size_t cells, std::size_t threads)
      : box_(std::cbrt(4.0 / kDensity) * static_cast<double>(cells)),
        threads_(threads),
        barrier_(static_cast<std::ptrdiff_t>(threads)) {
    place_on_lattice(cells);
    give_velocities();
    forces_.assign(threads, std::vector<Vector>(particles_.size()));
    energies_.assign(threads, std::vector<Energy>(kSteps + 1));
  }

  // What each thread of the team calls, once.
  void run(std::size_t thread) {
    const kernel::Range mine = kernel::share_of(particles_.size(), threads_, thread);
    for (std::size_t step = 0; step <= kSteps; ++step) {
      Energy& energy = energies_[thread][step];
      energy.potential = compute_forces(thread);
      barrier_.arrive_and_wait();
      energy.kinetic = apply_forces(mine, step);
      move(mine);
      // Positions are read, and the arrays of forces cleared, only when all threads are done with them.
      barrier_.arrive_and_wait();
    }
  }

  // After the team has ended.
  std::size_t size() const { return particles_.size(); }

  Energy energy(std::size_t step) const {
    Energy sum;
    for (const std::vector<Energy>& of_thread : energies_) {
      sum.kinetic += of_thread[step].kinetic;
      sum.potential += of_thread[step].potential;
    }
    return sum;
  }

  Vector momentum() const {
    Vector sum;
    for (const Particle& particle : particles_) sum += particle.velocity;
    return sum;
  }

 private:
  // A face-centred cubic lattice, in which argon freezes.
  void place_on_lattice(std::size_t cells) {
    const double edge = box_ / static_cast<double>(cells);
    const Vector corners[] = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};
    for (std::size_t x = 0; x < cells; ++x)
      for (std::size_t y = 0; y < cells; ++y)
        for (std::size_t z = 0; z < cells; ++z)
          for (const Vector& corner : corners) {
            Vector position{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
            position += corner;
            particles_.push_back({.position = edge * position, .velocity = {}, .force = {}});
          }
  }

  // Random ones, such that the whole does not drift.
  void give_velocities() {
    kernel::Random random(1);
    const auto speed = [&] { return kStartSpeed * (2 * random.uniform() - 1); };
    Vector sum;
    for (Particle& particle : particles_) {
      particle.velocity = {speed(), speed(), speed()};
      sum += particle.velocity;
    }
    const Vector mean = (1 / static_cast<double>(particles_.size())) * sum;
    for (Particle& particle : particles_) particle.velocity -= mean;
  }

  // The shortest way from one particle to another through the periodic box, along one axis.
  double wrap(double distance) const {
    if (distance > box_ / 2) return distance - box_;
    if (distance < -box_ / 2) return distance + box_;
    return distance;
  }

  // Adds the forces of this thread's pairs to its own array and returns their potential energy. Later
  // particles have fewer partners; dealt out in turn, the work is even.
  double compute_forces(std::size_t thread) {
    std::vector<Vector>& forces = forces_[thread];
    std::fill(forces.begin(), forces.end(), Vector{});
    const double potential_at_cutoff = potential_of_pair(std::pow(kCutoff, -6));
    double potential = 0;
    for (std::size_t i = thread; i < particles_.size(); i += threads_) {
      for (std::size_t j = i + 1; j < particles_.size(); ++j) {
        Vector distance = particles_[i].position - particles_[j].position;
        distance = {wrap(distance.x), wrap(distance.y), wrap(distance.z)};
        const double squared = distance.squared();
        if (squared >= kCutoff * kCutoff) continue;
        const double inverse_sixth = 1 / (squared * squared * squared);
        // Shifted, so that no energy appears or vanishes at the cutoff.
        potential += potential_of_pair(inverse_sixth) - potential_at_cutoff;
        const Vector force = (24 * inverse_sixth * (2 * inverse_sixth - 1) / squared) * distance;
        forces[i] += force;
        forces[j] -= force;
      }
    }
    return potential;
  }

  // Ends one time step (the first one has not begun) and begins the next. Returns the kinetic energy between
  // the two.
  double apply_forces(kernel::Range mine, std::size_t step) {
    double kinetic = 0;
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      Particle& particle = particles_[i];
      particle.force = {};
      for (const std::vector<Vector>& of_thread : forces_) particle.force += of_thread[i];
      const Vector half_kick = (kTimeStep / 2) * particle.force;
      if (step > 0) particle.velocity += half_kick;
      kinetic += particle.velocity.squared() / 2;
      particle.velocity += half_kick;
    }
    return kinetic;
  }

  void move(kernel::Range mine) {
    const auto into_box = [&](double coordinate) {
      return coordinate - box_ * std::floor(coordinate / box_);
    };
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      Vector& position = particles_[i].position;
      position += kTimeStep * particles_[i].velocity;
      position = {into_box(position.x), into_box(position.y), into_box(position.z)};
    }
  }

  double box_;  // its length
  std::size_t threads_;
  std::barrier<> barrier_;
  std::vector<Particle> particles_;            // written by the thread that moves them
  std::vector<std::vector<Vector>> forces_;    // of each thread on each particle
  std::vector<std::vector<Energy>> energies_;  // of each thread at each step
};

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("moldyn", argc, argv, kSizes);
  Simulation simulation(std::max(program.size(), kFewestCells), program.threads());
  kernel::run_team(program.threads(), [&](std::size_t thread) { simulation.run(thread); });

  const double particles = static_cast<double>(simulation.size());
  const double before = simulation.energy(0).total();
  double drift = 0;
  for (std::size_t step = 1; step <= kSteps; ++step)
    drift = std::max(drift, std::abs(simulation.energy(step).total() - before) / particles);
  program.check_close("the drift of the energy per particle", drift, 0.0, 2e-3);
  program.check_close("the momentum", std::sqrt(simulation.momentum().squared()), 0.0, 1e-9 * particles);
  std::printf("moldyn: %zu particles, %zu steps, kinetic energy %.6f, total %.6f, drift %.2g per particle\n",
              simulation.size(), kSteps, simulation.energy(kSteps).kinetic, before, drift);
  return 0;
}
