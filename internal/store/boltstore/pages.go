package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"

	bolt "go.etcd.io/bbolt"
)

// This file reads the structure of a bbolt file (its format version 2)
// without trusting it and without bbolt, which maps a file into memory and
// believes what it finds there. bbolt writes its integers in the order of the
// machine.
//
//	page            8 number, 2 flags, 2 count, 4 overflow: pages that follow
//	                and belong to it; then the content
//	meta page       4 magic, 4 version, 4 page size, 4 flags, 8 root page,
//	                8 sequence of the root bucket, 8 freelist page, 8 number of pages in use,
//	                8 transaction, 8 FNV-1a of all before
//	branch page     count × (4 position, 4 key length, 8 page); keys
//	leaf page       count × (4 flags, 4 position, 4 key length, 4 value length); keys with values
//	freelist page   count × 8 page; a count of 65535 says that the first 8 are the count
//	bucket          the value of a leaf element with flag 1: 8 root page, 8 sequence;
//	                root 0 says that a leaf page without overflow follows right there
//
// A position counts from the beginning of its element.
const (
	pageHeaderSize  = 16
	elementSize     = 16
	bucketHeadSize  = 16
	metaSize        = 64
	boltMagic       = 0xED0CDAED
	boltVersion     = 2
	branchPage      = 0x01
	leafPage        = 0x02
	metaPage        = 0x04
	freelistPage    = 0x10
	bucketElement   = 0x01
	firstPage       = 2 // behind the two meta pages
	noFreelist      = math.MaxUint64
	maxFreelistMark = 0xFFFF
	// maxDepth bounds the height of a tree. A branch page that bbolt wrote
	// has at least two children, so no tree of this height would fit a disk.
	maxDepth = 64
)

// pageFile is a bbolt file under inspection.
type pageFile struct {
	file     io.ReaderAt
	size     int64
	pageSize int64
	meta     boltMeta
	used     bitset   // pages that were reached
	free     [][]byte // memory for heads of pages
	// report takes each finding and tells whether to go on.
	report func(Finding) bool
}

// boltMeta is what a meta page says.
type boltMeta struct {
	pageSize, version                  uint32
	root, freelist, pages, transaction uint64
}

// errStop ends a walk that report has ended.
var errStop = errors.New("stopped")

// errNotBolt: the file has no meta page of bbolt.
var errNotBolt = errors.New("not a bbolt file")

// openPages reads the meta pages of a file and checks the file's size against
// them. Both must be whole: bbolt goes back to the older one where the newer
// one is damaged, and so drops the last commit without a word. A commit that
// was interrupted leaves both whole, since a meta page fits in one sector.
func openPages(file io.ReaderAt, size int64) (*pageFile, error) {
	first, err0 := readMeta(file, 0, 0)
	if errors.Is(err0, errNotBolt) {
		if !anyMeta(file, size) {
			return nil, errNotBolt
		}
		return nil, errors.New("meta page 0 is not there")
	}
	if err0 != nil {
		return nil, fmt.Errorf("meta page 0: %w", err0)
	}
	second, err1 := readMeta(file, int64(first.pageSize), 1)
	if err1 != nil {
		return nil, fmt.Errorf("meta page 1: %w", err1)
	}
	if first.pageSize != second.pageSize {
		return nil, fmt.Errorf("meta pages name the page sizes %d and %d", first.pageSize, second.pageSize)
	}
	p := &pageFile{file: file, size: size, pageSize: int64(first.pageSize), meta: first}
	if second.transaction > first.transaction {
		p.meta = second
	}
	if n := uint64(size / p.pageSize); n < p.meta.pages {
		return nil, fmt.Errorf("file is cut off: it has %d whole pages of %d bytes, %d are in use", n, p.pageSize, p.meta.pages)
	}
	p.used = newBitset(p.meta.pages)
	return p, nil
}

// readMeta reads and checks one meta page.
func readMeta(file io.ReaderAt, offset int64, number uint64) (boltMeta, error) {
	var b [pageHeaderSize + metaSize]byte
	if _, err := file.ReadAt(b[:], offset); err != nil {
		if errors.Is(err, io.EOF) {
			return boltMeta{}, errNotBolt
		}
		return boltMeta{}, err
	}
	order := binary.NativeEndian
	body := b[pageHeaderSize:]
	if order.Uint32(body) != boltMagic {
		return boltMeta{}, errNotBolt
	}
	sum := fnv.New64a()
	sum.Write(body[:metaSize-8])
	if sum.Sum64() != order.Uint64(body[metaSize-8:]) {
		return boltMeta{}, errChecksum
	}
	m := boltMeta{
		version:     order.Uint32(body[4:]),
		pageSize:    order.Uint32(body[8:]),
		root:        order.Uint64(body[16:]),
		freelist:    order.Uint64(body[32:]),
		pages:       order.Uint64(body[40:]),
		transaction: order.Uint64(body[48:]),
	}
	switch {
	case m.version != boltVersion:
		return boltMeta{}, fmt.Errorf("bbolt format version %d, want %d", m.version, boltVersion)
	case order.Uint64(b[:]) != number || order.Uint16(b[8:]) != metaPage:
		return boltMeta{}, errors.New("page header is damaged")
	case m.pageSize < 1024 || m.pageSize > 16<<20 || m.pageSize&(m.pageSize-1) != 0:
		return boltMeta{}, fmt.Errorf("page size %d", m.pageSize)
	case m.pages <= firstPage || m.pages > math.MaxInt64/uint64(m.pageSize):
		return boltMeta{}, fmt.Errorf("%d pages in use", m.pages)
	}
	return m, nil
}

// anyMeta looks for a second meta page behind a first that is not one, at
// each page size that bbolt may have used.
func anyMeta(file io.ReaderAt, size int64) bool {
	var b [4]byte
	for offset := int64(1024); offset <= 16<<20 && offset < size; offset *= 2 {
		if _, err := file.ReadAt(b[:], offset+pageHeaderSize); err == nil && binary.NativeEndian.Uint32(b[:]) == boltMagic {
			return true
		}
	}
	return false
}

// fail reports a finding of one page.
func (p *pageFile) fail(page uint64, bucket, format string, args ...any) error {
	if p.report(Finding{Page: page, Bucket: bucket, Reason: fmt.Sprintf(format, args...)}) {
		return nil
	}
	return errStop
}

// page is one page with its overflow, or a leaf page that is a bucket's
// value. Content is read when it is asked for.
type page struct {
	number  uint64
	bucket  string
	flags   uint16
	count   int
	file    io.ReaderAt
	offset  int64
	extent  int64  // bytes of the page with its overflow
	head    []byte // the first bytes, often all
	scratch []byte
}

// load claims a page of a bucket and reads its head. It gives nil, with nil
// or errStop, where something about it is wrong and was reported.
func (p *pageFile) load(number uint64, bucket string, flags ...uint16) (*page, error) {
	if number < firstPage || number >= p.meta.pages {
		return nil, p.fail(number, bucket, "page number is not one of the %d pages in use", p.meta.pages)
	}
	head := p.newHead()
	if _, err := p.file.ReadAt(head, int64(number)*p.pageSize); err != nil {
		return nil, p.fail(number, bucket, "%v", err)
	}
	order := binary.NativeEndian
	if id := order.Uint64(head); id != number {
		return nil, p.fail(number, bucket, "page says that it is page %d", id)
	}
	pg := &page{number: number, bucket: bucket, file: p.file, offset: int64(number) * p.pageSize, head: head}
	overflow := uint64(order.Uint32(head[12:]))
	if overflow >= p.meta.pages-number {
		return nil, p.fail(number, bucket, "page goes on for %d pages, past the end", overflow)
	}
	pg.extent = int64(overflow+1) * p.pageSize
	for n := number; n <= number+overflow; n++ {
		if p.used.set(n) {
			return nil, p.fail(n, bucket, "page is used twice")
		}
	}
	if err := pg.parse(flags...); err != nil {
		return nil, p.fail(number, bucket, "%v", err)
	}
	return pg, nil
}

// newHead gives memory for the head of a page.
func (p *pageFile) newHead() []byte {
	last := len(p.free) - 1
	if last < 0 {
		return make([]byte, p.pageSize)
	}
	head := p.free[last]
	p.free = p.free[:last]
	return head
}

// release gives a page's memory back: nothing of it is asked for any more.
func (p *pageFile) release(pg *page) {
	p.free = append(p.free, pg.head)
	pg.head = nil
}

// parse reads the page header.
func (pg *page) parse(flags ...uint16) error {
	order := binary.NativeEndian
	pg.flags = order.Uint16(pg.head[8:])
	pg.count = int(order.Uint16(pg.head[10:]))
	known := false
	for _, f := range flags {
		known = known || f == pg.flags
	}
	if !known {
		return fmt.Errorf("page has the flags %#x", pg.flags)
	}
	if pg.flags != freelistPage && int64(pageHeaderSize+pg.count*elementSize) > pg.extent {
		return fmt.Errorf("%d elements do not fit", pg.count)
	}
	return nil
}

// bytes gives a part of the page; it is good until the next call. The caller
// has checked that it lies within.
func (pg *page) bytes(at, n int64) ([]byte, error) {
	if at+n <= int64(len(pg.head)) {
		return pg.head[at : at+n], nil
	}
	if int64(cap(pg.scratch)) < n {
		pg.scratch = make([]byte, n)
	}
	b := pg.scratch[:n]
	if _, err := pg.file.ReadAt(b, pg.offset+at); err != nil {
		return nil, err
	}
	return b, nil
}

// element is one entry of a branch or leaf page.
type element struct {
	page  *page
	flags uint32
	child uint64 // of a branch
	key   []byte
	at    int64 // where the value begins in the page
	size  int64 // of the value
}

// value gives the first n bytes of the value; they are good until the page is
// asked for more.
func (e element) value(n int64) ([]byte, error) { return e.page.bytes(e.at, n) }

// element reads one element with its key.
func (pg *page) element(i int) (element, error) {
	order := binary.NativeEndian
	at := int64(pageHeaderSize + i*elementSize)
	b, err := pg.bytes(at, elementSize)
	if err != nil {
		return element{}, err
	}
	e := element{page: pg}
	var position, keySize int64
	if pg.flags == branchPage {
		position, keySize = int64(order.Uint32(b)), int64(order.Uint32(b[4:]))
		e.child = order.Uint64(b[8:])
	} else {
		e.flags = order.Uint32(b)
		position, keySize, e.size = int64(order.Uint32(b[4:])), int64(order.Uint32(b[8:])), int64(order.Uint32(b[12:]))
	}
	start := at + position
	e.at = start + keySize
	switch {
	case keySize == 0 || keySize > bolt.MaxKeySize:
		return element{}, fmt.Errorf("element %d has a key of %d bytes", i, keySize)
	case start < int64(pageHeaderSize+pg.count*elementSize) || e.at+e.size > pg.extent:
		return element{}, fmt.Errorf("element %d lies outside of the page", i)
	}
	key, err := pg.bytes(start, keySize)
	if err != nil {
		return element{}, err
	}
	e.key = bytes.Clone(key)
	return e, nil
}

// walk visits every element of a bucket's tree in the order of keys. Damage
// is reported, and what hangs on it is left out.
func (p *pageFile) walk(bucket string, root uint64, visit func(element) error) error {
	return p.walkPage(bucket, root, nil, nil, 0, visit)
}

// walkPage visits what is under a page. All keys must lie in [from, to); nil
// is no bound.
func (p *pageFile) walkPage(bucket string, number uint64, from, to []byte, depth int, visit func(element) error) error {
	if depth == maxDepth {
		return p.fail(number, bucket, "tree is higher than %d pages", maxDepth)
	}
	pg, err := p.load(number, bucket, branchPage, leafPage)
	if pg == nil {
		return err
	}
	if pg.flags == branchPage {
		return p.walkBranch(pg, from, to, depth, visit)
	}
	defer p.release(pg)
	return p.walkLeaf(pg, from, to, visit)
}

func (p *pageFile) walkBranch(pg *page, from, to []byte, depth int, visit func(element) error) error {
	elements, err := p.elements(pg, from, to)
	p.release(pg) // they have copies of their keys
	if err != nil {
		return err
	}
	if len(elements) == 0 {
		return p.fail(pg.number, pg.bucket, "branch page has no children")
	}
	for i, e := range elements {
		end := to
		if i+1 < len(elements) {
			end = elements[i+1].key
		}
		if err := p.walkPage(pg.bucket, e.child, e.key, end, depth+1, visit); err != nil {
			return err
		}
	}
	return nil
}

func (p *pageFile) walkLeaf(pg *page, from, to []byte, visit func(element) error) error {
	elements, err := p.elements(pg, from, to)
	if err != nil {
		return err
	}
	for _, e := range elements {
		if err := visit(e); err != nil {
			return err
		}
	}
	return nil
}

// elements reads those elements of a page that are whole and in order.
func (p *pageFile) elements(pg *page, from, to []byte) ([]element, error) {
	elements := make([]element, 0, pg.count)
	for i := range pg.count {
		e, err := pg.element(i)
		switch {
		case err != nil:
			err = p.fail(pg.number, pg.bucket, "%v", err)
		case from != nil && bytes.Compare(e.key, from) < 0,
			to != nil && bytes.Compare(e.key, to) >= 0,
			len(elements) > 0 && bytes.Compare(e.key, elements[len(elements)-1].key) <= 0:
			err = p.failKey(pg, e.key, "key is out of order")
		default:
			elements = append(elements, e)
		}
		if err != nil {
			return nil, err
		}
	}
	return elements, nil
}

// failKey reports a finding of one key.
func (p *pageFile) failKey(pg *page, key []byte, format string, args ...any) error {
	if p.report(Finding{Page: pg.number, Bucket: pg.bucket, Key: key, Reason: fmt.Sprintf(format, args...)}) {
		return nil
	}
	return errStop
}

// bucketRoot is where a bucket's tree is: a page, or inline in an element.
type bucketRoot struct {
	name   string
	root   uint64 // 0: inline
	inline *page
}

// buckets reads the names and roots of all buckets of the file.
func (p *pageFile) buckets() ([]bucketRoot, error) {
	var roots []bucketRoot
	err := p.walk("", p.meta.root, func(e element) error {
		r, err := p.bucket(e)
		if err != nil {
			return p.failKey(e.page, e.key, "%v", err)
		}
		roots = append(roots, r)
		return nil
	})
	return roots, err
}

// bucket reads the element of a bucket.
func (p *pageFile) bucket(e element) (bucketRoot, error) {
	if e.flags != bucketElement {
		return bucketRoot{}, errors.New("not a bucket")
	}
	if e.size < bucketHeadSize {
		return bucketRoot{}, fmt.Errorf("bucket of %d bytes", e.size)
	}
	b, err := e.value(bucketHeadSize)
	if err != nil {
		return bucketRoot{}, err
	}
	r := bucketRoot{name: string(e.key), root: binary.NativeEndian.Uint64(b)}
	if r.root != 0 {
		return r, nil
	}
	size := e.size - bucketHeadSize
	if size < pageHeaderSize || size > p.pageSize {
		return bucketRoot{}, fmt.Errorf("inline bucket of %d bytes", e.size)
	}
	if b, err = e.value(e.size); err != nil {
		return bucketRoot{}, err
	}
	r.inline = &page{number: e.page.number, bucket: r.name, extent: size, head: bytes.Clone(b[bucketHeadSize:])}
	return r, r.inline.parse(leafPage)
}

// walkBucket visits every element of a bucket.
func (p *pageFile) walkBucket(r bucketRoot, visit func(element) error) error {
	if r.inline != nil {
		return p.walkLeaf(r.inline, nil, nil, visit)
	}
	return p.walk(r.name, r.root, visit)
}

// checkFreelist reads the freelist: a page can't be free and in use, or free
// twice. It must come after all trees were walked.
func (p *pageFile) checkFreelist() error {
	if p.meta.freelist == noFreelist {
		return nil // bbolt will look for the free pages itself
	}
	pg, err := p.load(p.meta.freelist, "", freelistPage)
	if pg == nil {
		return err
	}
	order := binary.NativeEndian
	count, at := int64(pg.count), int64(pageHeaderSize)
	if count == maxFreelistMark {
		n := order.Uint64(pg.head[at:])
		at += 8
		if n > uint64(pg.extent)/8 {
			return p.fail(pg.number, "", "freelist of %d pages does not fit", n)
		}
		count = int64(n)
	}
	if at+8*count > pg.extent {
		return p.fail(pg.number, "", "freelist of %d pages does not fit", count)
	}
	b, err := pg.bytes(at, 8*count)
	if err != nil {
		return p.fail(pg.number, "", "%v", err)
	}
	for ; len(b) > 0; b = b[8:] {
		id := order.Uint64(b)
		if id < firstPage || id >= p.meta.pages {
			err = p.fail(pg.number, "", "freelist names page %d of %d", id, p.meta.pages)
		} else if p.used.set(id) {
			err = p.fail(id, "", "page is free and in use, or free twice")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkLeaks reports pages that are neither in use nor free.
func (p *pageFile) checkLeaks() error {
	if p.meta.freelist == noFreelist {
		return nil
	}
	for n := uint64(firstPage); n < p.meta.pages; n++ {
		if p.used.has(n) {
			continue
		}
		if err := p.fail(n, "", "page is neither in use nor free"); err != nil {
			return err
		}
	}
	return nil
}

// bitset is a set of page numbers.
type bitset []uint64

func newBitset(n uint64) bitset { return make(bitset, (n+63)/64) }

// set adds n and tells whether it was there.
func (b bitset) set(n uint64) bool {
	was := b.has(n)
	b[n/64] |= 1 << (n % 64)
	return was
}

func (b bitset) has(n uint64) bool { return b[n/64]&(1<<(n%64)) != 0 }
