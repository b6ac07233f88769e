"""How Sphinx builds the site: `make docs` writes it to out/site."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "extensions"), str(HERE.parent / "tools")]


import api_pages  # noqa: E402
import hedgerow  # noqa: E402

api_pages.write()

project = "Hedgerow"
author = copyright = "The Hedgerow authors"  # noqa: A001
version = release = hedgerow.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "generated_pages",
    "mathml",
    "public_names",
]
exclude_patterns = ["note"]
highlight_language = "none"
smartquotes = False
python_maximum_signature_line_length = 80
toc_object_entries_show_parents = "hide"

autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "Vector", "Index", "Preset", "Lipschitz")
}
autodoc_typehints_format = "short"
autosummary_generate = False
napoleon_use_ivar = True
napoleon_use_rtype = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

sphinx_gallery_conf = {
    "reset_modules": ("gallery_style.style_gallery",),
    "thumbnail_size": (600, 360),
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "run_stale_examples": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
}

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_title = "Hedgerow"
html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_favicon = html_logo = "static/hedgerow.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "Hedgerow"},
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 1,
    "show_prev_next": True,
    "show_toc_level": 1,
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}
