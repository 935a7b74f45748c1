// PPJoin (Xiao, Wang, Lin & Yu 2008) in memory, with the self-join's shorter index and the verification that stops
// early of Mann, Augsten & Bouros 2016: the baseline of scripts/bench-joins.sh, for which no package exists.
//
//     g++ -O3 -march=native -o ppjoin ppjoin.cpp; ppjoin FILE PAIRS THRESHOLD
//
// FILE: JSON lines of scripts/peers/joins.py. PAIRS: two ids a line, the smaller first. The threshold
// (0.85) is compared in integers.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

using Tokens = std::vector<uint32_t>;
struct Entry { uint32_t set, position; };
struct List { std::vector<Entry> entries; size_t start = 0; };

int main(int, char** arguments) {
    uint64_t p = 0, q = 1; // the threshold is p / q
    for (const char* at = std::strchr(arguments[3], '.') + 1; *at; at++) p = p * 10 + (*at - '0'), q *= 10;
    std::vector<Tokens> sets;
    std::vector<uint32_t> counts;
    std::unordered_map<uint32_t, uint32_t> numbers; // of tokens, by first appearance
    FILE* file = std::fopen(arguments[1], "r");
    if (!file) return 1;
    char* line = nullptr;
    size_t room = 0;
    while (getline(&line, &room, file) > 0) {
        Tokens tokens;
        for (char* at = std::strchr(line, ',') + 9; *at != '"';) {
            const uint32_t token = std::strtoul(at, &at, 10);
            const auto [found, fresh] = numbers.try_emplace(token, counts.size());
            if (fresh) counts.push_back(0);
            counts[found->second]++;
            tokens.push_back(found->second);
            if (*at == ' ') at++;
        }
        sets.push_back(std::move(tokens));
    }
    std::fclose(file);

    // Tokens by frequency, the rarest first; sets by size.
    std::vector<uint32_t> order(counts.size()), rank(counts.size()), ids(sets.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return std::pair(counts[a], a) < std::pair(counts[b], b); });
    for (size_t i = 0; i < order.size(); i++) rank[order[i]] = i;
    for (auto& set : sets) {
        for (auto& token : set) token = rank[token];
        std::sort(set.begin(), set.end());
    }
    std::iota(ids.begin(), ids.end(), 0);
    std::sort(ids.begin(), ids.end(), [&](auto a, auto b) {
        return std::pair(sets[a].size(), sets[a]) < std::pair(sets[b].size(), sets[b]);
    });

    FILE* out = std::fopen(arguments[2], "w");
    if (!out) return 1;
    std::vector<List> index(counts.size());
    std::vector<uint32_t> shared(sets.size(), 0); // with the candidate, in prefixes; ruled out: the largest number
    std::vector<Entry> last(sets.size()); // the last token shared, by its position in the candidate and here
    std::vector<uint32_t> candidates;
    for (uint32_t probe = 0; probe < ids.size(); probe++) {
        const Tokens& here = sets[ids[probe]];
        const uint64_t size = here.size(), least_size = (size * p + q - 1) / q;
        const auto least = [&](uint64_t other) { return ((size + other) * p + p + q - 1) / (p + q); };
        const uint64_t prefix = size - least_size + 1;
        candidates.clear();
        for (uint32_t i = 0; i < prefix; i++) {
            List& list = index[here[i]];
            // Sizes only grow, so what is too short once stays too short.
            while (list.start < list.entries.size() && sets[ids[list.entries[list.start].set]].size() < least_size) list.start++;
            for (size_t at = list.start; at < list.entries.size(); at++) {
                const auto [set, position] = list.entries[at];
                if (shared[set] == UINT32_MAX) continue;
                const uint64_t other = sets[ids[set]].size();
                if (shared[set] == 0) candidates.push_back(set);
                if (shared[set] + std::min(size - i, other - position) < least(other)) {
                    shared[set] = UINT32_MAX;
                    continue;
                }
                shared[set]++;
                last[set] = {position, i};
            }
        }
        for (const uint32_t set : candidates) {
            const Tokens& there = sets[ids[set]];
            const uint64_t wanted = least(there.size());
            if (shared[set] != UINT32_MAX) {
                uint64_t a = last[set].position + 1, b = last[set].set + 1, found = shared[set];
                while (a < size && b < there.size() && found + std::min(size - a, there.size() - b) >= wanted) {
                    if (here[a] == there[b]) found++, a++, b++;
                    else if (here[a] < there[b]) a++;
                    else b++;
                }
                if (found >= wanted) {
                    const auto [small, large] = std::minmax(ids[probe], ids[set]);
                    std::fprintf(out, "%u\t%u\n", small, large);
                }
            }
            shared[set] = 0;
        }
        // Later sets are at least as large, so fewer of the first tokens need an entry.
        const uint64_t indexed = size - (size * 2 * p + p + q - 1) / (p + q) + 1;
        for (uint32_t i = 0; i < indexed; i++) index[here[i]].entries.push_back({probe, i});
    }
    return std::fclose(out);
}
