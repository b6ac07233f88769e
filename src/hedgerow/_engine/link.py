"""LLVM's code of kernels: each written down once, linked where it is called, optimised as a whole.

numba by itself links the callees of a callee into it, and the callee into its caller: the code of a
kernel deep down is copied many times. Here the kernel that Python calls is linked with all that it
needs, each part once.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from llvmlite import binding  # type: ignore[import-untyped]
from numba.core import config as numba_config
from numba.core.codegen import JITCodeLibrary

Library: Any = JITCodeLibrary
config: Any = numba_config
LEVEL = 1
"""How hard LLVM tries at most: 3 takes a quarter longer, and rounds as long."""


class Part:
    """The code of one function, to be linked.

    Args:
        module: LLVM's.

    """

    def __init__(self, module: Any):
        self.module = module

    @cached_property
    def bitcode(self) -> bytes:
        """The code as it is kept on disk."""
        written: bytes = self.module.as_bitcode()
        return written

    @cached_property
    def name(self) -> str:
        """The functions that it defines."""
        return " ".join(f.name for f in self.module.functions if not f.is_declaration)


def link(module: Any, parts: list[Part]) -> None:
    """Link parts into a module, callers first: LLVM leaves out what nothing calls yet."""
    for part in reversed(parts):
        module.link_in(part.module, preserve=True)


class KernelLibrary(Library):  # type: ignore[misc]
    """A kernel, and the parts that it calls."""

    borrows = False
    """Whether it counts no references (`_engine/reference_counts.py`)."""

    def __init__(self, codegen: Any, name: str):
        super().__init__(codegen, name)
        self.parts: dict[str, Part] = {}  # callees first

    def add_linking_library(self, library: Any) -> None:
        """Take in a function that is called."""
        library._ensure_finalized()
        self._reload_init.update(library._reload_init)
        if isinstance(library, InnerLibrary):
            self.parts |= library.parts
        else:
            self._linking_libraries.append(library)
            self.add_part(Part(library._get_module_for_linking()))

    def add_part(self, part: Part) -> None:
        """Take in code."""
        self.parts[part.name] = part

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """Optimise it once, at LLVM's first level.

        The higher levels and unrolled loops double the code and make no kernel faster: those that
        count have their loops eight numbers wide (`_engine/simd.py`). So with numba's first turn,
        which prepares what counts references.
        """
        options = binding.create_pipeline_tuning_options(min(int(config.OPT), LEVEL))
        options.loop_unrolling = False
        options.loop_vectorization = bool(config.LOOP_VECTORIZE)
        options.slp_vectorization = bool(config.SLP_VECTORIZE)
        builder: Any = binding.create_pass_builder(self._codegen._tm, options)
        passes: Any = builder.getModulePassManager()
        passes.add_refprune_pass()
        passes.run(self._final_module, builder)

    def finalize(self) -> None:
        """Link the parts, and make machine code of all."""
        self._codegen._check_llvm_bugs()
        link(self._final_module, list(self.parts.values()))
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()


class InnerLibrary(KernelLibrary):
    """A kernel that is only called by others: one part more."""

    _shared_module: Any

    def add_linking_library(self, library: Any) -> None:
        """Take in a function that is called."""
        super().add_linking_library(library)
        self._dynamic_globals += library._dynamic_globals

    def finalize(self) -> None:
        """Drop what is never used: it may hold addresses of this process."""
        passes: Any = binding.create_new_module_pass_manager()
        passes.add_sroa_pass()
        passes.add_dead_code_elimination_pass()
        passes.add_global_dead_code_eliminate_pass()
        passes.run(self._final_module, self._codegen._pass_builder())
        self._finalize_dynamic_globals()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = "linkonce_odr"
        self.add_part(Part(self._final_module))
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """Return all parts in one, for Python."""
        if self._shared_module is None:
            *others, own = self.parts.values()
            whole = self._shared_module = own.module.clone()
            link(whole, others)
        return self._shared_module
