// How a function reaches memory, as text: a root, then steps, with '/' between them.
//
//   p0/Account::mu_                 a member of what the first parameter points to
//   p0/List::head_/*/Node::value_   of what its member head_ points to
//   p0/Stock::items_/[]             an element that the standard library's container in items_ keeps
//   g:table                         a global variable
//   v7/Account::balance_            of what an unnamed value points to: the seventh of the function
//   l2/Account::balance_            of a local variable; n3: of an object that this function has made
//   l4/^/Task::day_                 of the object that the std::unique_ptr in a local variable or parameter
//   has ?                               somewhere
//
// Roots are values: two paths that are equal as text, at places of one function between which no root and no
// member on the way changes, lead to the same memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::types {

inline constexpr std::string_view kBehind = "*";
inline constexpr std::string_view kElement = "[]";
inline constexpr std::string_view kOwned = "^";

std::string_view root_of(std::string_view path);
std::vector<std::string_view> steps_of(std::string_view path);  // without the root

bool is_parameter(std::string_view root);
// Its number; the root is a parameter.
unsigned parameter_of(std::string_view root);
bool is_global(std::string_view root);
// A local variable or an object that the function has made: nobody else's as long as its address stays.
bool is_own(std::string_view root);

// Members that lie in one object, from the last pointer on: "Account::balance_", "Sphere::center_/Vec::x". Of
// an element that is no class, the container with "/[]"; of a scalar global "g:counter". Empty: the path does
// not tell which memory it is.
std::string place_of(std::string_view path);

// The name that all ways to the memory share. A part of an object whose address others have is from then on a
// place of its own class: they do not know what it is a part of.
std::string normal_place(std::string place, const std::function<bool(const std::string&)>& is_taken);

// The path to the object that has the last member: "p0" of "p0/Account::mu_".
std::string_view object_of(std::string_view path);

// Where the path leads when its root is parameter k and `argument` is given for it; empty: not known.
std::string instantiate(std::string_view path, const std::vector<std::string>& arguments);

// Whether the path goes through a std::unique_ptr that may come to have another object.
bool is_through_owner(std::string_view path);

// Whether the path goes through a pointer that lies in memory, and through which: "List::head_", …
std::vector<std::string> pointers_on(std::string_view path);

}  // namespace heddle::types
