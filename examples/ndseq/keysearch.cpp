// A key is searched by trying all of them, a range in each iteration; whoever finds it keeps it.
#include <heddle/heddle.h>

#include <cstdint>
#include <cstdio>

namespace {

constexpr uint32_t kRanges = 16;
constexpr uint32_t kKeys = 256;  // in each range

uint32_t encrypt(uint32_t text, uint32_t key) {
  for (int round = 0; round < 4; ++round) {
    text ^= key;
    text = (text << 7 | text >> 25) * 0x9E3779B1;
  }
  return text;
}

uint32_t found = 0;

}  // namespace

int main() {
  const uint32_t text = 0x12345678;
  const uint32_t secret = encrypt(text, 2718);
  heddle::parallel_for(0U, kRanges, [&](uint32_t range) {
    for (uint32_t key = range * kKeys; key < (range + 1) * kKeys; ++key)
      if (encrypt(text, key) == secret) found = key;
  });
  heddle::focus(found);
  std::printf("the key is %u\n", found);
  return found == 2718 ? 0 : 1;
}
