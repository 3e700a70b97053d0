"""Variables by which programs load code: an approved command sees none of their values that lead into a workspace."""

from __future__ import annotations

import os
import re

from memory.base.programs import absolute_folders, passes

from .pins.words import words_of

# Files of the workspace that they name are not covered by an approval.
_FOLDERS = re.compile(
    r"(?:LD_LIBRARY|DYLD_(?:FALLBACK_)?(?:LIBRARY|FRAMEWORK)|PYTHON|NODE_|GEM_|CLASS|CD|GO|AWK|AWKLIB|GCONV_"
    r"|JULIA_LOAD_|GUILE_LOAD_(?:COMPILED_)?)_?PATH|PERL5?LIB|RUBYLIB|R_LIBS(?:_USER)?|PHP_INI_SCAN_DIR"
    r"|OPENSSL_(?:ENGINES|MODULES)",
    re.ASCII,
)
_OTHERS = re.compile(
    r"(?:LD_(?:PRELOAD|AUDIT)|DYLD_INSERT_LIBRARIES|BASH_ENV|ENV|ZDOTDIR|SHELL|PYTHON(?:HOME|STARTUP|USERBASE|BREAKPOINT)"
    r"|NODE_(?:OPTIONS|EXTRA_CA_CERTS)|PERL5(?:OPT|DB)|RUBYOPT|GEM_HOME|BUNDLE_\w+|LUA_(?:PATH|CPATH|INIT)\w*|TCLLIBPATH"
    r"|_JAVA_OPTIONS|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|JAVA_HOME|(?:MAVEN|GRADLE)_OPTS|MAKE(?:FILES|FLAGS)|GIT_\w+"
    r"|(?:SSH|SUDO)_ASKPASS|(?:MAN|GIT_)?PAGER|LESS(?:OPEN|CLOSE)|EDITOR|VISUAL|BROWSER|PHPRC|OPENSSL_CONF"
    r"|RUSTC(?:_WRAPPER)?|JULIA_PROJECT|R_(?:PROFILE|ENVIRON)\w*|PSQLRC|(?:AWS_CONFIG|PIP_CONFIG)_FILE|KUBECONFIG"
    r"|DOCKER_CONFIG|(?i:npm_config_\w+))",
    re.ASCII,
)


def loads(name: str) -> bool:
    """Return whether the value of a variable decides what programs load and run beyond the text of the command."""
    return (_FOLDERS.fullmatch(name) or _OTHERS.fullmatch(name)) is not None


def kept_outside(name: str, value: str, root: str | os.PathLike[str]) -> str | None:
    """Return the part of such a variable's value that a command in the workspace `root` may see; None: nothing.

    Of lists of folders, the absolute ones outside the workspace are kept, as for PATH. Any other value is kept only as
    a whole, if nothing in it names a file of the workspace or a path relative to where the command runs.
    """
    if _FOLDERS.fullmatch(name):
        return absolute_folders(value, outside=root) or None
    top = os.path.realpath(root)
    return None if any(_leads_in(word.text, top) for word in words_of(value)) else value


def _leads_in(word: str, root: str) -> bool:
    if os.path.isabs(word):
        return passes(word, root)
    return "/" in word or word in (".", "..") or os.path.lexists(os.path.join(root, word))
