"""The ground floor: modules that know nothing of scenarios or results.

| module | what |
| --- | --- |
| `errors` | the tree of errors, with exit codes |
| `extras` | packages that only a part needs, and the message where one is missing |
| `plugins` | entry points of other packages: models, quantities, figures, sections, studies, suites, verbs |
| `files` | files of others read within limits; own files written completely or not at all |
| `version` | the version that is installed |
| `machine` | memory of this machine that is available |
| `debian` | Debian's packages that parts need (``debian.txt``) |
| `distributions` | quantiles that confidence intervals need |
| `numbers` | numbers as text: digits, units, uncertainty |
| `notebook` | HTML fragments for notebooks |
| `has_figures` | `figures` of objects that have a page |
"""
