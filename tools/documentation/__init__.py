"""The guides: tables generated from the catalogs, checks of what is written by hand, the gallery of their site.

| module | what |
| --- | --- |
| `tables` | the generated sections: one function each, listed in `SECTIONS` |
| `keys` | a scenario's keys, from the schema |
| `markdown` | generated sections, code blocks and links of a Markdown file |
| `gallery`, `site` | the pictures of the site, and its page with them |
| `controls` | the figures of docs/controls.md |

``python -m tools.documentation`` (``make docs``) brings the generated sections of a checkout up to date and
looks for links that lead nowhere; with ``--check`` it only looks.
"""
