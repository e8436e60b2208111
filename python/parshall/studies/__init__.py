"""Studies: each regenerates the tables and figures of a publication, and compares with what it printed.

A study is a package of this folder with its parts as ``PARTS`` (`study.Part`), and a line in `catalog.STUDIES`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
