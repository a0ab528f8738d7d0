#include "report/json_elements.h"

#include <algorithm>
#include <utility>

namespace heddle {

namespace {

using ParsedJson = nlohmann::json;

// Builds the document from what the parser meets.
class Builder : public nlohmann::json_sax<ParsedJson> {
 public:
  Builder(std::string_view text, const OnJsonElement& on_element) : text_(text), on_element_(on_element) {}

  ParsedJson take() { return std::move(root_); }

  // Leaves out what the error is in the midst of: an element of an array below the root, or a value that is
  // right below it. A number may have lost its last digits.
  void drop_incomplete() {
    if (open_.empty() || !open_[0]->is_object()) return;
    ParsedJson& root = *open_[0];
    const auto last = root.find(array_);
    if (last == root.end()) return;
    if (open_.size() == 1 && last->is_number()) root.erase(last);
    if (open_.size() == 1) return;
    if (!last->is_array()) {
      root.erase(last);
    } else if (open_.size() > 2 || (!last->empty() && last->back().is_number())) {
      last->erase(last->size() - 1);
    }
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }  // not in text

  bool key(string_t& name) override {
    key_ = std::move(name);
    if (open_.size() == 1) {
      array_ = key_;
      number_ = 0;
    }
    return true;
  }
  bool start_object(std::size_t) override { return begin(ParsedJson::object()); }
  bool start_array(std::size_t) override { return begin(ParsedJson::array()); }
  bool end_array() override { return end(); }
  bool end_object() override { return end(); }

  bool parse_error(std::size_t position, const std::string&, const ParsedJson::exception&) override {
    // The parser counts what it has read, the end of the text included.
    const std::size_t at = std::min(position == 0 ? 0 : position - 1, text_.size());
    const std::string_view before = text_.substr(0, at);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    throw JsonSyntaxError{1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
                          at - line_start + 1, position > text_.size()};
  }

 private:
  ParsedJson& place(ParsedJson value) {
    if (open_.empty()) return root_ = std::move(value);
    ParsedJson& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }
  bool add(ParsedJson value) {
    place(std::move(value));
    return true;
  }
  bool begin(ParsedJson empty) {
    open_.push_back(&place(std::move(empty)));
    return true;
  }
  bool end() {
    open_.pop_back();
    if (open_.size() != 2 || !open_[0]->is_object() || !open_[1]->is_array()) return true;
    if (on_element_(root_, array_, number_++, open_[1]->back()))
      open_[1]->get_ref<ParsedJson::array_t&>().pop_back();
    return true;
  }

  std::string_view text_;
  const OnJsonElement& on_element_;
  ParsedJson root_;
  std::vector<ParsedJson*>
      open_;                // objects and arrays around, outermost first; each is the last of the one before
  std::string key_;         // the next value's
  std::string array_;       // the key below the root
  std::size_t number_ = 0;  // of the next element
};

}  // namespace

void parse_json(std::string_view text, const OnJsonElement& on_element, ParsedJson& root) {
  Builder builder(text, on_element);
  try {
    ParsedJson::sax_parse(text, &builder);
  } catch (const JsonSyntaxError&) {
    builder.drop_incomplete();
    root = builder.take();
    throw;
  }
  root = builder.take();
}

}  // namespace heddle
