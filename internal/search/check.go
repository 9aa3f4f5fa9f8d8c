package search

import (
	"context"
	"fmt"
	"hash/crc32"
)

// Check reads all of the index on disk and compares the checksums of its
// segments. The error is ErrCorrupt, that of the context, or ErrClosed.
func (ix *Index) Check(ctx context.Context) error {
	if err := ix.check(ctx); err != nil {
		return fmt.Errorf("search: check: %w", err)
	}
	return nil
}

func (ix *Index) check(ctx context.Context) (err error) {
	ix.life.RLock()
	defer ix.life.RUnlock()
	v, err := ix.snapshot()
	if err != nil {
		return err
	}
	defer v.close()
	defer recoverDamage(&err)
	for _, s := range v.Segments() {
		if err := ctx.Err(); err != nil {
			return err
		}
		file, ok := s.Segment().(interface {
			Data() []byte
			CRC() uint32
			Path() string
		})
		if !ok {
			continue // in memory
		}
		data := file.Data()
		if len(data) < crc32.Size || crc32.ChecksumIEEE(data[:len(data)-crc32.Size]) != file.CRC() {
			return fmt.Errorf("%w: %s has a wrong checksum", ErrCorrupt, file.Path())
		}
	}
	return nil
}
