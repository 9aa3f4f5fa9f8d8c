package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"incidentgraph/internal/fixture"
)

// long makes the fault and soak tests as long as they are worth before a
// release: INCIDENTGRAPH_LONG=1 go test ./server -timeout 30m
func long() bool { return os.Getenv("INCIDENTGRAPH_LONG") != "" }

// rounds is how often a test of random faults is repeated.
func rounds(normally, atLength int) int {
	switch {
	case long():
		return atLength
	case testing.Short():
		return (normally + 3) / 4
	}
	return normally
}

// writeRecords writes n generated records as JSON Lines.
func writeRecords(t testing.TB, path string, seed uint64, n int, size fixture.Size) string {
	t.Helper()
	var b bytes.Buffer
	for r := range fixture.Records(seed, n, size) {
		b.Write(r)
		b.WriteByte('\n')
	}
	return writeFile(t, path, b.String())
}

// filledStore makes a store of generated records, and gives what it exports.
func filledStore(t testing.TB, n int) (db, exported string) {
	t.Helper()
	dir := t.TempDir()
	db = filepath.Join(dir, "case.db")
	mustRun(t, "import", "--db", db, writeRecords(t, filepath.Join(dir, "records.jsonl"), 1, n, fixture.Lite))
	return db, mustRun(t, "export", "--db", db)
}

// broken runs a command on a damaged file. It may fail, with an error that
// says something, but never in another way, and it leaves the file as it is.
func broken(t *testing.T, what string, file string, args ...string) runResult {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := runCommand(t, nil, args...)
	switch {
	case r.status != exitOK && r.status != exitFailed:
		t.Errorf("%s: %q ends with status %d\n%s%s", what, args, r.status, r.stdout, r.stderr)
	case strings.Contains(r.stderr, "panic") || strings.Contains(r.stderr, "goroutine "):
		t.Errorf("%s: %q panics:\n%s", what, args, r.stderr)
	case r.status == exitFailed && !strings.HasPrefix(r.stderr, programName+": "):
		t.Errorf("%s: %q fails without a reason:\n%s", what, args, r.stderr)
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("%s: %q has changed the file (%v)", what, args, err)
	}
	return r
}

// fails runs all commands on a file that none of them can use.
func fails(t *testing.T, what, file, want string) {
	t.Helper()
	record := writeFile(t, filepath.Join(t.TempDir(), "a.json"), `{"id":"NEW-1"}`)
	for _, args := range [][]string{
		{"serve", "--addr", "127.0.0.1:0", "--db", file},
		{"import", "--db", file, record},
		{"export", "--db", file},
		{"check", "--db", file},
		{"compact", "--db", file},
		{"backup", "--db", file, "-o", file + ".backup"},
		{"restore", "--db", file + ".restored", file},
	} {
		r := broken(t, what, file, args...)
		if r.status != exitFailed || !strings.Contains(r.stdout+r.stderr, want) {
			t.Errorf("%s: %q ends with status %d and says %q, want %d and %q", what, args[0], r.status, r.stdout+r.stderr, exitFailed, want)
		}
	}
	for _, made := range []string{file + ".backup", file + ".restored", file + ".sock"} {
		if _, err := os.Lstat(made); err == nil {
			t.Errorf("%s: %s was made", what, made)
		}
	}
}

func TestNoStore(t *testing.T) {
	dir := t.TempDir()
	fails(t, "a text", writeFile(t, filepath.Join(dir, "text.db"), strings.Repeat("no store at all\n", 1000)), "not an incidentgraph store")
	fails(t, "a short text", writeFile(t, filepath.Join(dir, "short.db"), "no store"), "not an incidentgraph store")
	fails(t, "an empty file", writeFile(t, filepath.Join(dir, "empty.db"), ""), "not an incidentgraph store")
	for _, args := range [][]string{{"export"}, {"check"}, {"serve", "--addr", "127.0.0.1:0"}} {
		if r := runCommand(t, nil, append(args, "--db", dir)...); r.status != exitFailed || !strings.Contains(r.stderr, "directory") {
			t.Errorf("a folder: %q ends with status %d and says %q", args, r.status, r.stderr)
		}
	}
}

// TestOtherFormat gives a store the number of another format version.
func TestOtherFormat(t *testing.T) {
	db, _ := filledStore(t, 20)
	original, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[uint32]string{
		0:   "export it with the incidentgraph that wrote it",
		2:   "open it with a newer incidentgraph",
		999: "the file has 999",
	} {
		file := filepath.Join(t.TempDir(), "other.db")
		writeFile(t, file, string(withFormat(original, version)))
		fails(t, fmt.Sprintf("format %d", version), file, want)
	}
}

// withFormat writes another version into the entry "format" of a file: see
// the layout in package boltstore.
func withFormat(file []byte, version uint32) []byte {
	const name = "incidentgraph\x00"
	file = slices.Clone(file)
	for at := 0; ; at++ {
		i := bytes.Index(file[at:], []byte(name))
		if i < 0 {
			return file
		}
		at += i
		binary.BigEndian.PutUint32(file[at+len(name):], version)
		sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
		sum.Write([]byte("meta\x00format"))
		sum.Write(file[at : at+len(name)+4])
		binary.BigEndian.PutUint32(file[at-4:], sum.Sum32())
	}
}

// TestTruncated cuts a store off at many places.
func TestTruncated(t *testing.T) {
	db, exported := filledStore(t, 300)
	whole, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	n := len(whole)
	lengths := []int{1, n - 1, 4096, 8192, n / 2, 100, 4095, 4097, 3 * 4096, n / 4, n - 4096}
	for _, length := range lengths[:rounds(len(lengths), len(lengths))] {
		what := fmt.Sprintf("cut off after %d of %d bytes", length, n)
		file := writeFile(t, filepath.Join(t.TempDir(), "cut.db"), string(whole[:length]))
		if !checkDamaged(t, what, file, exported) {
			continue // only free pages are gone
		}
		if r := broken(t, what, file, "serve", "--addr", "127.0.0.1:0", "--db", file); r.status != exitFailed {
			t.Errorf("%s: serve ends with status %d", what, r.status)
		}
	}
}

// TestFlippedBytes damages a byte at random places. Whoever still reads the
// store reads what was stored.
func TestFlippedBytes(t *testing.T) {
	db, exported := filledStore(t, 100)
	whole, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(6, 1))
	n := rounds(40, 2000)
	damaged := 0
	for i := range n {
		at := random.IntN(len(whole))
		if i < n/4 {
			at = random.IntN(4 * 4096) // meta pages, and those near them
		}
		flipped := slices.Clone(whole)
		flipped[at] ^= 1 << random.IntN(8)
		what := fmt.Sprintf("byte %d flipped", at)
		file := writeFile(t, filepath.Join(t.TempDir(), "flipped.db"), string(flipped))
		if checkDamaged(t, what, file, exported) {
			damaged++
		}
	}
	if damaged < n/3 {
		t.Errorf("check found %d of %d damaged files damaged", damaged, n)
	}
}

// checkDamaged runs check and export on a damaged store and tells whether
// check found the damage. It may lie where nothing is stored; otherwise export
// must not go well with something else than was stored.
func checkDamaged(t *testing.T, what, file, exported string) bool {
	t.Helper()
	checked := broken(t, what, file, "check", "--db", file)
	read := broken(t, what, file, "export", "--db", file)
	if read.status == exitOK && read.stdout != exported {
		t.Errorf("%s: export gives other records, and status %d", what, exitOK)
	}
	if checked.status == exitOK && read.status != exitOK {
		t.Errorf("%s: check finds nothing, export fails: %s", what, read.stderr)
	}
	return checked.status != exitOK
}

// mountSmall mounts a file system of some megabytes for a test.
func mountSmall(t *testing.T, megabytes int) string {
	t.Helper()
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("mounting a small file system needs Linux and root")
	}
	dir := t.TempDir()
	if err := mount("tmpfs", dir, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("mounting a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unmount(dir); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// TestFullDisk fills a file system by an import: the import fails, and what is
// stored are whole batches.
func TestFullDisk(t *testing.T) {
	small := mountSmall(t, 8)
	db := filepath.Join(small, "case.db")
	elsewhere := t.TempDir()
	many := writeRecords(t, filepath.Join(elsewhere, "many.jsonl"), 1, 6000, fixture.Lite)
	stored := readLines(t, many)[:500]
	mustRun(t, "import", "--db", db, writeFile(t, filepath.Join(elsewhere, "few.jsonl"), strings.Join(stored, "\n")))

	check := func(how string) {
		t.Helper()
		r := runCommand(t, nil, "import", "--db", db, many)
		if r.status != exitFailed || !strings.Contains(r.stderr, "no space left on device") {
			t.Errorf("%s: import ends with status %d and says %q, want %d and the reason", how, r.status, r.stderr, exitFailed)
		}
		now := strings.Split(strings.TrimSuffix(mustRun(t, "export", "--db", db), "\n"), "\n")
		if !hasAll(now, stored) || !hasAll(readLines(t, many), now) {
			t.Errorf("%s: the store holds %d records, not those of before and whole ones of the import", how, len(now))
		}
		t.Logf("%s: %d records fit", how, len(now))
		mustRun(t, "check", "--db", db)
		if r := runCommand(t, nil, "backup", "--db", db, "-o", filepath.Join(small, "backup.db")); r.status != exitFailed {
			t.Errorf("%s: a backup to the full disk ends with status %d", how, r.status)
		}
		if r := runCommand(t, nil, "export", "--db", db, "-o", filepath.Join(small, "out.jsonl")); r.status != exitFailed {
			t.Errorf("%s: an export to the full disk ends with status %d", how, r.status)
		}
	}
	check("without a server")
	p := startServer(t, "--db", db)
	check("through a server")
	var data struct{ Incidents struct{ TotalCount int } }
	mustAsk(t, p.url, `{ incidents { totalCount } }`, &data)
	if data.Incidents.TotalCount < len(stored) {
		t.Errorf("the server has %d incidents, want at least %d", data.Incidents.TotalCount, len(stored))
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	files, err := os.ReadDir(small)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := f.Name(); name != filepath.Base(db) && name != filepath.Base(db)+textSuffix {
			t.Errorf("the disk holds %s, want the store and its text index alone", name)
		}
	}
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func hasAll(set, of []string) bool {
	has := make(map[string]bool, len(set))
	for _, s := range set {
		has[s] = true
	}
	return !slices.ContainsFunc(of, func(s string) bool { return !has[s] })
}

// TestReadOnlyFile: what only reads works, the rest says why not.
func TestReadOnlyFile(t *testing.T) {
	dir := t.TempDir()
	if os.Getuid() == 0 { // whom no mode keeps from writing
		dir = mountSmall(t, 8)
	}
	db := filepath.Join(dir, "case.db")
	record := writeFile(t, filepath.Join(t.TempDir(), "a.json"), `{"id":"A-1"}`)
	mustRun(t, "import", "--db", db, record)
	if os.Getuid() == 0 {
		if err := remountReadOnly(dir); err != nil {
			t.Skipf("making a file system read-only: %v", err)
		}
	} else if err := os.Chmod(db, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"import", "--db", db, record},
		{"serve", "--addr", "127.0.0.1:0", "--db", db},
		{"compact", "--db", db},
	} {
		if r := broken(t, "read-only", db, args...); r.status != exitFailed || !strings.Contains(r.stderr, "read-only") {
			t.Errorf("%q ends with status %d and says %q, want %d and the reason", args[0], r.status, r.stderr, exitFailed)
		}
	}
	for _, args := range [][]string{
		{"export", "--db", db},
		{"check", "--db", db},
		{"backup", "--db", db, "-o", filepath.Join(t.TempDir(), "backup.db")},
	} {
		if r := broken(t, "read-only", db, args...); r.status != exitOK {
			t.Errorf("%q ends with status %d and says %q, want %d", args[0], r.status, r.stderr, exitOK)
		}
	}
}

// TestKill kills servers and commands at random moments of imports, while
// others read. What an import had acknowledged is there, of what it had not
// each record is whole or not there, and the store is sound.
func TestKill(t *testing.T) {
	random := rand.New(rand.NewPCG(5, uint64(os.Getpid())))
	for i := range rounds(5, 50) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "case.db")
			if i%2 == 0 {
				killServer(t, db, random)
			} else {
				killImport(t, db, random)
			}
		})
	}
}

// killImport kills an import that has the store for itself.
func killImport(t *testing.T, db string, random *rand.Rand) {
	const records = 5000
	file := writeRecords(t, filepath.Join(t.TempDir(), "records.jsonl"), random.Uint64(), records, fixture.Lite)
	p, err := startProcess("", "import", "--db", db, file)
	if err != nil {
		t.Fatal(err)
	}
	// Half of the kills come at any moment, half while the records are stored.
	least := int64(random.IntN(2)) << 20
	if err := eventually("the store", func() bool { info, err := os.Stat(db); return err == nil && info.Size() >= least || p.ended() }); err != nil {
		t.Fatal(err)
	}
	pause(random, 80)
	acknowledged := strings.HasPrefix(p.stdout.String(), "read ")
	if err := p.cmd.Process.Kill(); err != nil && !p.ended() {
		t.Fatal(err)
	}
	<-p.done
	mustRun(t, "check", "--db", db)
	out := mustRun(t, "export", "--db", db)
	stored := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if out == "" {
		stored = nil
	}
	if !hasAll(readLines(t, file), stored) {
		t.Error("the store holds records that nobody imported")
	}
	if acknowledged && len(stored) != records {
		t.Errorf("the import had acknowledged %d records, the store holds %d", records, len(stored))
	}
	t.Logf("killed with %d records stored", len(stored))
}

// killServer kills a server that has the store open, while records are
// imported through it and others read.
func killServer(t *testing.T, db string, random *rand.Rand) {
	p := startServer(t, "--db", db)
	stopReading := readUntil(p.url, 4)
	m := newModel(t, db)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !p.ended() && m.importOnce() {
		}
	}()
	pause(random, 400)
	if err := p.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-p.done
	<-ended
	stopReading()
	if _, err := os.Lstat(db + ".sock"); err != nil {
		t.Errorf("the killed server's socket: %v", err)
	}
	mustRun(t, "check", "--db", db)
	m.compare(mustRun(t, "export", "--db", db))

	again := startServer(t, "--db", db) // over the stale socket
	m.importOnce()
	m.compare(mustRun(t, "export", "--db", db))
	if err := again.stop(); err != nil {
		t.Error(err)
	}
	t.Logf("killed with %d records acknowledged", len(m.acknowledged))
}

// model is what a store must hold after imports of which the last was perhaps
// broken off.
type model struct {
	t            *testing.T
	db, file     string
	run          int
	acknowledged map[string]string   // record by id
	sent         map[string][]string // later records by id
}

func newModel(t *testing.T, db string) *model {
	return &model{t: t, db: db, file: filepath.Join(t.TempDir(), "run.jsonl"), acknowledged: make(map[string]string), sent: make(map[string][]string)}
}

// importOnce imports new and changed records in one run, and tells whether that
// was acknowledged.
func (m *model) importOnce() bool {
	m.run++
	var lines strings.Builder
	records := make(map[string]string)
	for i := range 40 {
		id := fmt.Sprintf("K-%d", (m.run*13+i)%400) // some ids again
		record := fmt.Sprintf(`{"id":%q,"title":"run %d","related":["K-%d"],"summary":%q}`, id, m.run, (m.run*7+i)%400+1000, strings.Repeat(fmt.Sprint(m.run), 500))
		records[id] = record
		m.sent[id] = append(m.sent[id], record)
		fmt.Fprintln(&lines, record)
	}
	if err := os.WriteFile(m.file, []byte(lines.String()), 0o600); err != nil {
		m.t.Error(err)
		return false
	}
	report, err := importFile(m.db, m.file)
	if err != nil || report.Rejected > 0 {
		return false
	}
	for id, record := range records {
		m.acknowledged[id] = record
		m.sent[id] = nil
	}
	return true
}

// compare compares an export with the model.
func (m *model) compare(exported string) {
	m.t.Helper()
	stored := make(map[string]string)
	for line := range strings.Lines(exported) {
		var r struct{ ID string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			m.t.Fatalf("the export has the line %q: %v", line, err)
		}
		stored[r.ID] = strings.TrimSuffix(line, "\n")
	}
	for id, want := range m.acknowledged {
		if got := stored[id]; got != want && !slices.Contains(m.sent[id], got) {
			m.t.Errorf("%s was acknowledged as %.80q and is %.80q", id, want, got)
		}
	}
	for id, got := range stored {
		if got != m.acknowledged[id] && !slices.Contains(m.sent[id], got) {
			m.t.Errorf("%s is %.80q, which nobody sent", id, got)
		}
	}
}
