"""What tests share. `drawn` reads and draws fixtures, `claims` says which promise which test keeps, `pages` makes generated docs."""
