"""The language server: the protocol around what `sexpgpu.analyse` and `sexpgpu.ide` know. It has no analysis of its own.

One thread reads messages and one writes them (`transport`). Between them a loop answers (`server`, `protocol`), which is never kept
waiting: whatever touches an analysis is a job of the one worker (`worker`), where all of them live (`analyses`), and `schedule`
decides when. `documents` holds the editor's texts as immutable snapshots, `uris` their names; `convert` alone knows of positions
in the protocol's units, `client` of what the client can. What cannot wait is asked of the last analyses (`prompt`). Then a module
for each group of requests: `diagnostics` and, of files that are not open, `everywhere`, `hover`, `completion`, `signature`,
`navigation`, `references` and `calls` (which `reach` leads to files that are not open), `structure`, `workspace`, `actions` and
`applying`, `tokens`, `hints`, `lenses`, and `watching` for what changes outside of documents, after which `refresh` has the
client ask again.
`settings` is the table of the client's settings, `configuration` where they come from; `views` chooses how a document is seen.
`commands` answers what is executed; `runs` keeps the runs that it starts, each a process (`runs_child`) that is reported on
(`runs_report`) and stopped when the server has gone (`runs_guard`).
"""
