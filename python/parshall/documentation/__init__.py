"""The guides: tables generated from the catalogs, and checks of what is written by hand.

| module | what |
| --- | --- |
| `tables` | the generated sections: one function each, listed in `SECTIONS` |
| `keys` | a scenario's keys, from the schema |
| `markdown` | generated sections, code blocks and links of a Markdown file |

``python -m parshall.documentation`` (``make docs``) brings the generated sections of a checkout up to date and
looks for links that lead nowhere; with ``--check`` it only looks.
"""
