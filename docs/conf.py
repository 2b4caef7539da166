"""The documentation's site: ``make docs`` builds it, with every warning an error.

The root of the repository is the source folder, so that a link between two pages is the same on the
site and in the repository. Pages of the reference are made from the code by ``docs/site/pages.py``
each time; nothing of them is kept.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "site"))

import privclust  # noqa: E402

project = "privclust"
author = "The privclust developers"
copyright = "The privclust developers"
version = release = privclust.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "pages",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "proofs/**", "*.md"]
# Names of folders alone: a pattern such as ".*/**" would keep the themes' own files out as well.
exclude_patterns = ["README.md", "build", "dist", "src", "tests", "benchmarks", ".git", ".venv"]

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 4
nitpicky = False

autodoc_default_options = {"members": True, "inherited-members": True, "member-order": "groupwise"}
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,  # that page asks other hosts for its scripts
    "remove_config_comments": True,
    "within_subsection_order": "lessons.Lesson",
    "reset_modules": ("matplotlib", "lessons.enlarge_letters"),
    "thumbnail_size": (640, 460),
}

html_theme = "pydata_sphinx_theme"
html_title = f"privclust {release}"
html_static_path = ["site/static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "github_url": "https://github.com/privclust/privclust",
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
