"""Claims and values written as text, evaluated without `eval`.

    length(off.x[6].bank) < 0.5 and off.x[6].bank.identity < off.x[0].bank.identity

Known are numbers, `+ - * /`, comparisons, `and or not`, the functions of `FUNCTIONS`,
`all(… for k in range(6))` and its like, and paths such as `off.blocks[5].mlp_out.bank`.
A path goes to the caller's function as a list; no text reads a Python object.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from residual_stream.model.ops import Array

Value = float | bool | Array
Function = Callable[[list[Value], str], Value]


class ExpressionError(ValueError):
    """A text that says nothing here: what it found and what it needs."""


def _vectors(count: int) -> Callable[[Callable[..., float]], Function]:
    def mark(function: Callable[..., float]) -> Function:
        def checked(arguments: list[Value], said: str) -> Value:
            shapes = [a.shape for a in arguments if isinstance(a, np.ndarray)]
            if not len(arguments) == len(shapes) == count or len(set(shapes)) > 1:
                needed = "one vector" if count == 1 else "two vectors of one length"
                raise ExpressionError(f"found {said}, needs {needed}")
            return float(function(*arguments))

        return checked

    return mark


@_vectors(1)
def _length(v: Array) -> float:
    return float(np.linalg.norm(v))


@_vectors(2)
def _distance(v: Array, w: Array) -> float:
    return float(np.linalg.norm(v - w))


@_vectors(2)
def _cosine(v: Array, w: Array) -> float:
    lengths = float(np.linalg.norm(v) * np.linalg.norm(w))
    return float(v @ w) / lengths if lengths else 0.0


def _of_numbers(function: Callable[[Array], float]) -> Function:
    def checked(arguments: list[Value], said: str) -> Value:
        if not arguments or any(isinstance(a, bool) for a in arguments):
            raise ExpressionError(f"found {said}, needs numbers or a vector")
        return float(function(np.concatenate([np.atleast_1d(a) for a in arguments])))

    return checked


def _of_truths(function: Callable[[list[Value]], bool]) -> Function:
    def checked(arguments: list[Value], said: str) -> Value:
        if not arguments or not all(isinstance(a, bool) for a in arguments):
            raise ExpressionError(f"found {said}, needs comparisons")
        return function(arguments)

    return checked


def _sum(arguments: list[Value], said: str) -> Value:
    shapes = {np.shape(a) for a in arguments}
    if len(shapes) != 1 or any(isinstance(a, bool) for a in arguments):
        raise ExpressionError(f"found {said}, needs numbers or vectors of one length")
    total: Value = np.sum(np.array(arguments), axis=0)
    return total if isinstance(total, np.ndarray) else float(total)


def _abs(arguments: list[Value], said: str) -> Value:
    if len(arguments) != 1 or isinstance(arguments[0], bool | np.ndarray):
        raise ExpressionError(f"found {said}, needs one number")
    return abs(arguments[0])


FUNCTIONS: Mapping[str, Function] = {
    "abs": _abs,
    "all": _of_truths(all),
    "any": _of_truths(any),
    "cosine": _cosine,
    "distance": _distance,
    "largest": _of_numbers(np.max),
    "length": _length,
    "smallest": _of_numbers(np.min),
    "sum": _sum,
}


MAX_TEXT, MAX_NODES, MAX_NESTING = 600, 300, 24


def parsed(text: str) -> ast.expr:
    """A text's tree.

    raises  ExpressionError for one that is no expression, too long or too deep.
    """
    if len(text) > MAX_TEXT:
        raise ExpressionError(f"found {len(text)} characters, needs at most {MAX_TEXT}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(" ".join(text.split()), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError(
            f"found {short(text)}, needs an expression such as a < b and b < 2 * c"
        ) from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES or _nesting(tree) > MAX_NESTING:
        raise ExpressionError(f"found {short(text)}, needs something shorter")
    return tree


def _nesting(tree: ast.AST) -> int:
    level, nesting = [tree], 0
    while level and nesting <= MAX_NESTING:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        nesting += 1
    return nesting


def short(what: str | ast.AST) -> str:
    """A text or a part of a tree, as an error quotes it."""
    shown = repr(what if isinstance(what, str) else ast.unparse(what))
    return shown if len(shown) <= 60 else shown[:57] + "…'"


def loop(node: ast.GeneratorExp) -> tuple[str, list[ast.expr]]:
    """The name and the bounds of `… for k in range(6)`.

    raises  ExpressionError for any other loop.
    """
    match node.generators:
        case [
            ast.comprehension(
                target=ast.Name(id=name),
                iter=ast.Call(
                    func=ast.Name(id="range"),
                    args=[_] | [_, _] as bounds,
                    keywords=[],
                ),
                ifs=[],
                is_async=0,
            )
        ]:
            return name, bounds
    raise ExpressionError(f"found {short(node)}, needs … for k in range(6)")


Part = str | int
LookUp = Callable[[tuple[Part, ...]], Value]

MAX_WORK, MAX_RANGE, LARGEST = 40_000, 97, 1e9

OPERATORS: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def evaluate(text: str, look_up: LookUp, **numbers: int) -> Value:
    """What a text comes to.

    look_up:  gives the value of a path, e.g. ("off", "x", 6, "bank", "identity").
    numbers:  names that stand for whole numbers, e.g. k=3.
    returns   a number, a truth value, or a vector.
    raises    ExpressionError for anything that is not known, too long or too deep.
    """
    return _Evaluation(look_up, numbers).value(parsed(text))


def failing(text: str, look_up: LookUp) -> str:
    """The first part of a chain of `and` that is not true; "" if all are."""
    tree = parsed(text)
    is_chain = isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And)
    for part in tree.values if is_chain else [tree]:  # type: ignore[attr-defined]
        if _Evaluation(look_up, {}).value(part) is not True:
            return ast.unparse(part)
    return ""


class _Evaluation:
    """One walk through one expression."""

    def __init__(self, look_up: LookUp, numbers: Mapping[str, int]) -> None:
        self._look_up = look_up
        self._numbers = dict(numbers)
        self._work = 0

    def value(self, node: ast.AST) -> Value:
        self._work += 1
        if self._work > MAX_WORK:
            raise ExpressionError("found too much to work out, needs smaller ranges")
        rule = RULES.get(type(node))
        if rule is None:
            raise ExpressionError(
                f"found {short(node)}, needs numbers, paths, + - * /, comparisons, "
                f"and, or, not, or a function of {', '.join(sorted(FUNCTIONS))}"
            )
        return rule(self, node)

    def number(self, node: ast.AST) -> float:
        value = self.value(node)
        if isinstance(value, bool | np.ndarray):
            raise ExpressionError(f"found {short(node)}, needs a number there")
        return value

    def truth(self, node: ast.AST) -> bool:
        value = self.value(node)
        if not isinstance(value, bool):
            raise ExpressionError(f"found {short(node)}, needs a comparison there")
        return value

    def constant(self, node: ast.Constant) -> Value:
        value: Any = node.value
        if type(value) not in (int, float) or not -LARGEST <= value <= LARGEST:
            raise ExpressionError(
                f"found {short(node)}, needs a number up to {LARGEST:g}"
            )
        return float(value)

    def path(self, node: ast.AST) -> Value:
        parts: list[Part] = []
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Attribute):
                parts.append(node.attr)
            elif isinstance(node, ast.Subscript):
                parts.append(self._index(node.slice))
            else:
                raise ExpressionError(f"found {short(node)}, needs a run's name first")
            node = node.value
        if not parts and node.id in self._numbers:
            return float(self._numbers[node.id])
        return self._look_up((node.id, *reversed(parts)))

    def _index(self, node: ast.AST) -> Part:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        return self._whole(node)

    def _whole(self, node: ast.AST) -> int:
        number = self.number(node)
        if number != int(number) or not 0 <= number < MAX_RANGE:
            raise ExpressionError(
                f"found {short(node)}, needs a whole number from 0 to {MAX_RANGE - 1}"
            )
        return int(number)

    def arithmetic(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        act = OPERATORS.get(type(node.op))
        shapes = {v.shape for v in (left, right) if isinstance(v, np.ndarray)}
        if act is None or len(shapes) > 1 or bool in (type(left), type(right)):
            raise ExpressionError(
                f"found {short(node)}, needs + - * / of numbers or of vectors of one "
                "length"
            )
        if isinstance(node.op, ast.Div) and not np.all(right):
            raise ExpressionError(f"found a division by 0 in {short(node)}")
        with np.errstate(all="ignore"):
            result: Value = act(left, right)
        if not np.isfinite(result).all():
            raise ExpressionError(f"found a result without end in {short(node)}")
        return result

    def signed(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return not self.truth(node.operand)
        if isinstance(node.op, ast.USub):
            return -self.number(node.operand)
        raise ExpressionError(f"found {short(node)}, needs - or not")

    def comparison(self, node: ast.Compare) -> bool:
        sides = [self.number(side) for side in (node.left, *node.comparators)]
        acts = [OPERATORS.get(type(op)) for op in node.ops]
        if None in acts:
            raise ExpressionError(f"found {short(node)}, needs < <= > >= == or !=")
        pairs = zip(acts, sides, sides[1:], strict=False)
        return all(bool(act(a, b)) for act, a, b in pairs if act is not None)

    def logic(self, node: ast.BoolOp) -> bool:
        # all are worked out, so that a mistake in the last part is found at once
        truths = [self.truth(part) for part in node.values]
        return all(truths) if isinstance(node.op, ast.And) else any(truths)

    def call(self, node: ast.Call) -> Value:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS or node.keywords:
            raise ExpressionError(
                f"found {short(node)}, needs a function of "
                f"{', '.join(sorted(FUNCTIONS))}"
            )
        return FUNCTIONS[name](list(self._arguments(node)), short(node))

    def _arguments(self, node: ast.Call) -> Iterator[Value]:
        for argument in node.args:
            if isinstance(argument, ast.GeneratorExp):
                yield from self._over_range(argument)
            else:
                yield self.value(argument)

    def _over_range(self, node: ast.GeneratorExp) -> Iterator[Value]:
        name, bounds = loop(node)
        before = self._numbers
        for number in range(*[self._whole(bound) for bound in bounds]):
            self._numbers = {**before, name: number}
            yield self.value(node.elt)
        self._numbers = before


RULES: Mapping[type[ast.AST], Callable[[_Evaluation, Any], Value]] = {
    ast.Constant: _Evaluation.constant,
    ast.Name: _Evaluation.path,
    ast.Attribute: _Evaluation.path,
    ast.Subscript: _Evaluation.path,
    ast.BinOp: _Evaluation.arithmetic,
    ast.UnaryOp: _Evaluation.signed,
    ast.Compare: _Evaluation.comparison,
    ast.BoolOp: _Evaluation.logic,
    ast.Call: _Evaluation.call,
}
