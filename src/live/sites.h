// Places in the program's code as sites of a trace: call stacks in words, without the frames that are the
// standard library's own.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/hash.h"
#include "live/channel_reader.h"
#include "symbols/symbolizer.h"
#include "trace/names.h"

namespace heddle {

class Sites {
 public:
  Sites(const ChannelReader& reader, Symbolizer& symbolizer, Names& names)
      : reader_(reader), symbolizer_(symbolizer), names_(names) {}

  // Where the record says it happened; kNoId: it does not say.
  SiteId site_of(const runtime::Record& record);

  // "bank.cpp:31", for names of what has none; empty: not known.
  std::string short_place(SiteId site) const;

 private:
  struct Key {
    uint64_t pc = 0;
    uint64_t caller = 0;
    uint32_t context = 0;

    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const { return mix(mix(mix(key.pc) ^ key.caller) ^ key.context); }
  };

  SiteId make_site(const Key& key);

  const ChannelReader& reader_;
  Symbolizer& symbolizer_;
  Names& names_;
  tsl::robin_map<Key, SiteId, KeyHash> sites_;
  struct Known {
    Key key;
    SiteId site = kNoId;
  };
  std::array<Known, 4096> latest_;  // of sites_, by pc and call stack
};

}  // namespace heddle
