// Encrypts a text with XTEA and decrypts it again, each block in an iteration of its own.
#include <heddle/heddle.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t kBlocks = 8;
constexpr uint32_t kDelta = 0x9E3779B9;
constexpr uint32_t kRounds = 32;
using Block = std::array<uint32_t, 2>;
using Key = std::array<uint32_t, 4>;

uint32_t mix(uint32_t half, uint32_t key) { return ((half << 4 ^ half >> 5) + half) ^ key; }

Block encrypt(const Key& key, Block block) {
  uint32_t sum = 0;
  for (uint32_t round = 0; round < kRounds; ++round) {
    block[0] += mix(block[1], sum + key[sum & 3]);
    sum += kDelta;
    block[1] += mix(block[0], sum + key[sum >> 11 & 3]);
  }
  return block;
}

Block decrypt(const Key& key, Block block) {
  uint32_t sum = kDelta * kRounds;
  for (uint32_t round = 0; round < kRounds; ++round) {
    block[1] -= mix(block[0], sum + key[sum >> 11 & 3]);
    sum -= kDelta;
    block[0] -= mix(block[1], sum + key[sum & 3]);
  }
  return block;
}

}  // namespace

int main() {
  const Key key = {1, 2, 3, 4};
  std::vector<Block> text(kBlocks);
  for (uint32_t i = 0; i < kBlocks; ++i) text[i] = {i * 40503, i * i};
  std::vector<Block> secret(kBlocks);
  std::vector<Block> again(kBlocks);
  heddle::parallel_for(std::size_t{0}, kBlocks, [&](std::size_t i) { secret[i] = encrypt(key, text[i]); });
  heddle::parallel_for(std::size_t{0}, kBlocks, [&](std::size_t i) { again[i] = decrypt(key, secret[i]); });
  heddle::focus(secret);
  heddle::focus(again);
  const bool is_published = encrypt({}, {}) == Block{0xDEE9D4D8, 0xF7131ED9};  // the cipher's example
  const bool is_right = is_published && again == text && secret != text;
  std::printf("the text is %s\n", is_right ? "the same again" : "lost");
  return is_right ? 0 : 1;
}
