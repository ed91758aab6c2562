# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memic authors

"""Configuration of sphinx."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from man_pages import PAGES  # noqa: E402  pylint: disable=wrong-import-position

project = "dpdk-memic"
copyright = "2026 The dpdk-memic authors"  # pylint: disable=redefined-builtin
author = "The dpdk-memic authors"
with open(os.path.join(HERE, "../../VERSION"), encoding="ascii") as file:
    version = release = file.read().strip()

root_doc = "index"
highlight_language = "none"
# nothing in a page is fetched from elsewhere
html_theme = "alabaster"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"page_width": "1100px", "sidebar_width": "240px", "font_family": "sans-serif"}

man_make_section_directory = False
man_pages = [(f"man/{document}", name, description, author, section)
             for document, (section, names) in PAGES.items()
             for name, description in names.items()]
