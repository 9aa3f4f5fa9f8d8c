package boltstore_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
	"incidentgraph/internal/store/storetest"
)

// The test binary runs itself as a child that works on a store until it is
// killed. The child prints a line for each thing that it was promised.
const (
	childEnv = "BOLTSTORE_TEST_CHILD" // what the child does
	pathEnv  = "BOLTSTORE_TEST_PATH"
)

const crashSeed = 41

func TestMain(m *testing.M) {
	children := map[string]func(path string) error{
		"append":  appendForever,
		"compact": compactForever,
		"create":  createForever,
	}
	if run, ok := children[os.Getenv(childEnv)]; ok {
		fmt.Fprintln(os.Stderr, run(os.Getenv(pathEnv)))
		os.Exit(1) // a child ends by being killed
	}
	os.Exit(m.Run())
}

// appendForever appends the changes of a generator, from where the store is,
// and prints the sequence of each that Append has acknowledged.
func appendForever(path string) error {
	ctx := context.Background()
	s, err := boltstore.Open(path, boltstore.Options{})
	if err != nil {
		return err
	}
	p, err := s.Head(ctx)
	if err != nil {
		return err
	}
	g := storetest.NewGenerator(crashSeed)
	for range p.Sequence {
		g.Next()
	}
	for {
		if p, err = s.Append(ctx, p, g.Next()); err != nil {
			return err
		}
		fmt.Println(p.Sequence)
	}
}

// compactForever compacts a store again and again.
func compactForever(path string) error {
	for n := 0; ; n++ {
		if _, err := boltstore.Compact(context.Background(), path, ""); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// createForever makes stores in a folder, and prints the number of each.
func createForever(path string) error {
	for n := 0; ; n++ {
		s, err := boltstore.Open(filepath.Join(path, strconv.Itoa(n)), boltstore.Options{})
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// killAfter runs a child, kills it once it has printed so many lines, and
// gives the number on its last line: lines that were in the pipe count too.
func killAfter(t *testing.T, child, path string, lines int) (last int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+child, pathEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := 0
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		if last, err = strconv.Atoi(scanner.Text()); err != nil {
			t.Fatalf("child printed %q", scanner.Text())
		}
		if read++; read == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatalf("child ended by itself: %v", err)
	}
	return last
}

func rounds(many int) int {
	if testing.Short() {
		return max(many/5, 1)
	}
	return many
}

// TestKilledAppend kills a process that appends, many times: every change that
// was acknowledged is there, at most the one under way beside them, and none
// in part.
func TestKilledAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	random := rand.New(rand.NewPCG(crashSeed, 4))
	g := storetest.NewGenerator(crashSeed)
	var replica *store.Memory
	for round := range rounds(30) {
		acknowledged := uint64(killAfter(t, "append", path, 1+random.IntN(25)))
		checkSound(t, path)
		s := open(t, path, boltstore.Options{})
		p := head(t, s)
		if p.Sequence != acknowledged && p.Sequence != acknowledged+1 {
			t.Errorf("round %d: head has sequence %d, want %d or one more", round, p.Sequence, acknowledged)
		}
		if replica == nil {
			replica = store.NewMemoryOf(p.Lineage)
		}
		for head(t, replica).Sequence < p.Sequence {
			appendTo(t, replica, g.Next())
		}
		storetest.Equal(t, s, replica)
		closeStore(t, s)
		if t.Failed() {
			t.FailNow()
		}
	}
}

// TestKilledCompact kills a process that compacts: the store is there, whole.
func TestKilledCompact(t *testing.T) {
	path, replica := filled(t, crashSeed, 80)
	random := rand.New(rand.NewPCG(crashSeed, 5))
	for range rounds(15) {
		killAfter(t, "compact", path, 1+random.IntN(3))
		checkSound(t, path)
		s := open(t, path, boltstore.Options{})
		storetest.Equal(t, s, replica)
		closeStore(t, s)
	}
}

// TestKilledCreate kills a process that makes stores: each name has a whole
// store or nothing.
func TestKilledCreate(t *testing.T) {
	random := rand.New(rand.NewPCG(crashSeed, 6))
	for range rounds(15) {
		folder := t.TempDir()
		last := killAfter(t, "create", folder, 1+random.IntN(10))
		for n := range last + 2 {
			path := filepath.Join(folder, strconv.Itoa(n))
			if _, err := os.Stat(path); err != nil && n > last {
				continue // the one under way
			}
			checkSound(t, path)
			s := open(t, path, boltstore.Options{ReadOnly: true})
			if p := head(t, s); p.Sequence != 0 {
				t.Errorf("new store has the head %v", p)
			}
			closeStore(t, s)
		}
	}
}
