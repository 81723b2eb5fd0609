"""Reading an expression's text: within limits, and quoted briefly in errors."""

import ast
import warnings

from residual_stream.expression_functions import ExpressionError

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
