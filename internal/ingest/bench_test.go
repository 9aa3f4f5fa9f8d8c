package ingest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"incidentgraph/internal/store"
	"incidentgraph/internal/store/boltstore"
)

// sentences are what generated texts are made of.
var sentences = []string{
	"At 2:19am a brief network disruption sent many storage servers to the metadata service at once. ",
	"The slowed metadata service then failed renewals for healthy servers too. ",
	"With the retries gone, significant capacity was added and requests were turned back on. ",
	"부하가 걸린 메타데이터 서비스는 장애와 관계없는 서버들의 정기 갱신에도 늦게 답했다. ",
	"재시도가 줄어 메타데이터 서비스의 부하가 크게 덜어졌다. ",
}

// generated gives a record of about size bytes, compact.
func generated(r *rand.Rand, id string, size int) string {
	text := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString(sentences[r.IntN(len(sentences))])
		}
		return strings.TrimSpace(b.String())
	}
	slugs := func(kind string, of, n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("%q", fmt.Sprintf("%s-%d", kind, int(float64(of)*r.Float64()*r.Float64())))
		}
		return strings.Join(list, ",")
	}
	head := fmt.Sprintf(`{"id":%q,"org":"Org %d","date":"20%02d-%02d-%02d","title":{"en":%q,"ko":%q},"severity":"major",`+
		`"contributing":[%s],"components":[%s],"symptoms":[%s],"root_cause":"capacity","timeline":{"resolved_after":"%dh 5m"},`,
		id, r.IntN(300), r.IntN(26), 1+r.IntN(12), 1+r.IntN(28), text(60), text(60),
		slugs("factor", 200, 4), slugs("component", 60, 2), slugs("symptom", 80, 2), r.IntN(50))
	rest := max(size-len(head)-60, 300)
	return head + fmt.Sprintf(`"summary":{"en":%q,"ko":%q},"lessons":{"en":%q},"updated_at":"2026-01-02T03:04:05Z"}`,
		text(rest/3), text(rest/3), text(rest/3))
}

// BenchmarkImport imports new records into a bbolt file.
func BenchmarkImport(b *testing.B) {
	for _, tt := range []struct {
		name          string
		records, size int
		id            func(i int) int
	}{
		{"20KB", 4000, 20 << 10, func(i int) int { return i }},
		{"20KB-shuffled", 4000, 20 << 10, func(i int) int { return i * 2741 % 4000 }},
		{"2KB-shuffled", 20000, 2 << 10, func(i int) int { return i * 7919 % 20000 }},
	} {
		b.Run(tt.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			var lines bytes.Buffer
			for i := range tt.records {
				lines.WriteString(generated(r, fmt.Sprintf("IL-%05d", tt.id(i)), tt.size))
				lines.WriteByte('\n')
			}
			b.SetBytes(int64(lines.Len()))
			for b.Loop() {
				benchmarkImport(b, lines.Bytes(), tt.records)
			}
			b.ReportMetric(float64(tt.records*b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

func benchmarkImport(b *testing.B, lines []byte, records int) {
	b.StopTimer()
	log, err := boltstore.Open(filepath.Join(b.TempDir(), "bench.db"), boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
	report, err := ingesterOf(b, log).Import(b.Context(), []Source{{Name: "x", Reader: bytes.NewReader(lines)}}, Options{})
	if err != nil || report.Created != records {
		b.Fatal(report, err)
	}
	b.StopTimer()
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}

// BenchmarkNew loads the index from a bbolt file of small records.
func BenchmarkNew(b *testing.B) {
	const records = 20000
	r := rand.New(rand.NewPCG(1, 2))
	var lines bytes.Buffer
	for i := range records {
		lines.WriteString(generated(r, fmt.Sprintf("IL-%05d", i), 2<<10))
		lines.WriteByte('\n')
	}
	log, err := boltstore.Open(filepath.Join(b.TempDir(), "bench.db"), boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	if _, err := ingesterOf(b, log).Import(b.Context(), []Source{{Name: "x", Reader: &lines}}, Options{}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ingesterOf(b, log)
	}
	b.ReportMetric(float64(records*b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkView opens a view and reads one record of 20 KB.
func BenchmarkView(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	log, err := boltstore.Open(filepath.Join(b.TempDir(), "bench.db"), boltstore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	in := ingesterOf(b, log)
	imported(b, in, Options{}, text(generated(r, "IL-1", 20<<10))...)
	for b.Loop() {
		v, err := in.View(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := v.Incident("IL-1"); err != nil {
			b.Fatal(err)
		}
		v.Close()
	}
}

// BenchmarkSettle settles a chain of 10,000 recurrences, children first, and
// puts it in the order of its depths.
func BenchmarkSettle(b *testing.B) {
	p := newPlan(viewOf(b, ingesterOf(b, store.NewMemory())), nil)
	for i := range 10_000 {
		p.accept(&candidate{id: p.number(fmt.Sprintf("c%d", 10_000-i)), recurrenceOf: p.number(fmt.Sprintf("c%d", 9_999-i))})
	}
	for b.Loop() {
		if err := p.settle(func(c *candidate, _ []string) error { return fmt.Errorf("%d is rejected", c.id) }); err != nil {
			b.Fatal(err)
		}
		p.depths()
	}
}
