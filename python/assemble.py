"""Makes a wheel from a library that cargo has built, so that tests use what everything else uses and nothing is compiled twice.

    python assemble.py LIBRARY FOLDER

Wheels that are published are made by maturin, which compiles for release: `cargo xtask wheel`.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def files(library: Path) -> list[tuple[str, bytes]]:
    """The files of the package: sources, stubs, the library."""
    package = HERE / "isomorph"
    found = [(f"isomorph/{path.name}", path.read_bytes()) for path in sorted(package.iterdir()) if path.suffix in (".py", ".pyi", ".typed")]
    ending = "pyd" if library.suffix == ".dll" else "abi3.so"
    return [*found, (f"isomorph/_isomorph.{ending}", library.read_bytes())]


def metadata(project: dict[str, object], version: str) -> str:
    """The file METADATA."""
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        f"License-Expression: {project['license']}",
        "Description-Content-Type: text/markdown",
    ]
    extras = project["optional-dependencies"]
    assert isinstance(extras, dict)
    for extra, packages in extras.items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {package} ; extra == '{extra}'" for package in packages]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text(encoding="utf-8")


def assemble(library: Path, folder: Path) -> Path:
    """Writes the wheel, and returns its path."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workspace = tomllib.loads((HERE.parent / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    version = workspace["package"]["version"]
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"cp311-abi3-{platform}"
    info = f"isomorph-{version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: assemble.py\nRoot-Is-Purelib: false\nTag: {tag}\n"
    contents = [
        *files(library),
        (f"{info}/METADATA", metadata(project, version).encode()),
        (f"{info}/WHEEL", wheel.encode()),
    ]
    record = []
    for name, data in contents:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}\n")
    record.append(f"{info}/RECORD,,\n")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"isomorph-{version}-{tag}.whl"
    # Stored, because a library of a test is read once.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in [*contents, (f"{info}/RECORD", "".join(record).encode())]:
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)
    return path


if __name__ == "__main__":
    print(assemble(Path(sys.argv[1]), Path(sys.argv[2])))
