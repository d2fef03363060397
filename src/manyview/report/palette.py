"""Colours that stay apart, also for colour-blind eyes, on light and on dark paper.

The first ten were set by hand. Each further one is as far as can be from all before it, where the
distance of two colours is what people with normal eyes see plus three times the smaller of what
red-blind and green-blind people see (OKLab). On dark paper the same colours are lighter. A number
stands beside every colour in a report: nothing has to be told by colour alone.
"""

from __future__ import annotations

_LIGHT = """
    3b7ddd e69f00 c22f3d 0f8f7e 6a2fa0 c9d23a ee86b7 4d3410 72c7ec e0632a 84195c 406812
    07bf84 c64daf 19a029 9e90fc 1d6283 ed5481 af257b 5ab2ba 5079a7 f3957b 684bcc 0e6a57
    e16fd9 359ed1 b17261 753836 8bc556 b87ea2 458846 92995b ad5573 665ba8 aa5ad5 9e2d08
    80027c 74c3ad 5aa489 0f767e 917aff 93adfe 094e8c a56512 ee8041 8e3858 d28c8e d796dc
    a0309a 123eb2 8f6593 574e06 8c5c32 42764e 8faf59 337b0a a08015 3e8ac8 e04648 115b3e
    3bb0dd 3b92a1 a247bd f37671 9f465d 603d6b 32af3b c76cc0 4ba1b0 2b9a6e 49ce86 a87093
    73b91a 9a1377 695fe0 1556af b96ae6 30c8cc e29b9d e277bd 824933 075474 2999eb ad4002
    a26258 ff8f51 c03789 19ae69 65b49e 8f151e 776ff1 584d99 745b8f 827cb5 ea82f4 b493c9
    a9922d d07856 82348a 27848d
"""
_DARK = """
    64a2fe ffb83e f05c62 47b4a2 975fd3 dbe552 ffa7ce 806542 91dcfe ff8857 b94d8a 699443
    43dc9e ed71d3 4ac350 bab3fd 4d8eb1 fe87a3 de55a4 76ced6 749fcf ffb49f 8e76fb 469681
    fe8df5 59bef2 d69481 a76662 a3de6e d89dc1 6aae6a b1b879 d77a98 8d83d5 ce7efb d15c3d
    b545ae 8cdbc5 7ac3a7 479fa8 aea4fe b4c7ff 407dbf cd8b42 fea475 be6482 efa7a9 f0aef5
    cd5dc6 3e71e9 b689b9 847c3d b7845a 699f74 aacb74 5ca540 c4a342 62aded fe7672 478a6b
    5cccfa 60b5c4 ca6fe6 fea09a cd6f85 8f6a9b 58cf5c e88be0 6cc1d0 55be8f 65e69e cc91b5
    8ed543 cd4ba4 8d8bfe 4484e0 d590fd 52e1e5 fcb3b4 fe94d8 b1745c 4183a5 67b9fe dc6a3b
    ca877c feb692 eb61b0 4ace87 80d0b9 c54d4b 999afd 8278c9 9d83b9 a39ed9 f8a7ff d0aee5
    c8b150 f29774 b160b9 53abb3
"""


def choose_colours(n_colours: int, *, dark: bool = False) -> tuple[str, ...]:
    """The first ``n_colours`` colours as "#rrggbb"; they repeat after a hundred.

    Examples
    --------
    >>> choose_colours(2), choose_colours(101)[100]
    (('#3b7ddd', '#e69f00'), '#3b7ddd')
    """
    colours = (_DARK if dark else _LIGHT).split()
    return tuple(f"#{colours[i % len(colours)]}" for i in range(n_colours))
