package boltstore

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lockHolder looks up who has a file locked, 0 if unknown. A line of
// /proc/locks reads `3: FLOCK ADVISORY WRITE 4711 fd:01:131074 0 EOF`. The
// device's number there is not always the one that stat tells, so the inode's
// alone must be unique.
func lockHolder(file *os.File) int {
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return 0
	}
	defer func() { _ = locks.Close() }() // only read
	inode := ":" + strconv.FormatUint(stat.Ino, 10)
	holder := 0
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], inode) {
			continue
		}
		pid, err := strconv.Atoi(f[4])
		if err != nil || (holder != 0 && holder != pid) {
			return 0
		}
		holder = pid
	}
	return holder
}
