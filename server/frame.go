package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// Frames are what the commands and a server that has their store open say to
// each other over its socket (see control.go):
//
//	kind        1 byte
//	length n    4 bytes, big-endian, at most maxFrame
//	payload     n bytes
type frameKind byte

// The kinds of frames. Their values are on the wire: change them only with
// controlProtocol.
const (
	// From the command to the server.
	frameRequest frameKind = 'Q' // request, as JSON; the first frame
	frameInput   frameKind = 'I' // bytes of the source whose turn it is
	frameNext    frameKind = 'N' // the source is at its end: inputEnd, as JSON

	// From the server to the command.
	frameOutput     frameKind = 'O' // bytes of the command's output
	frameProgress   frameKind = 'P' // ingest.Progress, as JSON
	frameReject     frameKind = 'R' // rejectLine, as JSON
	frameFolderFile frameKind = 'F' // name of a file of a folder that holds no JSON
	frameResult     frameKind = 'E' // result, as JSON; the last frame
)

// maxFrame bounds a frame's payload. The largest is a rejected record: 4 MiB,
// of which JSON can make six times as much.
const maxFrame = 32 << 20

// frameWriter writes frames. It is safe for concurrent use.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

func (f *frameWriter) write(kind frameKind, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("a frame of %d bytes is too large", len(payload))
	}
	head := binary.BigEndian.AppendUint32([]byte{byte(kind)}, uint32(len(payload)))
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.w.Write(head); err != nil {
		return err
	}
	_, err := f.w.Write(payload)
	return err
}

func (f *frameWriter) writeJSON(kind frameKind, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(kind, b)
}

// readFrame reads a frame. The payload lies in buf where there is room, so it
// is valid until buf is used again. The error is io.EOF where the stream ends
// before a frame.
func readFrame(r io.Reader, buf []byte) (kind frameKind, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes is too large", n)
	}
	// Room is made as bytes arrive, so that a length alone costs nothing.
	payload = buf[:0]
	for read := 0; read < int(n); {
		step := min(int(n)-read, max(cap(payload)-read, 64<<10))
		if cap(payload) < read+step {
			payload = append(payload[:read], make([]byte, step)...)
		}
		payload = payload[:read+step]
		if _, err := io.ReadFull(r, payload[read:]); err != nil {
			return 0, nil, noEOF(err)
		}
		read += step
	}
	return frameKind(head[0]), payload, nil
}

// noEOF tells of an end where there should be none.
func noEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // as io.ReadFull gives it
		return io.ErrUnexpectedEOF
	}
	return err
}

// outputFrames is an io.Writer of one kind of frame.
type outputFrames struct{ *frameWriter }

// Write implements io.Writer.
func (f outputFrames) Write(p []byte) (int, error) {
	const most = 256 << 10
	for n := 0; n < len(p); n += most {
		if err := f.write(frameOutput, p[n:min(n+most, len(p))]); err != nil {
			return n, err
		}
	}
	return len(p), nil
}
