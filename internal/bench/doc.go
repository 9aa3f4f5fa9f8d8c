// Command bench measures how fast the server answers, beside what it could be
// at best and what else one could use.
//
//	go run ./internal/bench
//
// prints a table of requests and one of what each store needs. -help lists the
// flags: other corpora (-sizes, -large), fewer workloads, longer runs, and
// Markdown as in the README.
//
// # What is measured
//
// The workloads are W1 one case with its neighbors, W2 the ten cases most
// similar to one, W3 the recurrence chain of a case (W3L: the longest chain of
// the corpus, its first 50 members), W4 the newest 20 cases with a factor and a
// component, and how many there are, W5 a set of cases counted by factor,
// component and year, and W6 the newest 10 cases with two words. Each has up to
// 256 different requests, drawn at random about cases of the corpus.
//
// The corpora are those of package fixture: 2 KB a record, 20 KB where the
// name ends in -full. Seeds are fixed, so everybody measures the same requests
// on the same records.
//
// The contestants get the same requests over HTTP on the loopback device, on
// connections that stay open:
//
//	ours    graph.NewHandler over a bbolt file, garbage collected as by the server
//	bare    net/http, with the bytes of each answer ready: what HTTP alone needs
//	gqlgen  package constant, a gqlgen server with each answer ready as Go
//	        values: what GraphQL alone needs
//	SQLite  tables, indexes and statements made for these six workloads, behind
//	        net/http without GraphQL: the module in the folder sqlite, which
//	        needs cgo; where it cannot be built it takes no part
//
// Before anything is timed, all answers of ours are compared with those of an
// oracle that computes them from the incidents in plain loops, and all answers
// of the others with ours. While it is timed, every answer must be a success
// and as long as before.
//
// Each contestant is a process of its own, and so is the client, which sends
// the next request when the last one is answered. All share one machine.
// Contestants take turns, several times; each figure is the median of its runs,
// each ratio that of the ratios of one turn.
// In the mode uncached each request differs from the one before, and ours has no
// response cache; in the mode repeated eight requests come again and again, and
// it has one.
//
// # How to read it
//
// Compare the ratios, not the requests a second: those belong to the machine,
// the ratios less so. CPU is the server's processor time for one request, for
// ours, bare, gqlgen and SQLite in this order; it is the steadiest figure where
// the machine is not quiet. p50, p99, CPU and allocs are those of ours. With 8
// connections on few processors p99 is mostly the time in the queue.
//
// In the second table, load is the import of all records into new files, those
// of the text index included, which its column gives alone, open the time from the start of a server until it
// can answer, heap what is live in it after the measurements, and peak the most
// memory that the process had, pages of mapped files included, which the system
// takes back when it needs them. SQLite's heap is not Go's: see its peak.
//
// For profiles and for benchstat the same requests run without a network:
//
//	go test ./internal/bench -run '^$' -bench Serve -records 100000
package main
