package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"incidentgraph/internal/store"
)

// treeFile makes a store with branch pages and a freelist, and reads its
// structure.
func treeFile(t *testing.T) (path string, content []byte, pages *pageFile) {
	t.Helper()
	path = small(t)
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := store.Change{RequestID: "many"}
	for i := range 500 {
		c.Ops = append(c.Ops, store.Op{Kind: store.Put, ID: fmt.Sprintf("many-%04d", 2*i), Record: []byte("x")})
	}
	if _, err := s.Append(t.Context(), head, c); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if content, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	if pages, err = openPages(bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
	pages.report = func(f Finding) bool {
		t.Errorf("sound file: %v", f)
		return false
	}
	return path, content, pages
}

// liveBranches gives the branch pages of the newest state.
func liveBranches(t *testing.T, content []byte, pages *pageFile) (branches []uint64) {
	t.Helper()
	roots, err := pages.buckets()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range roots {
		if err := pages.walkBucket(r, func(element) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for n := uint64(firstPage); n < pages.meta.pages; n++ {
		page := content[n*uint64(pages.pageSize):]
		if pages.used.has(n) && binary.NativeEndian.Uint64(page) == n && binary.NativeEndian.Uint16(page[8:]) == branchPage {
			branches = append(branches, n)
		}
	}
	if len(branches) == 0 {
		t.Fatal("no branch pages: the test misses what it is for")
	}
	return branches
}

// refuses tells whether Open refuses content as corrupt, and gives what Check
// finds.
func refuses(t *testing.T, path string, content []byte) (refused bool, findings string) {
	t.Helper()
	if err := os.WriteFile(path, content, fileMode); err != nil {
		t.Fatal(err)
	}
	all, err := Check(t.Context(), path, Options{})
	if err != nil {
		t.Fatalf("Check() = %v", err)
	}
	s, err := Open(path, Options{})
	if err == nil {
		return false, fmt.Sprint(all)
	}
	if !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("Open() = %v, %v, want %v", s, err, store.ErrCorrupt)
	}
	return true, fmt.Sprint(all)
}

// TestCrossedPages leads branches to pages that are not theirs, in circles
// too: bbolt would follow a circle until the stack overflows, which ends the
// process.
func TestCrossedPages(t *testing.T) {
	path, content, pages := treeFile(t)
	order := binary.NativeEndian
	branches := liveBranches(t, content, pages)
	for _, number := range branches {
		base := int(number) * int(pages.pageSize)
		count := int(order.Uint16(content[base+10:]))
		for i := range count {
			field := base + pageHeaderSize + i*elementSize + 8
			was := order.Uint64(content[field:])
			sibling := order.Uint64(content[base+pageHeaderSize+(i+1)%count*elementSize+8:])
			for _, to := range []uint64{number, sibling, pages.meta.root, pages.meta.freelist, 0, 1, pages.meta.pages, 1 << 63} {
				if to == was {
					continue
				}
				b := bytes.Clone(content)
				order.PutUint64(b[field:], to)
				refused, findings := refuses(t, path, b)
				if !refused {
					t.Errorf("child %d of page %d is page %d: Open() = nil", i, number, to)
				}
				if to == number && !strings.Contains(findings, "used twice") {
					t.Errorf("child %d of page %d is that page: Check() = %s, want that it is used twice", i, number, findings)
				}
			}
		}
	}
}

// TestBranchKeys moves the borders between children: a key that lands on the
// wrong side would not be found.
func TestBranchKeys(t *testing.T) {
	path, content, pages := treeFile(t)
	order := binary.NativeEndian
	moved := 0
	for _, number := range liveBranches(t, content, pages) {
		base := int(number) * int(pages.pageSize)
		for i := range int(order.Uint16(content[base+10:])) {
			at := base + pageHeaderSize + i*elementSize
			end := at + int(order.Uint32(content[at:])) + int(order.Uint32(content[at+4:]))
			b := bytes.Clone(content)
			b[end-1]++
			if refused, _ := refuses(t, path, b); !refused {
				t.Errorf("key %d of page %d is higher than its child's first: Open() = nil", i, number)
			}
			moved++
		}
	}
	if moved < 4 {
		t.Errorf("%d borders moved: the test misses what it is for", moved)
	}
}

// TestFreelist has the freelist name pages that can't be free: bbolt would
// write over them.
func TestFreelist(t *testing.T) {
	path, content, pages := treeFile(t)
	order := binary.NativeEndian
	base := int(pages.meta.freelist) * int(pages.pageSize)
	count := int(order.Uint16(content[base+10:]))
	if count < 2 {
		t.Fatalf("freelist of %d pages: the test misses what it is for", count)
	}
	branches := liveBranches(t, content, pages)
	for _, to := range []uint64{0, 1, pages.meta.pages, 1 << 63, pages.meta.root, pages.meta.freelist, branches[0], order.Uint64(content[base+pageHeaderSize+8:])} {
		b := bytes.Clone(content)
		order.PutUint64(b[base+pageHeaderSize:], to)
		if refused, findings := refuses(t, path, b); !refused || findings == "[]" {
			t.Errorf("freelist names page %d: Open() = nil, Check() = %s", to, findings)
		}
	}
	for _, n := range []uint16{uint16(count) + 1, 600, maxFreelistMark} {
		b := bytes.Clone(content)
		order.PutUint16(b[base+10:], n)
		if refused, _ := refuses(t, path, b); !refused {
			t.Errorf("freelist counts %d pages for %d: Open() = nil", n, count)
		}
	}
	// A free page that the list forgets is lost, but harms nobody.
	b := bytes.Clone(content)
	order.PutUint16(b[base+10:], uint16(count)-1)
	if refused, findings := refuses(t, path, b); refused || !strings.Contains(findings, "neither in use nor free") {
		t.Errorf("freelist forgets a page: Open() refuses: %v, Check() = %s", refused, findings)
	}
}

// TestHighTree: a chain of branch pages with one child each is not what bbolt
// writes, and each level costs stack.
func TestHighTree(t *testing.T) {
	const pageSize, height = 1024, 500
	order := binary.NativeEndian
	b := make([]byte, (firstPage+height)*pageSize)
	for n := range uint64(2) {
		page := b[n*pageSize:]
		order.PutUint64(page, n)
		order.PutUint16(page[8:], metaPage)
		body := page[pageHeaderSize:]
		order.PutUint32(body, boltMagic)
		order.PutUint32(body[4:], boltVersion)
		order.PutUint32(body[8:], pageSize)
		order.PutUint64(body[16:], firstPage)
		order.PutUint64(body[32:], noFreelist)
		order.PutUint64(body[40:], firstPage+height)
		order.PutUint64(body[48:], n)
		sum := fnv.New64a()
		sum.Write(body[:metaSize-8])
		order.PutUint64(body[metaSize-8:], sum.Sum64())
	}
	for n := uint64(firstPage); n < firstPage+height; n++ {
		page := b[n*pageSize:]
		order.PutUint64(page, n)
		order.PutUint16(page[8:], branchPage)
		order.PutUint16(page[10:], 1)
		order.PutUint32(page[pageHeaderSize:], elementSize)
		order.PutUint32(page[pageHeaderSize+4:], 1)
		order.PutUint64(page[pageHeaderSize+8:], n+1)
		page[pageHeaderSize+elementSize] = 'k'
	}
	if refused, findings := refuses(t, filepath.Join(t.TempDir(), "high.db"), b); !refused || !strings.Contains(findings, "higher than") {
		t.Errorf("tree of %d levels: Check() = %s, want that it is too high", height, findings)
	}
}
