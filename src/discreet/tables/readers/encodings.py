"""The encodings of text files in which 0A always ends a line and no line says how another is read."""

from __future__ import annotations

import codecs
from contextlib import suppress
from typing import Any

from discreet.errors import InvalidArgument

_UNICODE = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")

# One byte is one letter, and 0A alone is a line feed (not so in EBCDIC, such as cp037 and cp500).
_ONE_BYTE = (
    "ascii",
    *(f"iso8859-{part}" for part in range(1, 17) if part != 12),
    *(f"cp{page}" for page in range(1250, 1259)),
    *(
        f"cp{page}"
        for page in (437, 720, 737, 775, 850, 852, 855, 856, 857, 858, *range(860, 867), 869, 874, 1006, 1125)
    ),
    *("mac-arabic", "mac-croatian", "mac-cyrillic", "mac-farsi", "mac-greek", "mac-iceland", "mac-latin2"),
    *("mac-roman", "mac-romanian", "mac-turkish", "palmos"),
    "hp-roman8",
    "koi8-r",
    "koi8-t",
    "koi8-u",
    "kz1048",
    "ptcp154",
    "tis-620",
)

# A letter has up to four bytes, none of them 0A.
_SEVERAL_BYTES = (
    *("big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jis_2004", "euc_jisx0213", "euc_jp"),
    *("gb18030", "gb2312", "gbk", "johab", "shift_jis", "shift_jis_2004", "shift_jisx0213"),
)

# Python's own euc_kr waits for eight bytes where letters are composed; cp949 holds its letters, and is what the Web
# reads under that name.
_READ_AS = {"euc_kr": "cp949"}

LINE_BY_LINE = frozenset((*_UNICODE, *_ONE_BYTE, *_SEVERAL_BYTES))


def encoding_name(name: Any) -> str:
    """Return the name of a text encoding, in Python's spelling.

    Raises
    ------
    InvalidArgument
        If Python knows no such encoding, or one line may change how another is read in it.
    """
    known = None
    if isinstance(name, str):
        with suppress(LookupError, ValueError):
            known = codecs.lookup(name)
    # Codecs such as base64 turn bytes into bytes.
    if known is None or not getattr(known, "_is_text_encoding", True):
        raise InvalidArgument('`encoding` must be the name of a text encoding, such as "utf-8" or "windows-1252".')
    found = _READ_AS.get(known.name, known.name)
    if found not in LINE_BY_LINE:
        raise InvalidArgument(
            f"`encoding` {found!r} is not read: in it one record could change how another is read, or the byte 0A "
            "is not always a line's end. Save the file as UTF-8."
        )
    return found
