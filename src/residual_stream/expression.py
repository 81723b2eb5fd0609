"""Claims and values written as text, evaluated without `eval`.

    length(off.x[6].bank) < 0.5 and off.x[6].bank.identity < off.x[0].bank.identity

Known are numbers, `+ - * /`, comparisons, `and or not`, the functions of `FUNCTIONS`,
`all(… for k in range(6))` and its like, and paths such as `off.blocks[5].mlp_out.bank`.
A path goes to the caller's function as a list; no text reads a Python object.
"""

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from residual_stream.expression_functions import FUNCTIONS, ExpressionError, Value
from residual_stream.expression_text import loop, parsed, short

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
