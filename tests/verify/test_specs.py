"""How inputs are written down, and what comes of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exportlint.verify.dimensions import SpecError, size_of
from exportlint.verify.reading import DTYPES, is_tensor, read_specs
from exportlint.verify.specs import Constant, DictSpec, ListSpec, Spec, TensorSpec, tensors_in


@pytest.mark.parametrize(
    ("text", "spec", "sizes"),
    [
        (
            "float32[batch=2, 3, 224, 224]",
            TensorSpec("float32", ("batch", 3, 224, 224)),
            {"batch": 2},
        ),
        ("int64[batch=2, seq=16] < 1000", TensorSpec("int64", ("batch", "seq"), None, 1000), {"batch": 2, "seq": 16}),
        ("int64[4] >= 0 < 10", TensorSpec("int64", (4,), 0, 10), {}),
        ("float32[4]>=-1.5", TensorSpec("float32", (4,), -1.5), {}),
        ("bool[batch = 2, 16]", TensorSpec("bool", ("batch", 16)), {"batch": 2}),
        ("float32[]", TensorSpec("float32", ()), {}),
        ("torch.bfloat16[2]", TensorSpec("bfloat16", (2,)), {}),
        ("long[2]", TensorSpec("int64", (2,)), {}),
        ("float32[2 * batch, batch=3]", TensorSpec("float32", ("2*batch", "batch")), {"batch": 3}),
        ("float32[(seq=4)//2 + 1]", TensorSpec("float32", ("seq//2+1",)), {"seq": 4}),
        ("float32[2*3 + 1]", TensorSpec("float32", (7,)), {}),
        ("None", Constant(None), {}),
        ("'a = [b]'", Constant("a = [b]"), {}),
        (
            "(bool[2], [1, None])",
            ListSpec((TensorSpec("bool", (2,)), ListSpec((Constant(1), Constant(None)))), True),
            {},
        ),
        ("{'ids': int64[2]}", DictSpec({"ids": TensorSpec("int64", (2,))}), {}),
        (["float32[n=2]", "float32[n]"], ListSpec((TensorSpec("float32", ("n",)),) * 2), {"n": 2}),
        ({"flag": True, "scale": 0.5}, DictSpec({"flag": Constant(True), "scale": Constant(0.5)}), {}),
    ],
)
def test_specs(text: object, spec: Spec, sizes: dict[str, int]) -> None:
    assert read_specs([text], {}) == ((spec,), {}, sizes)


def test_a_size_holds_for_all_inputs_wherever_it_stands() -> None:
    arguments, keywords, sizes = read_specs(["float32[batch, 3]"], {"mask": "bool[batch=4]"})
    assert arguments == (TensorSpec("float32", ("batch", 3)),)
    assert keywords == {"mask": TensorSpec("bool", ("batch",))}
    assert sizes == {"batch": 4}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("float23[2]", "`float23` is not a dtype, did you mean `float32`?"),
        ("tensor[2]", "`tensor` is not a dtype: write one such as `float32`"),
        ("float32[2", '`float32[2` cannot be read: a tensor is written "float32[batch=2, 3]"'),
        ("float32[2]]", "`float32[2]]` cannot be read"),
        ("float32[batch]", "the dimension `batch` has no size: write `batch=2` where it is first used"),
        ("(float32[batch=2], int64[bacth])", "`bacth=2` where it is first used, or did you mean `batch`?"),
        ("float32[n=2, n=3]", "the dimension `n` has the sizes 2 and 3: write one of them, once"),
        ("float32[n=x]", "the size of `n` is a number: write `n=2`, not `n=x`"),
        ("float32[2.5]", "`2.5` is not a size: sizes are numbers, names such as `batch=2`, and"),
        ("float32[-1]", "`-1` is not a size"),
        ("float32[n=2, n-5]", "the size `n-5` is -3: sizes are 0 or more"),
        ("float32[n=2, 4//(n-2)]", "the size `4//(n-2)` divides by zero"),
        ("float32[1:2]", "`1:2` is not a size"),
        ("int64[2] > 3", "`int64[2] > 3`: write limits after the tensor, as `>= 0`, `< 1000`"),
        ("0 <= int64[2]", "write limits after the tensor"),
        ("int64[2] < 1e999", "write limits after the tensor"),
        ("bool[2] < 1", "`bool[2] < 1`: there are no limits for bool, leave them out"),
        ("int64[2] >= 4 < 4", "no number is at least 4 and less than 4"),
        ("relu", "`relu` is not an input spec: write text as \"'relu'\""),
        ("float32", '`float32` is not an input spec: write "float32[2, 3]"'),
        ("{1, 2}", "`{1, 2}` is not an input spec"),
        ("f(2)", "`f(2)` is not an input spec"),
        ("", "`` cannot be read"),
        ("two\nlines[", "`two lines[` cannot be read"),
    ],
)
def test_errors_say_what_to_write(text: str, error: str) -> None:
    with pytest.raises(SpecError, match=re.escape(error)) as raised:
        read_specs([text], {})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "is_one"), [("float32[2", True), ("torch.x[2]", True), ("relu", False), ("a[2]", False)]
)
def test_what_is_meant_as_a_tensor(text: str, is_one: bool) -> None:
    assert is_tensor(text) == is_one


NAMES = st.sampled_from(["batch", "seq", "n"])
SIZES = (
    st.integers(0, 9)
    | NAMES
    | st.builds("{}*{}".format, st.integers(1, 4), NAMES)
    | st.builds("({}+{})//2".format, NAMES, st.integers(0, 9))
)
BOUNDS = st.sampled_from([(None, None), (0, None), (None, 7), (-2, 5), (-0.5, 1.5)])


@st.composite
def tensors(draw: st.DrawFn) -> TensorSpec:
    dtype = draw(st.sampled_from(DTYPES))
    low, high = (None, None) if dtype[0] in "bc" else draw(BOUNDS)
    return TensorSpec(dtype, tuple(draw(st.lists(SIZES, max_size=4))), low, high)


SPECS: st.SearchStrategy[Any] = st.recursive(
    tensors()
    | st.builds(
        Constant,
        st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    ),
    lambda inner: (
        st.builds(ListSpec, st.lists(inner, max_size=3).map(tuple), st.booleans())
        | st.builds(DictSpec, st.dictionaries(st.text(max_size=5), inner, max_size=3))
    ),
    max_leaves=6,
)


@given(SPECS)
def test_what_is_written_is_read_again(spec: Spec) -> None:
    sizes = {"batch": 2, "seq": 16, "n": 1}
    given_sizes = f"float32[{', '.join(f'{name}={size}' for name, size in sizes.items())}]"
    (_, read), _, found = read_specs([given_sizes, str(spec)], {})
    assert read == spec
    assert found == sizes
    assert all(size_of(size, sizes) >= 0 for tensor in tensors_in([read]) for size in tensor.shape)


@given(st.text(st.characters(codec="ascii"), max_size=12) | st.text("float32[]()=<>-+*/%,. 'n1{}:", max_size=16))
def test_any_text_is_a_spec_or_one_line(text: str) -> None:
    problem = ""
    try:
        read_specs([text], {})
    except SpecError as error:
        problem = str(error)
    assert "\n" not in problem
