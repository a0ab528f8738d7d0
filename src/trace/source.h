// Where events come from and where they go: the two interfaces every trace format implements.
#pragma once

#include <cstdint>
#include <string>

#include "trace/event.h"
#include "trace/names.h"

namespace heddle {

// A trace being read, in trace order, a batch at a time.
class TraceSource {
 public:
  virtual ~TraceSource() = default;

  // The next events; an empty batch at the end. The batch may be rewritten in place and is valid until the
  // next call. Throws InputError, with file and line or offset, on input that cannot be read.
  virtual EventBatch next() = 0;

  // Names for all ids handed out so far.
  virtual const Names& names() const = 0;

  // Where event `index` of the latest batch stands: "bank.std:12", "run.heddle: event 12".
  virtual std::string where(EventIndex index) const = 0;

  // What a user should know about the input as a whole once it has ended ("the file was cut off …"); empty:
  // nothing.
  virtual std::string note() const { return {}; }

  // For a progress display: how much of the input has been read, 0 to 1; negative when unknown.
  virtual double progress() const { return -1; }
};

// A trace being written. Events arrive in trace order.
class TraceSink {
 public:
  virtual ~TraceSink() = default;

  // `names` must cover every id in the batch, and be the same object in every call.
  virtual void write(const EventBatch& batch, const Names& names) = 0;
  // Completes the file; without it nothing appears under the file's name.
  virtual void finish() = 0;
};

}  // namespace heddle
