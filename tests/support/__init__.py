"""What tests share: `drawn` reads and draws fixtures, `claims` says which test keeps which promise, `pages` makes the generated docs,
`ops` calls operators and compares them with JAX."""
