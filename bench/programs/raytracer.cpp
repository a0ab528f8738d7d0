// Draws a scene of spheres by tracing rays, with shadows and reflections. Threads take the next row of the
// image from an atomic counter, because rows differ in cost; each thread merges its checksum under a lock
// when no row is left.
//
// Size: pixels along a side of the image; the work grows with its square. Small: 160.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <mutex>
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

// Hands out rows and collects what became of them.
class Progress {
 public:
  explicit Progress(std::size_t rows) : rows_(rows) {}

  std::optional<std::size_t> take_row() {
    const std::size_t row = next_row_.fetch_add(1, std::memory_order_relaxed);
    if (row >= rows_) return std::nullopt;
    return row;
  }

  void merge(std::size_t rows, uint64_t checksum) {
    const std::lock_guard lock(mutex_);
    rows_done_ += rows;
    checksum_ += checksum;
  }

  std::size_t rows_done() const {
    const std::lock_guard lock(mutex_);
    return rows_done_;
  }

  uint64_t checksum() const {
    const std::lock_guard lock(mutex_);
    return checksum_;
  }

 private:
  const std::size_t rows_;
  std::atomic<std::size_t> next_row_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::size_t rows_done_ = 0;
  uint64_t checksum_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const kernel::Program program("raytracer", argc, argv, kSizes);
  const std::size_t side = program.size();
  const Scene scene;
  Image image(side);
  Progress progress(side);
  kernel::run_team(program.threads(), [&](std::size_t) {
    std::size_t rows = 0;
    uint64_t checksum = 0;
    while (const std::optional<std::size_t> row = progress.take_row()) {
      for (std::size_t column = 0; column < side; ++column) {
        const uint32_t pixel = trace_pixel(scene, side, *row, column);
        image.at(*row, column) = pixel;
        checksum += pixel;
      }
      ++rows;
    }
    progress.merge(rows, checksum);
  });

  program.check_equal("the number of rows", progress.rows_done(), side);
  uint64_t checksum = 0;
  for (const uint32_t pixel : image.pixels()) checksum += pixel;
  program.check_equal("the checksum", progress.checksum(), checksum);
  for (std::size_t row = 0; row < side; row += kCheckedRows)
    for (std::size_t column = 0; column < side; ++column)
      program.check_equal("a pixel", image.at(row, column), trace_pixel(scene, side, row, column));
  std::printf("raytracer: %zu x %zu pixels, checksum %llu\n", side, side,
              static_cast<unsigned long long>(checksum));
  return 0;
}
