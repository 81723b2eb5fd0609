"""Ways to break an example.toml: what is changed in a whole one, and what is said.

A row holds the old text, the new text, and three parts of the line that must come:
the key it starts with, what was found and what is needed.
"""

WHOLE = """
tokens = ["a", "b"]
focus = "b"
axes = [{ id = "x", ja = "横", en = "across" }, { id = "y", ja = "縦", en = "along" }]
head = [{ id = "h", ja = "頭", en = "head" }]
hidden = [{ id = "u", ja = "甲", en = "one" }, { id = "v", ja = "乙", en = "two" },
          { id = "w", ja = "丙", en = "three" }]
positions = [[0.1, 0], [0, 0.2]]
[embed]
a = [1, 2.5]
b = [3, 4]
[weights]
W_Q = [[1], [2]]
W_K = [[3], [4]]
W_V = [[5], [6]]
W_O = [[7, 8]]
W_in = [[1, 2, 3], [4, 5, 6]]
b_in = [1, 2, 3]
W_out = [[1, 2], [3, 4], [5, 6]]
b_out = [0, 0]
"""
HEAD = '[{ id = "h", ja = "頭", en = "head" }]'
MANY = ", ".join(f'"{n}"' for n in range(17))
NAMES = "a list of tables, each with id, ja and en; 1 to 64 of them"
ENDLESS = "0x" + "f" * 5000  # too many digits for Python to print
W = "weights.W_Q"
COLUMN = "finite numbers in the shape [2, 1]"

TEXTS = {
    "no tokens": ('tokens = ["a", "b"]', "", "tokens", "missing", "a list of texts"),
    "empty tokens": ('["a", "b"]', "[]", "tokens", "[]", "a list of texts"),
    "a token is a number": ('"a", "b"', '"a", 1', "tokens", "1]", "a list of texts"),
    "a blank token": ('"a", "b"', '"a", " "', "tokens", "' '", "a list of texts"),
    "too many tokens": ('"a", "b"', MANY, "tokens", "17 words", "at most 16"),
    "focus is no token": ('focus = "b"', 'focus = "c"', "focus", "'c'", "tokens: a, b"),
    "focus is a number": ('focus = "b"', "focus = 1", "focus", "1", "a text"),
    "focus has no end": ('focus = "b"', f"focus = {ENDLESS}", "focus", "", "a text"),
    "an unknown key": ("focus", "foucs = 1\nfocus", "foucs", "", "tokens, focus"),
    "a key of two lines": ("focus", '"1\\n2" = 1\nfocus', "1", "", "tokens, focus"),
    "a token of two lines": ('"a", "b"', '"1\\n2", "b"', "embed.a", "", "2, b"),
}
AXES = {
    "two of one id": ('"y"', '"x"', "axes", "['x', 'x']", "another id for each"),
    "one without ja": ('ja = "横", ', "", "axes[0]", "'en'", "id, ja and en, each"),
    "a stray key": ('id = "x"', 'id = "x", fr = "x"', "axes[0]", "fr", "id, ja and en"),
    "an empty name": ('"横"', '""', "axes[0]", "''", "id, ja and en, each a text"),
    "a text for one": (HEAD, '["h"]', "head[0]", "'h'", "id, ja and en, each a text"),
    "none": (HEAD, "[]", "head", "[]", NAMES),
    "a text for all": (HEAD, '"h"', "head", "'h'", NAMES),
}
NUMBERS = {
    "a word without a vector": ("a = [1, 2.5]", "", "embed.a", "missing", "shape [2]"),
    "a vector without a word": ("a = [1", "c = 1\na = [1", "embed.c", "", "a, b"),
    "a word twice": (
        '"a", "b"',
        '"b", "b"',
        "embed.a",
        "",
        "'b' stands there twice, tokens are b, b",
    ),
    "a vector too long": ("[3, 4]\n[", "[3, 4, 5]\n[", "embed.b", "[3]", "shape [2]"),
    "embed is a list": ("[embed]", "embed = []\n[x]", "x", "", "embed, positions"),
    "a missing weight": ("W_Q = [[1], [2]]", "", W, "missing", COLUMN),
    "an unknown weight": ("W_Q = ", "W_P = 1\nW_Q = ", "weights.W_P", "", "W_Q, W_K"),
    "a weight lying down": ("[[1], [2]]", "[[1, 2]]", W, "[1, 2]", "shape [2, 1]"),
    "an empty weight": ("[[1], [2]]", "[]", W, "[0]", "the shape [2, 1]"),
    "too few positions": (
        "[[0.1, 0], [0, 0.2]]",
        "[[0, 0]]",
        "positions",
        "[1, 2]",
        "2, 2",
    ),
    "ragged rows": ("[[1], [2]]", "[[1], [2, 3]]", W, "[[1], [2, 3]]", COLUMN),
    "a row that is a number": ("[[1], [2]]", "[[1], 2]", W, "[[1], 2]", COLUMN),
    "not a number": ("[[1], [2]]", "[[1], [nan]]", W, "nan", COLUMN),
    "infinite": ("[[1], [2]]", "[[1], [-inf]]", W, "-inf", COLUMN),
    "too large for a float": ("[[1], [2]]", "[[1], [1e999]]", W, "inf", COLUMN),
    "a huge integer": ("[[1], [2]]", f"[[{10**400}], [2]]", W, "[[1000", COLUMN),
    "an endless integer": ("[[1], [2]]", f"[[{ENDLESS}], [2]]", W, "", COLUMN),
    "a text": ("[[1], [2]]", '[[1], ["2"]]', W, "'2'", COLUMN),
    "a truth value": ("[[1], [2]]", "[[1], [true]]", W, "True", COLUMN),
    "a date": ("[[1], [2]]", "[[1], [2020-01-01]]", W, "date", COLUMN),
    "a table": ("[[1], [2]]", "{ a = 1 }", W, "{'a': 1}", COLUMN),
}
BROKEN = {
    f"{kind}: {name}": row
    for kind, rows in (("texts", TEXTS), ("axes", AXES), ("numbers", NUMBERS))
    for name, row in rows.items()
}

# what can't be read at all: the bytes, and how the line starts
UNREADABLE = {
    "not TOML": (b"tokens = [", "not TOML: "),
    "a key twice": (b"focus = 1\nfocus = 2", "not TOML: "),
    "not UTF-8": ("focus = '岸'".encode("shift_jis"), "byte 9 is not UTF-8; "),
    "nested without end": (b"tokens = " + b"[" * 5000, "not TOML: "),
    "digits without end": (b"focus = " + b"1" * 5000, "not TOML: "),
}
