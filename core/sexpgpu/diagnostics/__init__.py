"""What is said about programs, and how it is shown.

`finding` has the words: a rule, a finding at a form, a diagnostic at a span. `rules` is the registry, one line a code;
`pages/CODE.md` explains each of them to people, and `page` reads those. `ignore` silences what a file or a project asks not to
hear. `formats` turns diagnostics into text, one module a format; `excerpt` draws the source with its underlines, `columns` knows
how wide characters are, `colour` names the colours.
"""
