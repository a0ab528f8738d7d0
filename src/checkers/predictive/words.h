// Transactions and their steps in words, for the reports of reduction and blocks.
#pragma once

#include <string>
#include <vector>

#include "checkers/predictive/transactions.h"
#include "core/finding.h"
#include "trace/names.h"

namespace heddle::predictive {

// "Account::withdraw", "the block at bank.cpp:30"; of a unary transaction "T1's write of balance".
std::string transaction_text(const Shape& shape, const Group& group, const Names& names);

// "write", "acquisition": what a step is.
std::string_view noun(StepKind kind);

// The name that stands in Finding::blocks: the same in every run.
std::string stable_name(const Shape& shape, const Group& group, const Names& names);

// The blocks inside of the transaction that both steps are in, innermost first.
std::vector<std::string> inner_names(const Shape& shape, const Group& group, uint32_t from, uint32_t to,
                                     const Names& names);

// "from bank.cpp:31 to bank.cpp:35": where to hold a lock. Two operations of one place: "for the whole of …".
std::string span_text(const std::string& from, const std::string& to, const std::string& transaction);

// "bank.cpp:35"; without a site "event 12".
std::string place_text(const Origin& origin, const Names& names);

// A step of the group's earliest or latest transaction as a report shows it.
Step report_step(const Shape& shape, const Group& group, bool latest, std::size_t step,
                 const LocksetTable& locksets, const Names& names);

}  // namespace heddle::predictive
