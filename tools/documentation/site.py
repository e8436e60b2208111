"""What the documentation site has beside the guides: ``python -m tools.documentation.site FOLDER``.

| in the folder | what | shown in |
| --- | --- | --- |
| `pictures/NAME-light.svg`, `-dark.svg` | the gallery's pictures, simulated now | docs/gallery.md, docs/index.md |
| `gallery.md` | each picture with its scenario | docs/gallery.md |
| `playground.html` | the simulator in a page | docs/index.md |

Sphinx calls it before it reads the guides (docs/conf.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

from markupsafe import escape

from parshall.explore.offline import page
from parshall.foundations.errors import InputError
from tools.documentation.gallery import GALLERY, draw


def write(folder: Path) -> None:
    """Write all of it into a folder."""
    draw(folder / "pictures")
    (folder / "gallery.md").write_text(gallery(folder.name), encoding="utf-8")
    (folder / "playground.html").write_text(_playground(), encoding="utf-8")


def _playground() -> str:
    """The page with the simulator in it, or what is to be done for it."""
    try:
        return page()
    except InputError as error:
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Playground</title><p>{escape(str(error))}</p>'
        )


def picture(source: str, text: str) -> str:
    """A picture in the colours of the reader's choice."""
    return "\n".join(
        f":::{{image}} {source}-{scheme}.svg\n:alt: {text}\n:class: only-{scheme}\n:::" for scheme in ("light", "dark")
    )


def gallery(folder: str) -> str:
    """Every picture with its title, what is to be seen, and its scenario."""
    parts = []
    for each in GALLERY:
        shown = picture(f"../build/{folder}/pictures/{each.name}", each.title)
        link = f"[{each.scenario}](../scenarios/{each.scenario})"
        parts.append(f"## {each.title}\n\n{each.text}\n\n{shown}\n\n{link}\n\n```sh\n{each.command}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
