#include "types/path.h"

#include <algorithm>
#include <charconv>

namespace heddle::types {

std::string_view root_of(std::string_view path) { return path.substr(0, path.find('/')); }

std::vector<std::string_view> steps_of(std::string_view path) {
  std::vector<std::string_view> steps;
  for (std::size_t at = path.find('/'); at != std::string_view::npos;) {
    const std::size_t end = path.find('/', at + 1);
    steps.push_back(path.substr(at + 1, end == std::string_view::npos ? end : end - at - 1));
    at = end;
  }
  return steps;
}

bool is_parameter(std::string_view root) { return root.size() > 1 && root[0] == 'p' && root[1] != ':'; }

unsigned parameter_of(std::string_view root) {
  unsigned number = 0;
  std::from_chars(root.data() + 1, root.data() + root.size(), number);
  return number;
}

bool is_global(std::string_view root) { return root.starts_with("g:"); }

bool is_own(std::string_view root) { return root.size() > 1 && (root[0] == 'l' || root[0] == 'n'); }

std::string place_of(std::string_view path) {
  const std::string_view root = root_of(path);
  std::string place = is_global(root) ? std::string(root) : std::string();
  bool has_member = false;
  for (const std::string_view step : steps_of(path)) {
    if (step == kBehind || step == kOwned) {
      place.clear();
      has_member = false;
    } else if (step == kElement) {
      // Elements that are objects themselves are told apart by their class.
      if (!place.empty()) place.append("/").append(kElement);
      has_member = false;
    } else {
      if (!has_member) place.clear();
      place.append(has_member ? "/" : "").append(step);
      has_member = true;
    }
  }
  return place;
}

std::string normal_place(std::string place, const std::function<bool(const std::string&)>& is_taken) {
  for (std::size_t at = place.rfind('/'); at != std::string::npos && at > 0; at = place.rfind('/', at - 1))
    if (is_taken(place.substr(0, at))) {
      std::string rest = place.substr(at + 1);
      return rest == kElement ? "" : normal_place(std::move(rest), is_taken);
    }
  return place;
}

std::string_view object_of(std::string_view path) {
  const std::size_t at = path.rfind('/');
  return at == std::string_view::npos ? path : path.substr(0, at);
}

std::string instantiate(std::string_view path, const std::vector<std::string>& arguments) {
  const std::string_view root = root_of(path);
  if (is_global(root)) return std::string(path);
  if (!is_parameter(root) || parameter_of(root) >= arguments.size()) return "";
  const std::string& argument = arguments[parameter_of(root)];
  if (argument.empty() || argument == "?") return "";
  return argument + std::string(path.substr(root.size()));
}

bool is_through_owner(std::string_view path) {
  const std::vector<std::string_view> steps = steps_of(path);
  return std::find(steps.begin(), steps.end(), kOwned) != steps.end();
}

std::vector<std::string> pointers_on(std::string_view path) {
  std::vector<std::string> pointers;
  std::string before(root_of(path));
  for (const std::string_view step : steps_of(path)) {
    if (step == kBehind) pointers.push_back(place_of(before));
    before += '/';
    before += step;
  }
  return pointers;
}

}  // namespace heddle::types
