"""The shape of studies and suites: cases that workers do, claims on their answers, and the page.

| module | what |
| --- | --- |
| `study`, `suite` | what a study is; a suite has criteria in place of published values, for a subject |
| `catalog` | those that there are: `parshall_studies` and other packages bring studies |
| `running` | cases done by this machine or a cluster, once each |
| `register`, `published` | what a source claims, and what it prints |
| `page`, `headline`, `forest` | the page |
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
