"""Single texts: how they are cut into tokens and shingles, and how two of them are compared."""

from __future__ import annotations

from . import _native


def tokens(text: str, *, tokens: str = "words", fold: str = "none") -> list[str]:
    """Cut a text into tokens.

    Parameters
    ----------
    text
        Plain text.
    tokens
        What a token is: ``"words"``, ``"whitespace"`` (what is between white space), or ``"code"``
        (programs; ``"code:python"`` in a language).
    fold
        ``"compat"`` treats compatibility forms of Unicode as equal, ``"diacritics"`` letters with
        and without accents, ``"digits"`` the digits of all scripts, ``"arabic"`` the forms of
        Arabic letters; ``"hyphens"`` joins words that are divided at line ends. Several are a list
        with commas; ``"none"`` is none of them.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.tokens("Don't panic: 42!")
    ["don't", 'panic', '42']
    >>> lookalike.tokens("ﬁne soft\\u00adware", fold="compat")
    ['fine', 'software']
    """
    return _native.tokens(text, tokens, fold)


def shingles(
    text: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
) -> list[str]:
    """Cut a text into shingles: all runs of consecutive tokens, in order, with repetitions.

    Parameters
    ----------
    text
        Plain text.
    shingle_size, tokens, fold, short
        As for `find_pairs`.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.shingles("a rose is a rose", shingle_size=3)
    ['a rose is', 'rose is a', 'is a rose']
    """
    return _native.shingles(text, shingle_size, tokens, fold, short)


def fingerprints(
    text: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
) -> list[int]:
    """Compute the distinct fingerprints of a text's shingles, in order of value.

    Parameters
    ----------
    text
        Plain text.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.

    Returns
    -------
    list of int
        Numbers of 64 bits (xxh3), or of 128 bits with ``fingerprint="md5"``.

    Examples
    --------
    >>> import lookalike
    >>> len(lookalike.fingerprints("a rose is a rose is a rose", shingle_size=3))
    3
    """
    return _native.fingerprints(text, shingle_size, tokens, fold, short, str(fingerprint), seed)


def resemblance(
    a: str,
    b: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
) -> float:
    """Compute the resemblance of two texts: shared fingerprints divided by all of the two.

    Parameters
    ----------
    a, b
        Plain texts.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.

    References
    ----------
    Broder, Glassman, Manasse & Zweig 1997, *Syntactic clustering of the Web*, section 2.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.resemblance("a b c d", "a b c d e", shingle_size=2)
    0.75
    """
    parameters = (shingle_size, tokens, fold, short, str(fingerprint), seed)
    return _native.score(a, b, "resemblance", *parameters)


def containment(
    a: str,
    b: str,
    *,
    shingle_size: int = 10,
    tokens: str = "words",
    fold: str = "none",
    short: str = "whole",
    fingerprint: int | str = 64,
    seed: int = 0,
) -> float:
    """Compute the containment of two texts: shared fingerprints divided by the smaller set.

    Parameters
    ----------
    a, b
        Plain texts.
    shingle_size, tokens, fold, short, fingerprint, seed
        As for `find_pairs`.

    Examples
    --------
    >>> import lookalike
    >>> lookalike.containment("a b c d", "a b c d e", shingle_size=2)
    1.0
    """
    parameters = (shingle_size, tokens, fold, short, str(fingerprint), seed)
    return _native.score(a, b, "containment", *parameters)
