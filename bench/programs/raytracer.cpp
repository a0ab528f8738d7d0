// Draws a scene of spheres by tracing rays, with shadows and reflections. Rows are dealt out in turn, because
// they differ in cost; each thread has a checksum of its own, and they are added when the team has ended.
//
// Broken, after S0's Table 1: the threads add to one checksum, and each of them holds a lock of its own. An
// addition can get lost; the check of the result finds that then.
//
// Size: pixels along a side of the image; the work grows with its square. Small: 160.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "kernel.h"

namespace {

constexpr kernel::Sizes kSizes{.normal = 1150, .small = 160};

constexpr int kMostReflections = 4;
// The check traces every so many-th row again.
constexpr std::size_t kCheckedRows = 16;

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;

  friend Vector operator+(const Vector& left, const Vector& right) {
    return {left.x + right.x, left.y + right.y, left.z + right.z};
  }
  friend Vector operator-(const Vector& left, const Vector& right) {
    return {left.x - right.x, left.y - right.y, left.z - right.z};
  }
  friend Vector operator*(double factor, const Vector& vector) {
    return {factor * vector.x, factor * vector.y, factor * vector.z};
  }
  friend double dot(const Vector& left, const Vector& right) {
    return left.x * right.x + left.y * right.y + left.z * right.z;
  }
  Vector normalized() const { return (1 / std::sqrt(dot(*this, *this))) * *this; }
};

// Red, green and blue as coordinates.
using Colour = Vector;

struct Ray {
  Vector origin;
  Vector direction;  // of length 1

  Vector at(double distance) const { return origin + distance * direction; }
};

struct Sphere {
  Vector centre;
  double radius = 1;
  Colour colour;
  double reflection = 0;  // the part of the light that is reflected as by a mirror

  // How far along the ray the sphere is met first. A little distance does not count: a ray starts where
  // another ended.
  std::optional<double> distance_along(const Ray& ray) const {
    const Vector to_centre = centre - ray.origin;
    const double middle = dot(to_centre, ray.direction);
    const double discriminant = middle * middle - dot(to_centre, to_centre) + radius * radius;
    if (discriminant < 0) return std::nullopt;
    const double half = std::sqrt(discriminant);
    if (middle - half > 1e-6) return middle - half;
    if (middle + half > 1e-6) return middle + half;
    return std::nullopt;
  }
};

class Scene {
 public:
  // A cube of 4 x 4 x 4 spheres above a ground that is a very large one.
  Scene() {
    for (int x = 0; x < 4; ++x)
      for (int y = 0; y < 4; ++y)
        for (int z = 0; z < 4; ++z)
          spheres_.push_back({.centre = {2.5 * x - 3.75, 2.5 * y - 3.75, 2.5 * z},
                              .radius = 1,
                              .colour = {0.4 + 0.2 * x, 0.4 + 0.2 * y, 0.4 + 0.2 * z},
                              .reflection = 0.3});
    spheres_.push_back(
        {.centre = {0, -1006, 0}, .radius = 1000, .colour = {0.6, 0.6, 0.5}, .reflection = 0.1});
  }

  Colour trace(const Ray& ray, int reflections) const {
    const std::optional<Hit> hit = nearest(ray);
    if (!hit) return kSky;
    const Vector point = ray.at(hit->distance);
    const Vector normal = (point - hit->sphere->centre).normalized();
    Colour colour = brightness(point, normal) * hit->sphere->colour;
    if (reflections < kMostReflections && hit->sphere->reflection > 0) {
      const Vector direction = ray.direction - 2 * dot(ray.direction, normal) * normal;
      const double part = hit->sphere->reflection;
      colour = (1 - part) * colour + part * trace({point, direction.normalized()}, reflections + 1);
    }
    return colour;
  }

 private:
  static constexpr Colour kSky{0.5, 0.7, 1.0};
  static constexpr Vector kLight{-20, 30, -25};
  static constexpr double kAmbient = 0.2;  // what light comes from everywhere

  struct Hit {
    const Sphere* sphere;
    double distance;
  };

  std::optional<Hit> nearest(const Ray& ray) const {
    std::optional<Hit> best;
    for (const Sphere& sphere : spheres_) {
      const std::optional<double> distance = sphere.distance_along(ray);
      if (distance && (!best || *distance < best->distance)) best = Hit{&sphere, *distance};
    }
    return best;
  }

  double brightness(const Vector& point, const Vector& normal) const {
    const Vector to_light = (kLight - point).normalized();
    const double slope = dot(to_light, normal);
    if (slope <= 0 || nearest({point, to_light})) return kAmbient;
    return kAmbient + (1 - kAmbient) * slope;
  }

  std::vector<Sphere> spheres_;
};

class Image {
 public:
  explicit Image(std::size_t side) : side_(side), pixels_(side * side) {}

  std::size_t side() const { return side_; }
  uint32_t& at(std::size_t row, std::size_t column) { return pixels_[row * side_ + column]; }
  const std::vector<uint32_t>& pixels() const { return pixels_; }

 private:
  std::size_t side_;
  std::vector<uint32_t> pixels_;  // 0xRRGGBB
};

uint32_t pack(const Colour& colour) {
  const auto byte = [](double part) {
    return static_cast<uint32_t>(std::lround(std::clamp(part, 0.0, 1.0) * 255));
  };
  return byte(colour.x) << 16 | byte(colour.y) << 8 | byte(colour.z);
}

// The rays of the pixels of a row come out of a camera in front of the scene.
uint32_t trace_pixel(const Scene& scene, std::size_t side, std::size_t row, std::size_t column) {
  const double scale = 1 / static_cast<double>(side);
  const double right = scale * (static_cast<double>(column) + 0.5) - 0.5;
  const double up = 0.5 - scale * (static_cast<double>(row) + 0.5);
  const Vector camera{4, 3, -14};
  const Vector direction{right - 0.25, up - 0.15, 1.0};
  return pack(scene.trace({camera, direction.normalized()}, 0));
}

// What the image adds up to.
class Checksum {
 public:
  explicit Checksum(std::size_t threads) : parts_(threads), mutexes_(threads) {}

  // Only `thread` calls it so.
  void add(std::size_t thread, uint64_t amount) { parts_[thread] += amount; }
  // The wrong lock: it keeps out nobody.
  void add_to_one(std::size_t thread, uint64_t amount) {
    const std::lock_guard lock(mutexes_[thread]);
    parts_[0] += amount;
  }

  // Once the team has ended.
  uint64_t sum() const { return std::accumulate(parts_.begin(), parts_.end(), uint64_t{0}); }

 private:
  std::vector<uint64_t> parts_;  // by thread
  std::vector<std::mutex> mutexes_;
};

uint64_t trace_row(const Scene& scene, Image& image, std::size_t row) {
  uint64_t sum = 0;
  for (std::size_t column = 0; column < image.side(); ++column) {
    const uint32_t pixel = trace_pixel(scene, image.side(), row, column);
    image.at(row, column) = pixel;
    sum += pixel;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("raytracer", argc, argv, kSizes, kernel::Bug::kKnown);
  const std::size_t side = program.size();
  const Scene scene;
  Image image(side);
  Checksum checksum(program.threads());
  kernel::run_team(program.threads(), [&](std::size_t thread) {
    for (std::size_t row = thread; row < side; row += program.threads()) {
      const uint64_t sum = trace_row(scene, image, row);
      if (program.is_broken())
        checksum.add_to_one(thread, sum);
      else
        checksum.add(thread, sum);
    }
  });

  uint64_t expected = 0;
  for (const uint32_t pixel : image.pixels()) expected += pixel;
  program.check_equal("the checksum", checksum.sum(), expected);
  for (std::size_t row = 0; row < side; row += kCheckedRows)
    for (std::size_t column = 0; column < side; ++column)
      program.check_equal("a pixel", image.at(row, column), trace_pixel(scene, side, row, column));
  std::printf("raytracer: %zu x %zu pixels, checksum %llu\n", side, side,
              static_cast<unsigned long long>(expected));
  return 0;
}
