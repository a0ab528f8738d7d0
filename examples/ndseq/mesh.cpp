// Refinement of a mesh. Triangles are split until none is too large; a split changes the triangles around it,
// its cavity. Each iteration reads the cavity of its triangle, computes what is to replace it, and commits
// that if the cavity is still there; otherwise it tries again.
#include <heddle/heddle.h>

#include <array>
#include <cstdio>
#include <mutex>
#include <vector>

#include "interleave.h"

namespace {

constexpr int kMost = 256;  // triangles, dead ones included

struct Triangle {
  int size = 0;
  bool is_alive = false;
  std::array<int, 3> neighbours = {-1, -1, -1};
};

std::mutex mutex;
Triangle triangles[kMost];
int triangle_count = 0;

struct Cavity {
  std::vector<int> members;
  std::vector<int> sizes;
};

Cavity read_cavity(int center) {
  const std::lock_guard<std::mutex> locked(mutex);
  Cavity cavity;
  cavity.members.push_back(center);
  for (const int neighbour : triangles[center].neighbours)
    if (neighbour >= 0 && triangles[neighbour].is_alive) cavity.members.push_back(neighbour);
  for (const int member : cavity.members) cavity.sizes.push_back(triangles[member].size);
  return cavity;
}

// Half of each member, twice.
std::vector<int> refine(const Cavity& cavity) {
  std::vector<int> sizes;
  for (const int size : cavity.sizes) {
    sizes.push_back((size + 1) / 2);
    sizes.push_back(size / 2);
  }
  return sizes;
}

bool is_unchanged(const Cavity& cavity) {
  for (const int member : cavity.members)
    if (!triangles[member].is_alive) return false;
  return true;
}

void commit(const Cavity& cavity, const std::vector<int>& sizes) {
  for (const int member : cavity.members) triangles[member].is_alive = false;
  const int first = triangle_count;
  triangle_count = first + static_cast<int>(sizes.size());
  for (int i = 0; i < static_cast<int>(sizes.size()); ++i) {
    Triangle& made = triangles[first + i];
    made.size = sizes[static_cast<std::size_t>(i)];
    made.is_alive = true;
    made.neighbours = {i == 0 ? -1 : first + i - 1, -1, -1};
  }
}

bool is_to_be_split(int center) {
  const std::lock_guard<std::mutex> locked(mutex);
  return triangles[center].is_alive && triangles[center].size > 4;
}

void split(int center, bool meets) {
  for (bool is_first_try = true;; is_first_try = false) {
    bool done = false;
    if (HEDDLE_MAYBE) {
      if (!is_to_be_split(center)) {
        done = true;
      } else {
        const Cavity cavity = read_cavity(center);
        const std::vector<int> refined = refine(cavity);
        if (meets && is_first_try) {
          interleave::end_turn();
          interleave::wait_for(2);
        }
        const std::lock_guard<std::mutex> locked(mutex);
        if (is_unchanged(cavity)) {
          commit(cavity, refined);
          done = true;
        }
      }
    }
    if (done) return;
  }
}

}  // namespace

int main() {
  // A strip, each with the one before it as a neighbour.
  constexpr int kStart = 8;
  for (int i = 0; i < kStart; ++i) {
    triangles[i].size = 6 + i % 3;
    triangles[i].is_alive = true;
    triangles[i].neighbours = {i - 1, -1, -1};
  }
  triangle_count = kStart;
  heddle::parallel_for(0, kStart, [](int center) {
    // The second one's cavity has the first in it, which is split meanwhile.
    if (center == 0) interleave::wait_for(1);
    if (center > 1) interleave::wait_for(2);
    split(center, center == 1);
    if (center == 0) interleave::end_turn();
  });
  heddle::focus(triangles);
  heddle::focus(triangle_count);
  int alive = 0;
  for (const Triangle& triangle : triangles) alive += triangle.is_alive ? 1 : 0;
  std::printf("%d triangles\n", alive);
}
