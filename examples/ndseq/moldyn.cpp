// Molecules that attract and repel each other. Each step has four parallel loops: all molecules move; each
// group of them adds what it does to others to forces of its own; those are added up; energies are computed.
#include <heddle/heddle.h>

#include <array>
#include <cmath>
#include <cstdio>

namespace {

constexpr std::size_t kMolecules = 8;  // at the corners of a cube, at first
constexpr std::size_t kGroups = 2;
constexpr std::size_t kSteps = 6;
constexpr double kTime = 0.002;
using Vector = std::array<double, 3>;
std::array<Vector, kMolecules> positions;
std::array<Vector, kMolecules> velocities;
std::array<Vector, kMolecules> forces;
std::array<std::array<Vector, kMolecules>, kGroups> forces_of_group;
std::array<double, kGroups> potential_of_group;
std::array<double, kMolecules> kinetic;

void move(std::size_t i) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    velocities[i][axis] += kTime / 2 * forces[i][axis];
    positions[i][axis] += kTime * velocities[i][axis];
  }
}

// Of the pairs whose first molecule belongs to the group (Lennard-Jones).
void add_forces(std::size_t group) {
  forces_of_group[group] = {};
  potential_of_group[group] = 0;
  for (std::size_t i = group; i < kMolecules; i += kGroups)
    for (std::size_t j = i + 1; j < kMolecules; ++j) {
      Vector distance{};
      double squared = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        distance[axis] = positions[i][axis] - positions[j][axis];
        squared += distance[axis] * distance[axis];
      }
      const double sixth = 1 / (squared * squared * squared);
      potential_of_group[group] += 4 * sixth * (sixth - 1);
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double force = 24 * sixth * (2 * sixth - 1) / squared * distance[axis];
        forces_of_group[group][i][axis] += force;
        forces_of_group[group][j][axis] -= force;
      }
    }
}

void add_up(std::size_t i) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    forces[i][axis] = 0;
    for (const auto& of_group : forces_of_group) forces[i][axis] += of_group[i][axis];
    velocities[i][axis] += kTime / 2 * forces[i][axis];
  }
}

double energy() {
  double sum = 0;
  for (const double one : kinetic) sum += one;
  for (const double one : potential_of_group) sum += one;
  return sum;
}

}  // namespace

int main() {
  for (std::size_t i = 0; i < kMolecules; ++i)
    positions[i] = {1.2 * static_cast<double>(i & 1), 1.1 * static_cast<double>(i >> 1 & 1),
                    1.3 * static_cast<double>(i >> 2 & 1)};
  for (std::size_t group = 0; group < kGroups; ++group) add_forces(group);
  const double before = energy();  // all of them at rest
  for (std::size_t i = 0; i < kMolecules; ++i) {
    add_up(i);
    velocities[i] = {};
  }
  for (std::size_t step = 0; step < kSteps; ++step) {
    heddle::parallel_for(std::size_t{0}, kMolecules, [](std::size_t i) { move(i); });
    heddle::parallel_for(std::size_t{0}, kGroups, [](std::size_t group) { add_forces(group); });
    heddle::parallel_for(std::size_t{0}, kMolecules, [](std::size_t i) { add_up(i); });
    heddle::parallel_for(std::size_t{0}, kMolecules, [](std::size_t i) {
      kinetic[i] = 0;
      for (const double speed : velocities[i]) kinetic[i] += speed * speed / 2;
    });
  }
  heddle::focus(positions);
  heddle::focus(velocities);
  double moving = 0;
  for (const double one : kinetic) moving += one;
  std::printf("kinetic energy %.6f, total %.6f, at first %.6f\n", moving, energy(), before);
  return moving > 1e-3 && std::abs(energy() - before) < 1e-5 ? 0 : 1;
}
