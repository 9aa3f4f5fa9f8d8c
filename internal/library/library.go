// Package library is the starter library: case records of well-known public
// incidents and the vocabulary that describes them, embedded in the program,
// so that the server has something true to show before any file is imported.
//
// records/LIB-NNNN.json holds one record each in the import format;
// vocabulary.json is a vocabulary file as incident.DecodeConcepts reads it;
// checks.tsv tells for each record from which source its facts were taken
// and what a second reader compared. The texts are published under CC BY 4.0
// (LICENSE in this folder); facts belong to nobody.
package library

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"

	"incidentgraph/internal/incident"
)

// License is the SPDX identifier of the licence of the library's texts,
// LicenseURL the address of its text.
const (
	License    = "CC-BY-4.0"
	LicenseURL = "https://creativecommons.org/licenses/by/4.0/"
)

//go:embed records/*.json vocabulary.json
var files embed.FS

// Record is one embedded case record.
type Record struct {
	// Name is the file's name, such as LIB-0001.json.
	Name string
	// Bytes is the record as it stands in the file.
	Bytes []byte
}

// Records gives all records in the order of their case ids.
func Records() ([]Record, error) {
	names, err := fs.Glob(files, "records/*.json")
	if err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	records := make([]Record, len(names))
	for i, name := range names { // Glob sorts by name, and a file is named for its case id
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("library: %w", err)
		}
		records[i] = Record{Name: path.Base(name), Bytes: b}
	}
	return records, nil
}

// JSONLines gives all records as JSON Lines, ready to be imported elsewhere.
func JSONLines() ([]byte, error) {
	records, err := Records()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, r := range records {
		out.Write(incident.Compact(r.Bytes))
		out.WriteByte('\n')
	}
	return out.Bytes(), nil
}

// Concepts gives the default vocabulary.
func Concepts() (*incident.Concepts, error) {
	b, err := files.ReadFile("vocabulary.json")
	if err != nil {
		return nil, fmt.Errorf("library: %w", err)
	}
	c, err := incident.DecodeConcepts(b)
	if err != nil {
		return nil, fmt.Errorf("library: vocabulary.json: %w", err)
	}
	return c, nil
}
