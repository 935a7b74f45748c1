"""Texts for tests."""

import random


def texts_of(seed, number):
    """Texts of which many resemble each other, with empty, short and equal ones."""
    rng = random.Random(seed)
    texts = ["", "one", "One!", "two words"]
    for _ in range(number):
        words = rng.choice(texts).split() if rng.random() < 0.7 else []
        words = words or [rng.choice("abcdefghij") * rng.randint(1, 3) for _ in range(30)]
        for _ in range(rng.randint(0, 4)):
            words[rng.randrange(len(words))] = rng.choice(["x", "\u00e4\"", "z\\", "\U0001f600 y"])
        texts.append(" ".join(words))
    return texts
