"""The type of a case, and the table that the cases_*.py files fill.

`overlay` and `spec` are the expected results of flatten under those semantics:

  * the names of engines: the tree of the original image as one of these shows it;
  * Same(layers): the tree of these other layers in the engines (used where the
    engines refuse an image that flatten must resolve);
  * REFUSE: exit with an error and leave nothing behind;
  * Either(layers, ...): refuse, or the tree of Same() of one of these.

With `own_only` the result is compared through the engine of these semantics
only, because the other kind shows even equal tars differently.
"""
from dataclasses import dataclass

STORAGE, DOCKER, CONTAINERD, UMOCI = "storage", "dockerd", "containerd", "umoci"
OVERLAY_ENGINES = (STORAGE, DOCKER, CONTAINERD)
REFUSE = "refuse"
UNJUDGED = ()  # only observe.py runs it


@dataclass
class Same:
    layers: list


class Either:
    def __init__(self, *choices):
        self.choices = choices


@dataclass
class Case:
    name: str
    group: str
    layers: list
    overlay: object = (STORAGE,)
    spec: object = (UMOCI,)
    own_only: bool = False
    note: str = ""


CASES = []


class Group:
    """Adds cases under one heading."""

    def __init__(self, title):
        self.title = title

    def __call__(self, name, *layers, **kw):
        if any(case.name == name for case in CASES):
            raise ValueError("two cases are named " + name)
        CASES.append(Case(name, self.title, list(layers), **kw))


def load():
    """Every case, in the order of the files."""
    if not CASES:
        import cases_layers  # noqa: F401  (each import registers its cases)
        import cases_links  # noqa: F401
        import cases_names  # noqa: F401
        import cases_metadata  # noqa: F401
    return CASES
