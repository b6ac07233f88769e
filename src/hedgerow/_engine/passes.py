"""Numba's passes over a plain kernel, each without what such code does not need."""

from __future__ import annotations

from typing import Any

from numba.core import typed_passes, typeinfer, untyped_passes
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.errors import TypingError
from numba.core.interpreter import (
    Interpreter,
    peep_hole_delete_with_exit,
    peep_hole_fuse_dict_add_updates,
)
from numba.core.ir_utils import build_definitions
from numba.core.rewrites.registry import rewrite_registry
from numba.core.ssa import reconstruct_ssa

Reading: Any = untyped_passes.TranslateByteCode
Rewriting: Any = untyped_passes.GenericRewrites
Assignments: Any = untyped_passes.ReconstructSSA
Typing: Any = typed_passes.NopythonTypeInference
Phis: Any = typed_passes.PreLowerStripPhis
Base: Any = Interpreter
Network: Any = typeinfer.ConstraintNetwork
UNUSED = (peep_hole_delete_with_exit, peep_hole_fuse_dict_add_updates)
"""What numba looks for in Python's code of `with` and of dictionaries."""


class PlainInterpreter(Base):  # type: ignore[misc]
    """Numba's reading of Python's code, of kernels without `with` and dictionaries."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        """Change what was read."""
        return super().post_process([one for one in peepholes if one not in UNUSED], func_ir)


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainReading(Reading):  # type: ignore[misc]
    """Read Python's code."""

    _name = "hedgerow's reading"

    def run_pass(self, state: Any) -> bool:
        """Make numba's code of it."""
        state["func_ir"] = PlainInterpreter(state["func_id"]).interpret(state["bc"])
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainRewriting(Rewriting):  # type: ignore[misc]
    """Rewrite parts, without asking then how long each variable lives."""

    _name = "hedgerow's rewriting"

    def run_pass(self, state: Any) -> bool:
        """Change the code."""
        blocks = state.func_ir.blocks
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite, left = kind(state), list(blocks.items())
            while left:
                label, block = left.pop()
                if rewrite.match(state.func_ir, block, state.typemap, state.calltypes):
                    blocks[label] = rewrite.apply()
                    left.append((label, blocks[label]))
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class OneAssignment(Assignments):  # type: ignore[misc]
    """Give each variable one assignment, likewise."""

    _name = "hedgerow's ssa"

    def run_pass(self, state: Any) -> bool:
        """Change the code."""
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


class Constraints(Network):  # type: ignore[misc]
    """What the types must fulfil; numba collects warnings anew for each."""

    def propagate(self, infer: Any) -> list[Any]:
        """Find types; return the errors."""
        found = []
        for constraint in self.constraints:
            try:
                constraint(infer)
            except TypingError as error:
                found.append(TypingError(str(error), loc=constraint.loc, highlighting=False))
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class PlainTyping(Typing):  # type: ignore[misc]
    """Find the types."""

    _name = "hedgerow's typing"

    def run_pass(self, state: Any) -> bool:
        """Find them."""
        code, context = state.func_ir, state.typingctx
        infer: Any = typeinfer.TypeInferer(context, code, None)
        infer.constraints = Constraints()
        with context.callstack.register(state.targetctx.target, infer, code.func_id, state.args):
            for k, (name, kind) in enumerate(zip(code.arg_names, state.args, strict=True)):
                infer.seed_argument(name, k, kind)
            infer.seed_return(state.return_type)
            infer.build_constraint()
            if not self._is_typed_at_once(infer):
                infer.propagate()
            state.typemap, state.return_type, state.calltypes = infer.unify()
        return True

    def _is_typed_at_once(self, infer: Any) -> bool:
        """Find the types of code without loops; numba checks again whether they have changed."""
        if compute_cfg_from_blocks(infer.func_ir.blocks).loops():
            return False
        errors, found = infer.constraints.propagate(infer), infer.typevars.values()
        return not errors and all(one.defined and one.type.is_precise() for one in found)


@register_pass(mutates_CFG=False, analysis_only=False)
class NoPhis(Phis):  # type: ignore[misc]
    """Assign to variables where branches meet."""

    _name = "hedgerow's phis"

    def run_pass(self, state: Any) -> bool:
        """Change the code."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


PASSES = (
    PlainReading,
    untyped_passes.FixupArgs,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    PlainRewriting,
    untyped_passes.InlineInlinables,
    OneAssignment,
    PlainTyping,
    NoPhis,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)
