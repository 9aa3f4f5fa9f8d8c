// Package main is the incidentgraph program: it reads flags and environment,
// opens the store, builds the index and serves the graph, and it carries the
// commands that fill, read, check, copy and compact a store. One file a
// command.
//
// Nothing here decides what the graph says; this package wires the parts
// together and owns their life cycle. A server locks its store first, so that
// a second one is told who has it; then it listens, so that probes are
// answered while it loads; then it makes the index and shows the graph. It
// stops in the other order: the requests in flight are answered, the commands
// that it works for are finished, the socket is removed, the store is closed.
//
// # Beside a running server
//
// bbolt gives a file to one process at a time. A server therefore makes a Unix
// socket beside its store, FILE.sock, and import, export, check and backup
// that find the store taken let the server do the work (control.go, frame.go)
// and print what they print without one. An import's input is read where the
// command runs, with its rights, and travels over the socket; what is stored
// goes through the server's own ingester, so readers see each change whole.
//
// # Observability
//
// Each request is one line of the log and one span (observe.go), and counts in
// the metrics (metrics.go). None of them holds variables, texts of documents,
// bodies or query strings. What a client can choose in them, such as an
// operation's name, is cut in length and never a label.
//
// # Threat model
//
// What is to be protected: the records (that they stay as they were stored,
// and, where a server is not open to everybody, that only its readers see
// them), the server's time and memory, the machine's files, and what readers
// trust: that an answer shows one state of the store.
//
// Who can reach what:
//
//   - Anybody who reaches --addr may read all of the graph and nothing else.
//     No operation of the public address changes anything. Reading needs no
//     login: who is not to read must not reach the address.
//   - Pages in a browser whose user reaches the address can send requests, but
//     read answers only where --cors-origin lists their origin. Operations come
//     by POST of application/json, which browsers ask about first, or by GET,
//     which is for queries alone, so a page can set off no effect. A page
//     whose name is made to lead to this machine (DNS rebinding) is refused by
//     its Host header on a loopback address, and elsewhere where
//     --allowed-host is given. The server's own pages load nothing from
//     others, run no inline script, and are shown in no frame.
//   - Who reaches --admin-addr sees metrics and profiles, which tell about
//     code and load and, in a heap profile, nothing of the records' texts. It
//     is for operators: give it an address that only they reach. Without it,
//     profiles are nowhere, and metrics on the public address.
//   - Who may write to the store's folder, or to the socket, which has the mode
//     0600, is the owner: imports, exports and backups need no more rights.
//     The socket takes no path: a command sends bytes, so a server that has
//     more rights than the command opens no file for it.
//   - Who controls a file to be imported controls records: texts of any kind,
//     which the graph serves as text and no page of the server as markup.
//   - Who can damage the store's file can make the server refuse it, or stop
//     reading. Nothing in the file is trusted before it is checked (package
//     boltstore).
//
// What bounds the work of the public address:
//
//   - connections: --max-connections, 32 KiB of header, 10 s for it to arrive,
//     2 min idle, 60 s for an answer to be taken;
//   - bodies: --max-body-bytes, --timeout to arrive; a few seconds where no
//     body belongs;
//   - documents, before anything runs: bytes, tokens, fields, aliases, root
//     fields, depth and cost, each a flag that can't be switched off; with
//     --only-trusted no document but those of a file that its owner wrote;
//   - operations: --timeout, --max-response-bytes, --max-concurrent; beyond
//     that 503 with Retry-After, and a slow reader of an answer holds no
//     operation;
//   - answers that are kept: --response-cache;
//   - logs and metrics: lengths of what clients choose, labels from fixed
//     lists.
//
// A panic costs one answer, which names the request and not the cause. An
// error that clients did not make is logged and shown as "internal error".
//
// Out of scope: encryption and the addresses of clients (a proxy before the
// server has both, and may limit by client), access of single readers to
// single records, floods of packets, other processes of the same user, and
// whoever controls the machine. Backups are as private as the store, and not
// encrypted.
package main
