"""The sampler of PyTorch Geometric in memory, which loaders are compared with.

    python peer_sampler.py     compiles it into the environment of this interpreter: a minute

PyTorch Geometric draws neighbours by operators of pyg-lib, which the package index does not have, or of torch-sparse, which is compiled with torch and
takes an hour. Only its operators that draw neighbours are compiled here, from its source distribution.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

#: The source distribution.
SOURCE = "torch_sparse==0.6.18"

#: The module that the operators are compiled into.
MODULE = "torch_sparse_neighbors"


def use() -> bool:
    """Lets PyTorch Geometric draw neighbours; whether it can."""
    if any(importlib.util.find_spec(name) for name in ("pyg_lib", "torch_sparse")):
        return True
    found = importlib.util.find_spec(MODULE)
    if found is None or found.origin is None:
        return False
    import torch
    import torch_geometric.typing

    torch.ops.load_library(found.origin)
    torch_geometric.typing.WITH_TORCH_SPARSE = True
    return True


def build() -> None:
    """Compiles the operators into the environment."""
    from setuptools import Distribution
    from torch.utils.cpp_extension import BuildExtension, CppExtension

    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # Its metadata are made with torch.
        subprocess.run([*pip, "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", folder, SOURCE], check=True)
        (archive,) = folder.glob("*.tar.gz")
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
        (source,) = (path for path in folder.iterdir() if path.is_dir())
        extension = CppExtension(
            MODULE,
            [str(source / "csrc" / "neighbor_sample.cpp"), str(source / "csrc" / "cpu" / "neighbor_sample_cpu.cpp")],
            include_dirs=[str(source / "csrc"), str(source / "third_party" / "parallel-hashmap")],
            extra_compile_args=["-O3", "-w"],
        )
        distribution = Distribution({"name": MODULE, "ext_modules": [extension]})
        command = BuildExtension(distribution, no_python_abi_suffix=True, use_ninja=False)
        command.build_lib, command.build_temp = str(folder / "built"), str(folder / "objects")
        command.ensure_finalized()
        command.run()
        for library in (folder / "built").iterdir():
            shutil.copy(library, sysconfig.get_path("platlib"))


if __name__ == "__main__":
    if not use():
        build()
