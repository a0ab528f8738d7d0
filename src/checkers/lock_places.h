// Where a thread took the locks it holds: lists of places, each list kept once, so that equal lists have
// equal ids and comparing two is comparing two numbers.
//
// A list grows at its end, as locks are taken; the lists form a tree, and extending one costs a hash lookup.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "trace/event.h"

namespace heddle {

using PlacesId = uint32_t;
inline constexpr PlacesId kNoPlaces = 0;  // the empty list

class LockPlaces {
 public:
  // `list`, and then the lock taken at the site.
  PlacesId extend(PlacesId list, uint32_t lock, SiteId site, bool shared) {
    const Place place{uint64_t{list} << 1 | (shared ? 1U : 0U), uint64_t{lock} << 32 | site};
    return extended_.try_emplace(place, static_cast<PlacesId>(extended_.size() + 1)).first->second;
  }

 private:
  struct Place {
    uint64_t list_and_mode;
    uint64_t lock_and_site;

    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& place) const {
      return mix(place.list_and_mode ^ mix(place.lock_and_site));
    }
  };

  tsl::robin_map<Place, PlacesId, PlaceHash> extended_;  // list and the place after it → longer list
};

}  // namespace heddle
