"""Completion of `NAME=STATE` in bash, which takes a word apart at `=` and adds a blank to what it completes."""

from __future__ import annotations

from importlib import import_module

# The words that bash has taken apart are joined where no blank stands between them. Of each proposal only what follows
# the last `=` or `:` is inserted, as bash keeps what stands before it. Blanks and signs in it are escaped.
SCRIPT = r"""
%(complete_func)s() {
    local IFS=$'\n' line="${COMP_LINE:0:COMP_POINT}" words=() word kept proposal
    for word in "${COMP_WORDS[@]:0:COMP_CWORD}"; do
        if [[ ${#words[@]} -eq 0 || $line == [[:space:]]* ]]; then
            words+=("$word")
        else
            words[${#words[@]}-1]+="$word"
        fi
        line="${line#"${line%%%%[![:space:]]*}"}"
        line="${line#"$word"}"
    done
    if [[ $line == [[:space:]]* ]]; then
        words+=("${line#"${line%%%%[![:space:]]*}"}")
    else
        words[${#words[@]}-1]+="$line"
    fi
    local last=$((${#words[@]} - 1)) is_quoted=""
    word="${words[last]}"
    [[ $word == --*=* ]] && word="${word#*=}"
    kept="${word%%"${word##*[=:]}"}"
    if [[ $word == [\'\"]* ]]; then
        is_quoted=yes kept=""
    fi
    COMPREPLY=()
    for proposal in $( env COMP_WORDS="${words[*]}" COMP_CWORD=$last %(autocomplete_var)s=complete_bash $1 ); do
        proposal="${proposal#"$kept"}"
        [[ $is_quoted ]] || printf -v proposal %%q "$proposal"
        COMPREPLY+=("$proposal")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/] ]]; then
        compopt -o nospace
    fi
    return 0
}

complete -o default -F %(complete_func)s %(prog_name)s
"""


def replace_bash_script() -> None:
    """Let `--install-completion` and `--show-completion` give this script in place of Typer's."""
    scripts = getattr(import_module("typer._completion_shared"), "_completion_scripts", {})
    if "bash" in scripts:
        scripts["bash"] = SCRIPT
