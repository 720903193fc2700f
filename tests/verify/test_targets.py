"""What can be verified, and why others cannot."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from exportlint.config import ConfigError, Configuration
from exportlint.verify.specs import TensorSpec
from exportlint.verify.target import Called, Convention, Guessed, Part, Reference, Script, Target, Written
from exportlint.verify.targets import Found, UnknownTargetError, find_targets
from tests.cli.runner import write

MODELS = """\
import abc

from torch import nn

from .parts import scale


class Gate(nn.Module):
    def __init__(self, hidden=4):
        super().__init__()
        self.linear = nn.Linear(3, hidden)

    def forward(self, x):
        return scale(self.linear(x))


class Sized(nn.Module):
    def __init__(self, recipe, *, depth, width=2):
        super().__init__()

    def forward(self, x):
        return x


class Open(nn.Module):
    def forward(self, x):
        \"\"\"What comes out.\"\"\"
        raise NotImplementedError


class Encoder(nn.Module, abc.ABC):
    @abc.abstractmethod
    def encode(self, x): ...

    def forward(self, x):
        return self.encode(x)


class Encoded(Encoder):
    def encode(self, x):
        return x


class Empty(nn.Module):
    pass


class Layer(nn.Linear):
    pass


class Layers(nn.Sequential):
    pass


def make(hidden=2):
    return Gate(hidden)


def sized(hidden):
    return Sized(hidden, depth=1)


def outer():
    class Inner(nn.Module):
        def forward(self, x):
            return x

    return Inner


gate = Gate()


class Plain:
    def forward(self, x):
        return x
"""
PARTS = "def scale(x):\n    return x * 2\n"
NEW = "import torch\nfrom torch import nn\n\n\nclass {}(nn.Module):\n    def forward(self, x):\n        return x\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def shop(root: Path) -> Path:
    write(root, {"src/shop/models.py": MODELS, "src/shop/parts.py": PARTS})
    return root


def find(root: Path, *paths: str, calls: bool = False) -> Found:
    return find_targets(paths, Configuration(root), root, calls=calls)


def one(root: Path, *paths: str, calls: bool = False) -> Target:
    found = find(root, *paths, calls=calls)
    (target,) = found.targets
    assert found.unbuildable == ()
    return target


def names(found: Found) -> list[str]:
    return [target.name for target in found.targets]


class TestWhatTheCodeOffers:
    def test_models_that_need_nothing(self, shop: Path) -> None:
        found = find(shop)
        assert names(found) == ["shop.models:Gate", "shop.models:Encoded", "shop.models:Layer", "shop.models:Layers"]
        gate = found.targets[0]
        assert gate.place == (shop / "src/shop/models.py", 8)
        assert (gate.origin, gate.inputs, gate.varying) == ("inferred", Guessed(), (0,))

    def test_why_others_cannot_be_built(self, shop: Path) -> None:
        assert {other.name.partition(":")[2]: other.reason for other in find(shop).unbuildable} == {
            "Sized": "its constructor needs `recipe`, `depth`: give a target",
            "Open": "is abstract: `forward` is left to subclasses",
            "Encoder": "is abstract: `encode` is left to subclasses",
            "Empty": "has no `forward`",
            "outer.<locals>.Inner": "is defined inside of a function, so it cannot be imported",
        }

    def test_a_file_that_is_no_python(self, shop: Path) -> None:
        write(shop, {"broken.py": "class A(:\n"})
        (broken,) = [other for other in find(shop).unbuildable if other.place[0] == shop / "broken.py"]
        assert broken.reason.startswith("syntax error: ")
        assert broken.place[1] == 1

    def test_settings_hold_for_what_is_found(self, shop: Path) -> None:
        write(
            shop,
            {
                "exportlint.toml": 'mode = "strict"\ntrain = true\ndynamic-dims = [0, 1]\n'
                "[verify]\ntimeout = 7\nmemory = 99\n"
            },
        )
        target = one(shop, "shop.models:Gate")
        assert (target.modes, target.train, target.varying) == (("strict",), True, (0, 1))
        assert (target.timeout, target.memory, target.root) == (7.0, 99, shop)

    def test_a_base_of_another_file(self, root: Path) -> None:
        write(
            root, {"base.py": NEW.format("Base"), "net.py": "from base import Base\n\n\nclass Net(Base):\n    pass\n"}
        )
        assert names(find(root, "net.py")) == ["net:Net"]

    def test_a_later_definition_hides_an_earlier_one(self, root: Path) -> None:
        write(root, {"net.py": NEW.format("Net") + NEW.format("Net")})
        assert one(root).place == (root / "net.py", 12)

    def test_what_git_ignores_is_left_alone(self, root: Path) -> None:
        (root / ".git").mkdir()
        write(root, {".gitignore": "gen/\n", "gen/net.py": NEW.format("Net"), "own.py": NEW.format("Own")})
        assert names(find(root)) == ["own:Own"]


class TestImporting:
    @pytest.mark.parametrize(
        ("files", "path", "module", "folders"),
        [
            ({"src/shop/net.py": NEW}, "src/shop/net.py", "shop.net", ["src", ".", "src/shop"]),
            ({"src/shop/__init__.py": "", "src/shop/net.py": NEW}, "src/shop/net.py", "shop.net", ["src", "."]),
            ({"lib/shop/__init__.py": "", "lib/shop/net.py": NEW}, "lib/shop/net.py", "shop.net", ["lib", "."]),
            ({"shop/__init__.py": NEW}, "shop/__init__.py", "shop", ["."]),
            ({"net.py": NEW}, "net.py", "net", ["."]),
            ({"my-nets/net.py": NEW}, "my-nets/net.py", "net", ["my-nets", "."]),
            ({"nets/1_net.py": NEW}, "nets/1_net.py", "nets.1_net", [".", "nets"]),
        ],
    )
    def test_names_and_folders(
        self, root: Path, files: dict[str, str], path: str, module: str, folders: list[str]
    ) -> None:
        write(root, {name: text.format("Net") for name, text in files.items()})
        target = one(root, path)
        assert target.model == Reference(module, "Net", root / path)
        assert list(target.paths) == [root / folder for folder in folders]

    def test_it_is_so_for_python(self, shop: Path) -> None:
        write(shop, {"own/net.py": NEW.format("Net").replace("import torch\n", "import beside\n"), "own/beside.py": ""})
        write(shop, {"src/pack/__init__.py": "", "src/pack/sub/__init__.py": ""})
        write(shop, {"src/pack/sub/net.py": "from ..other import *\n" + NEW.format("Net"), "src/pack/other.py": ""})
        stub = "class Module:\n    def __init__(self, *args): ...\n\n\nLinear = Sequential = Module\n"
        write(shop.parent, {"stubs/torch/__init__.py": "", "stubs/torch/nn.py": stub})  # torch itself takes seconds
        for target in [t for t in find(shop).targets if t.model.name in {"Gate", "Net"}]:
            code = (
                f"import sys, importlib, operator; sys.path[:0] = {[*map(str, target.paths), f'{shop.parent}/stubs']};"
                f"m = importlib.import_module({target.model.module!r});"
                f"print(operator.attrgetter({target.model.name!r})(m), m.__file__)"
            )
            done = subprocess.run(
                [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=False, cwd="/"
            )
            assert done.stdout.strip().endswith(str(target.model.file)), done.stderr

    def test_folders_of_imports_can_be_set(self, root: Path) -> None:
        write(root, {"exportlint.toml": 'src = ["python"]\n', "python/shop/net.py": NEW.format("Net")})
        assert one(root, "shop.net:Net").paths == (root / "python", root / "python/shop")


class TestNames:
    @pytest.mark.parametrize("text", ["src/shop/models.py::Gate", "shop.models:Gate"])
    def test_a_class(self, shop: Path, text: str) -> None:
        assert one(shop, text).model == Reference("shop.models", "Gate", shop / "src/shop/models.py")

    def test_functions_and_instances(self, shop: Path) -> None:
        assert one(shop, "shop.models:make").place[1] == 56
        assert one(shop, "shop.models:gate").place[1] == 72
        found = find(shop, "shop.models:sized")
        assert [other.reason for other in found.unbuildable] == ["it needs `hidden`: give a target"]

    def test_what_is_named_twice_is_run_once(self, shop: Path) -> None:
        assert names(find(shop, "shop.models:Gate", "src/shop/models.py::Gate")) == ["shop.models:Gate"]

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("src/shop/models.py::Gat", "{root}/src/shop/models.py has no `Gat`, did you mean `Gate`?"),
            ("src/shop/models.py::Zzz", "has no `Zzz`: it has `Gate`, `Sized`, `Open`"),
            ("src/shop/models.py::Plain", "`Plain` in {root}/src/shop/models.py is not a `torch.nn.Module`"),
            ("src/shop/models.py::", "does not name a class: write `models.py::Name`"),
            ("shop.modls:Gate", "there is no module `shop.modls`, did you mean `shop.models`?"),
            ("shp.models:Gate", "there is no module `shp.models`, did you mean `shop.models`?"),
            ("torchvision:resnet", "there is no module `torchvision` in this project: add a target for it to the"),
            ("src/shp", "src/shp: no such file or directory; did you mean '{root}/src/shop'?"),
            ("src/shp/models.py::Gate", "src/shp/models.py: no such file or directory"),
            ("a b:c", "`a b` is not a module: write `pkg.mod:Name` or `path/to/file.py::Name`"),
        ],
    )
    def test_errors_name_the_nearest(self, shop: Path, text: str, error: str) -> None:
        with pytest.raises(UnknownTargetError, match=re.escape(error.format(root=shop))) as raised:
            find(shop, text)
        assert "\n" not in str(raised.value)


class TestConventions:
    def test_functions_beside_the_model(self, root: Path) -> None:
        text = NEW.format("Part") + NEW.format("Model").replace("    def", "    def __init__(self, n): ...\n\n    def")
        text += "\n\ndef get_inputs():\n    return []\n\n\ndef get_init_inputs():\n    return [3]\n"
        write(root, {"net.py": text})
        part, model = find(root).targets
        assert (part.inputs, part.init_inputs) == (Guessed(), None)
        assert (model.name, model.origin) == ("net:Model", "convention")
        assert (model.inputs, model.init_inputs, model.varying) == (Convention("get_inputs"), "get_init_inputs", (0,))

    def test_they_are_for_the_model_that_has_the_others(self, root: Path) -> None:
        whole = NEW.format("Whole").replace("return x", "return Part()(x)")
        write(root, {"net.py": NEW.format("Part") + whole + "\n\nexample_inputs = (torch.ones(2),)\n"})
        part, model = find(root).targets
        assert model.inputs == Convention("example_inputs")
        assert part.inputs == Part((model,))
        assert [other.inputs for other in part.otherwise] == [Guessed()]

    @pytest.mark.parametrize(
        ("member", "offered"),
        [
            ("    def example_inputs(self):\n        return 1\n", True),
            ("    example_inputs = (1,)\n", True),
            ("    def __init__(self):\n        self.example_inputs = 1\n", True),
            ("    @staticmethod\n    def example_inputs():\n        return 1\n", True),
            ("    example_inputs = None\n", False),
            ("    def example_inputs(self, batch):\n        return 1\n", False),
        ],
    )
    def test_of_the_model_itself(self, root: Path, member: str, offered: bool) -> None:
        write(root, {"net.py": NEW.format("Base") + member + "\n\nclass Net(Base):\n    pass\n"})
        expected = Convention("example_inputs", of_model=True) if offered else Guessed()
        assert [target.inputs for target in find(root).targets] == [expected] * 2


class TestCalls:
    SCRIPT = (
        "import torch\nfrom torch.export import export\nfrom net import Net\n\n\n"
        "def run():\n    return export(\n        Net(), (torch.ones(2),)\n    )\n\n\n"
        'if __name__ == "__main__":\n    torch.export.export(Net(), (torch.ones(2),))\n    run()\n'
        "    other.export(Net())\n"
    )

    def test_only_if_wanted(self, root: Path) -> None:
        write(root, {"net.py": NEW.format("Net"), "tool.py": self.SCRIPT})
        assert names(find(root)) == ["net:Net"]
        targets = find(root, calls=True).targets
        assert [(t.name, t.origin, t.inputs, t.varying) for t in targets[1:]] == [
            (f"tool:{row}", "call", Script(root / "tool.py", row), ()) for row in (7, 13)
        ]
        write(root, {"exportlint.toml": "verify.calls = true\n"})
        assert find(root).targets == targets


CONFIGURED = """\
[[verify.target]]
model = "shop.models:Sized"
arguments = [8]
keywords = { depth = 2, weight = "float32[3]", kind = "relu", mask = "None" }
inputs = ["float32[batch=2, 3]", "int64[batch, 2*seq, seq=4] < 9"]
mode = "both"
device = ["cpu", "cuda"]

[[verify.target]]
model = "src/shop/models.py::make"
name = "made"
inputs = "shop.models:batch"
dynamic-shapes = { x = { 0 = "batch" } }
others = "shop.models:more"
"""


class TestConfigured:
    def test_targets(self, shop: Path) -> None:
        offers = "\n\ndef batch():\n    return 1\n\n\ndef more():\n    return []\n"
        write(shop, {"exportlint.toml": CONFIGURED, "src/shop/models.py": MODELS + offers})
        sized, made = find(shop).targets
        assert (sized.name, sized.origin) == ("shop.models:Sized", "configured")
        assert sized.arguments == (8,)
        assert sized.keywords == {"depth": 2, "weight": TensorSpec("float32", (3,)), "kind": "relu", "mask": None}
        assert sized.inputs == Written(
            (TensorSpec("float32", ("batch", 3)), TensorSpec("int64", ("batch", "2*seq", "seq"), None, 9)),
            {},
            {"batch": 2, "seq": 4},
        )
        assert (sized.modes, sized.devices, sized.varying) == (("non-strict", "strict"), ("cpu", "cuda"), ())
        assert sized.place == (shop / "src/shop/models.py", 17)
        assert (made.name, made.model.name, made.model.module) == ("made", "make", "shop.models")
        function = Reference("shop.models", "batch", shop / "src/shop/models.py")
        assert made.inputs == Called(function, {"x": {0: "batch"}})
        assert made.others == Reference("shop.models", "more", shop / "src/shop/models.py")

    def test_they_come_before_what_the_code_offers(self, shop: Path) -> None:
        write(shop, {"exportlint.toml": '[[verify.target]]\nmodel = "shop.models:Gate"\nname = "gate"\ntimeout = 5\n'})
        assert names(find(shop)) == ["gate"]
        assert names(find(shop, ".")) == ["gate", "shop.models:Encoded", "shop.models:Layer", "shop.models:Layers"]
        for text in ("gate", "shop.models:Gate", "src/shop/models.py::Gate"):
            assert one(shop, text).timeout == 5.0

    def test_what_is_not_said_is_what_the_code_offers(self, root: Path) -> None:
        text = NEW.format("Net") + "\n\ndef get_inputs():\n    return []\n"
        write(root, {"exportlint.toml": '[[verify.target]]\nmodel = "net:Net"\n', "net.py": text})
        target = one(root)
        assert (target.inputs, target.varying) == (Convention("get_inputs"), (0,))

    def test_one_table_of_inputs(self, shop: Path) -> None:
        write(
            shop,
            {
                "exportlint.toml": '[[verify.target]]\nmodel = "shop.models:Gate"\n'
                '[verify.target.inputs]\narguments = ["float32[2]"]\nkeywords = { mask = { a = [1, "None"] } }\n'
            },
        )
        inputs = one(shop).inputs
        assert isinstance(inputs, Written)
        assert str(inputs.keywords["mask"]) == "{'a': [1, None]}"

    def test_a_model_of_a_library(self, root: Path) -> None:
        write(root, {"exportlint.toml": '[[verify.target]]\nmodel = "torch.nn:ReLU"\ninputs = "float32[2]"\n'})
        target = one(root)
        assert target.model == Reference("torch.nn", "ReLU")
        assert target.inputs == Written((TensorSpec("float32", (2,)),))

    @pytest.mark.parametrize(
        ("text", "line", "error"),
        [
            ('model = "shop.models:Gat"', 2, "model`: {root}/src/shop/models.py has no `Gat`, did you mean `Gate`?"),
            ('model = "shop.modls:Gate"', 2, "model`: there is no module `shop.modls`, did you mean `shop.models`?"),
            ('model = "shop.models"', 2, "model`: `shop.models` does not name an object: write `shop.models:Name`"),
            ('model = "src/x.py::Gate"', 2, "model`: {root}/src/x.py: "),
            ('model = "shop.models:Gate"\ninputs = ["flot32[2]"]', 3, "inputs`: `flot32` is not a dtype, did you mean"),
            ('model = "shop.models:Gate"\ninputs = "batch"', 3, "inputs`: `batch` is not an input spec"),
            (
                'model = "shop.models:Gate"\ninputs = "shop.models:bat"',
                3,
                "inputs`: {root}/src/shop/models.py has no `bat`",
            ),
            (
                'model = "shop.models:Gate"\ninputs = "float32[2]"\ndynamic-shapes = [{ 0 = "b" }]',
                4,
                "dynamic-shapes`: is for inputs from a function",
            ),
            (
                'model = "shop.models:Sized"\nkeywords = { w = "float32[b=2]" }',
                3,
                "keywords`: the dimension `b` cannot be dynamic here: write only its size",
            ),
            (
                'model = "shop.models:Sized"\narguments = [1]\ninit-inputs = "f"',
                4,
                "init-inputs`: gives the arguments, so `arguments` and `keywords` must not be there",
            ),
        ],
    )
    def test_errors_have_their_line(self, shop: Path, text: str, line: int, error: str) -> None:
        write(shop, {"exportlint.toml": f"[[verify.target]]\n{text}\n"})
        with pytest.raises(ConfigError) as raised:
            find(shop)
        start = f"{shop}/exportlint.toml:{line}: `verify.target[0].{error.format(root=shop)}"
        assert str(raised.value).startswith(start)
        assert "\n" not in str(raised.value)

    def test_names_are_used_once(self, shop: Path) -> None:
        write(shop, {"exportlint.toml": '[[verify.target]]\nmodel = "shop.models:Gate"\n' * 2})
        with pytest.raises(ConfigError, match=r"toml:3: .*there is another target `shop.models:Gate`: give this one a"):
            find(shop)
