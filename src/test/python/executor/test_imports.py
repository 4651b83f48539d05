"""How the executor's modules depend on each other."""

import ast
from graphlib import TopologicalSorter

from executor import PACKAGE

# Each package may import from those that are named here, and from the top level.
ALLOWED = {"sidecar": {"wire"}, "runner": {"script", "wire"}, "script": {"wire"}, "wire": set()}


def modules() -> "dict[str, set[str]]":
    """The modules that each one imports, at its top, within functions and for type checkers alike."""
    paths = {}
    for path in PACKAGE.rglob("*.py"):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        paths[name[: -len(".__init__")] if name.endswith(".__init__") else name] = path
    found = {}
    for name, path in paths.items():
        found[name] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found[name] |= {alias.name for alias in node.names if alias.name in paths}
            elif isinstance(node, ast.ImportFrom) and node.module in paths:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                found[name] |= inner & set(paths) or {node.module}
    return found


def package_of(module: str) -> str:
    return module.split(".")[1] if module.count(".") > 1 else ""


def test_no_module_imports_itself_by_way_of_others() -> None:
    imports = modules()
    assert len(imports) > 40 and "roost_executor.wire.sockets" in imports["roost_executor.sidecar.sidecar"]
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the modules


def test_packages_import_in_one_direction() -> None:
    for module, imported in modules().items():
        package = package_of(module)
        for other in map(package_of, imported):
            if package and other:
                assert other == package or other in ALLOWED[package], f"{module} imports from {other}"
            elif other:
                assert module == "roost_executor.__main__", f"{module} imports from {other}"
