"""What ``parshall new`` writes: files of this directory, with the name that the user chose."""

from __future__ import annotations

import keyword
from pathlib import Path

from parshall.foundations.errors import InputError, OutputExistsError

_HERE = Path(__file__).parent / "control"

_FILES = {
    "python": {"control.py.txt": "{name}.py"},
    "c": {"control.c": "{name}.c", "parshall_control.h": "parshall_control.h"},
    "rust": {
        "rust/Cargo.toml": "{name}/Cargo.toml",
        "rust/src/lib.rs": "{name}/src/lib.rs",
        "rust/src/abi.rs": "{name}/src/abi.rs",
        "rust/src/glue.rs": "{name}/src/glue.rs",
    },
}
"""By language: each file here, and what it becomes."""

_NEXT = {
    "python": "parshall run SCENARIO.toml --control {name}={file}:{type}",
    "c": "cc -O2 -shared -fPIC -o lib{name}.so {file} -lm, then parshall run SCENARIO.toml "
    "--control {name}=./lib{name}.so",
    "rust": "cargo build --release in {folder}, then parshall run SCENARIO.toml "
    "--control {name}={folder}/target/release/lib{name}.so",
}


def write_control(name: str, language: str, folder: Path) -> list[str]:
    """Write a control of a name, and say what was written and what to do next.

    Raises
    ------
    InputError
        The name cannot be one.
    OutputExistsError
        A file is there already.
    """
    if not name.isidentifier() or not name.isascii() or name != name.lower() or name.startswith("_"):
        raise InputError(f'found "{name}"; accepted: small letters, digits and _, beginning with a letter')
    if keyword.iskeyword(name):
        raise InputError(f'found "{name}", which is a keyword of Python; choose another name')
    made = {folder / target.format(name=name): _HERE / source for source, target in _FILES[language].items()}
    for path in made:
        if path.exists() and path.name != "parshall_control.h":
            raise OutputExistsError(f"{path} exists; nothing is written over it")
    kind = "".join(part.capitalize() for part in name.split("_"))
    for path, source in made.items():
        text = source.read_text(encoding="utf-8")
        if source.name != "parshall_control.h":
            text = text.replace("Mine", kind).replace("mine", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    first = next(iter(made))
    following = _NEXT[language].format(name=name, file=first, type=kind, folder=first.parent)
    return [f"{', '.join(str(path) for path in made)}", f"next: {following}"]
