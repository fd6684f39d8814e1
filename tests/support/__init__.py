"""What tests share: `drawn` reads and draws fixtures, `claims` says which test keeps which promise, `pages` makes the docs that are
generated, and `ops` calls operators and compares them with JAX."""
