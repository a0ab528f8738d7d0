// Watches a running program for `heddle types discover`: which threads use each field of some objects of each
// class, and with which locks. Reads what the program tells without making a trace of it.
#pragma once

#include "live/channel_reader.h"
#include "types/discovery_log.h"

namespace heddle {

// Until the program ends. At most `most_objects` objects are sampled for each field.
types::DiscoveryLog discover(ChannelReader& reader, std::size_t most_objects);

}  // namespace heddle
