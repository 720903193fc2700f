"""What is read of the arguments of `forward`, where nothing may be run."""

from __future__ import annotations

import ast
import textwrap

import pytest

from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec
from exportlint.verify.targets.hints import hints_of

# A function, and the likeliest spec of each argument of which anything is known.
FIRST = {
    "jaxtyping": (
        'def forward(self, x: Float[Tensor, "batch 3 h w"], y: Int64[torch.Tensor, "*rest n"]): ...',
        {"x": "float32[batch, 3, h, w]", "y": "int64[..., n]"},
    ),
    "jaxtyping, sizes that anything fits": (
        'def forward(self, x: Bool[Tensor, "#b _ dim*2"]): ...',
        {"x": "bool[batch, any_1, dim*2]"},
    ),
    "a tensor of unknown shape": ("def forward(self, x: torch.LongTensor): ...", {"x": "int64[...]"}),
    "an annotation in quotes": ('def forward(self, x: "Tensor"): ...', {"x": "float32[...]"}),
    "optional": ("def forward(self, x: Optional[Tensor]): ...", {"x": "float32[...]"}),
    "a union, None first": ("def forward(self, x: None | Tensor): ...", {"x": "float32[...]"}),
    "a list": ("def forward(self, xs: list[Tensor]): ...", {"xs": "[float32[...], float32[...]]"}),
    "a list that is unpacked": (
        "def forward(self, xs: List[Tensor]):\n    a, b, c = xs",
        {"xs": "[float32[...], float32[...], float32[...]]"},
    ),
    "a tuple": ("def forward(self, p: tuple[Tensor, int]): ...", {"p": "(float32[...], 2)"}),
    "plain values": (
        "def forward(self, n: int, p: float, flag: bool, how: Literal['mean', 'max']): ...",
        {"n": "2", "p": "0.5", "flag": "False", "how": "'mean'"},
    ),
    "a dictionary, whose keys the body tells": (
        "def forward(self, batch: dict[str, Tensor]):\n    return batch['ids'] + batch.get('mask')",
        {"batch": "{ids: float32[...], mask: float32[...]}"},
    ),
    "a comment on the line of the function": (
        "def forward(self, x):  # (B, C, H, W)\n    pass",
        {"x": "float32[batch, c, h, w]"},
    ),
    "a comment below it": (
        "def forward(self, x, y):\n    # x: [batch, seq, dim]\n    # y: [batch, dim]\n    return x",
        {"x": "float32[batch, seq, dim]", "y": "float32[batch, dim]"},
    ),
    "a comment next to each argument": (
        "def forward(\n    self,\n    x,  # (N, 3, L)\n    lens,  # (N,)\n):\n    pass",
        {"x": "float32[batch, 3, l]", "lens": "int64[batch]"},
    ),
    "a comment in short": (
        "def forward(self, x, y):\n    # x: BxCxHxW\n    return x",
        {"x": "float32[batch, c, h, w]"},
    ),
    "a size that is calculated": (
        "def forward(self, x):  # (batch, 5 + classes)\n    pass",
        {"x": "float32[batch, 5+classes]"},
    ),
    "a flag": (
        "def forward(self, x, gate, way):\n    if gate and not way: return x\n    return -x",
        {"gate": "True", "way": "True"},
    ),
    "a comment that is about something else": (
        "def forward(self, x, y):\n    # (see the paper, sec 3)\n    return x",
        {},
    ),
    "Google's style": (
        '''
        def forward(self, x, mask):
            """Work.

            Args:
                x (Tensor): the input, of shape `(N, C_in, L)`
                mask (torch.BoolTensor, optional): what to leave out,
                    of shape (N, L)
            """
        ''',
        {"x": "float32[batch, c_in, l]", "mask": "bool[batch, l]"},
    ),
    "NumPy's style": (
        '''
        def forward(self, x):
            """Work.

            Parameters
            ----------
            x : torch.Tensor
                Tokens. Shape [B, T, 64].
            """
        ''',
        {"x": "float32[batch, t, 64]"},
    ),
    "Sphinx's style": (
        '''
        def forward(self, ids, x):
            """Work.

            :param ids: (LongTensor) of shape (batch_size, seq_len)
            :param Tensor x: :math:`(N, *, H_{in})`
            """
        ''',
        {"ids": "int64[batch, seq_len]", "x": "float32[batch, ..., h_in]"},
    ),
    "a docstring without a shape": ('def forward(self, x):\n    """x (Tensor): the input (optional)"""', {}),
    "a shape that is unpacked": (
        "def forward(self, x):\n    B, _, H, W = x.shape",
        {"x": "float32[batch, channels, h, w]"},
    ),
    "a shape that is unpacked too late": ("def forward(self, x):\n    x = self.conv(x)\n    b, n = x.size()", {}),
    "a size that is read": (
        "def forward(self, x):\n    return x.size(4)",
        {"x": "float32[batch, channels, depth, height, width]"},
    ),
    "a rank that is asked for": ("def forward(self, x):\n    assert x.dim() == 2", {"x": "float32[batch, features]"}),
    "dimensions in another order": (
        "def forward(self, x):\n    return x.permute(0, 2, 1)",
        {"x": "float32[batch, length, features]"},
    ),
    "indices": (
        "def forward(self, x):\n    return x[:, None, :, 0, 1]",
        {"x": "float32[batch, channels, height, width]"},
    ),
    "tensors that are joined": (
        "def forward(self, xs):\n    return torch.cat(xs, 1)",
        {"xs": "[float32[...], float32[...]]"},
    ),
    "a number of rounds": ("def forward(self, x, m):\n    for _ in range(m): x = x + 1", {"m": "2"}),
    "text that is compared": ("def forward(self, x, how):\n    if how == 'max': return x", {"how": "'max'"}),
    "names alone": (
        "def forward(self, input_ids, attention_mask, lengths, H): ...",
        {"input_ids": "int64[batch, length]", "attention_mask": "bool[...]", "lengths": "int64[batch]", "H": "2"},
    ),
    "a name that says nothing against an annotation": ("def forward(self, lengths: float): ...", {"lengths": "0.5"}),
    "a default": ("def forward(self, x, scale=0.5, *, eps=1e-6): ...", {"scale": "0.5", "eps": "1e-06"}),
    "nothing": ("def forward(self, x, *others, **options):\n    return self.fc(x)", {}),
}


@pytest.mark.parametrize(("code", "expected"), FIRST.values(), ids=FIRST)
def test_the_likeliest(code: str, expected: dict[str, str]) -> None:
    found = {name: text(specs[0]) for name, specs in hints(code).items()}
    assert found == expected


def test_less_likely_ones_follow() -> None:
    code = "def forward(self, x: Tensor | None, labels):\n    # x: (B, T)\n    b, t, d = x.shape"
    found = {name: [text(spec) for spec in specs] for name, specs in hints(code).items()}
    assert found["x"] == ["float32[batch, t]", "float32[batch, t, d]", "float32[...]", "None"]
    assert found["labels"] == ["float32[...]", "int64[batch]", "int64[batch, height, width]"]


def test_the_docstring_of_the_class_is_read_last() -> None:
    (forward,) = ast.parse("def forward(self, x, y):\n    # x: [batch, 3]\n    return x").body
    assert isinstance(forward, ast.FunctionDef)
    found = hints_of(forward, ["", "    # x: [batch, 3]"], "A model.\n\n    x: [batch, 4]\n    y: (batch, length)")
    first = {name: specs[0] for name, specs in found.items()}
    assert first == {"x": TensorSpec("float32", ("batch", 3)), "y": TensorSpec("float32", ("batch", "length"))}


def test_lengths_are_one_at_least() -> None:
    (lengths,) = hints("def forward(self, lengths): ...")["lengths"]
    assert isinstance(lengths, TensorSpec)
    assert lengths.low == 1


def hints(code: str) -> dict[str, tuple[Spec, ...]]:
    code = textwrap.dedent(code).strip()
    (forward,) = ast.parse(code).body
    assert isinstance(forward, ast.FunctionDef)
    return dict(hints_of(forward, code.splitlines()))


def text(spec: Spec) -> str:
    if isinstance(spec, TensorSpec):
        return f"{spec.dtype}[{', '.join(map(str, spec.shape))}]"
    if isinstance(spec, ListSpec):
        inner = ", ".join(map(text, spec.items))
        return f"({inner})" if spec.is_tuple else f"[{inner}]"
    if isinstance(spec, DictSpec):
        return "{" + ", ".join(f"{key}: {text(item)}" for key, item in spec.items.items()) + "}"
    assert isinstance(spec, Constant)
    return repr(spec.value)
