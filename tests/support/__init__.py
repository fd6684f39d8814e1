"""What tests share: `drawn` reads and draws fixtures, `claims` says which test keeps which promise, `pages` makes the docs that
are generated, `documents` plays pages that are executed and `language_tables` makes the tables of one, `ops` calls operators and
compares them with JAX, `command` runs the command line in a process of its own, `diagnosed` makes diagnostics by hand, `editor`
is one, with a language server behind it, and `golden` compares text with a file."""
