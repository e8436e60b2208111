"""Suites: what a document asks of a congestion control or a queue (`parshall.studies.suite`).

A suite is a module of this folder with a function ``parts``, and a line in `parshall.studies.catalog.SUITES`.
`control_check` is the report card of one congestion control.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
