package main

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"incidentgraph/graph"
	"incidentgraph/internal/ingest"
	"incidentgraph/internal/store"
)

// metrics are what /metrics shows. Every label has a bounded set of values.
type metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec   // by route, method and status
	duration   *prometheus.HistogramVec // by route
	bytes      *prometheus.CounterVec   // by route
	inFlight   prometheus.Gauge
	errors     *prometheus.CounterVec // by code
	cached     *prometheus.CounterVec // by result
	cost       prometheus.Histogram
	imports    *prometheus.CounterVec // by result
	imported   *prometheus.CounterVec // records, by outcome
	lastImport prometheus.Gauge
}

const namespace = "incidentgraph"

func newMetrics(version, commit string) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "http_requests_total",
			Help: "HTTP requests answered, by the route that they matched, method and status."}, []string{"route", "method", "status"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: "http_request_duration_seconds",
			Help:    "Time from the header of a request to the end of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}}, []string{"route"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "http_response_bytes_total",
			Help: "Bytes of the bodies of answers."}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "http_requests_in_flight",
			Help: "HTTP requests being answered now."}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "graphql_errors_total",
			Help: "Errors in GraphQL answers, by extensions.code."}, []string{"code"}),
		cached: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "response_cache_total",
			Help: "Requests that the response cache was asked for, by result: hit or miss."}, []string{"result"}),
		cost: prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: namespace, Name: "graphql_cost",
			Help: "Cost of GraphQL operations within the limits.", Buckets: prometheus.ExponentialBuckets(1, 4, 9)}),
		imports: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "imports_total",
			Help: "Imports that this server was asked for, by result: ok or failed."}, []string{"result"}),
		imported: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: "imported_records_total",
			Help: "Records of imports, by outcome."}, []string{"outcome"}),
		lastImport: prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "last_import_timestamp_seconds",
			Help: "When the last import ended well; after a start, when the newest record was stored; 0 if there is none."}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: "build_info",
		Help: "Always 1; the labels tell the program's version and commit.", ConstLabels: prometheus.Labels{"version": version, "commit": commit}})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.duration, m.bytes, m.inFlight, m.errors, m.cached, m.cost, m.imports, m.imported, m.lastImport, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler serves /metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// request counts a request that was answered.
func (m *metrics) request(method string, seen *observed) {
	r := route(seen.route)
	m.requests.WithLabelValues(r, knownMethod(method), statusLabel(seen.response.statusCode())).Inc()
	m.duration.WithLabelValues(r).Observe(seen.took.Seconds())
	m.bytes.WithLabelValues(r).Add(float64(seen.response.bytes))
}

// operation counts what the graph handler was asked.
func (m *metrics) operation(seen graph.Observation) {
	for _, code := range seen.Codes {
		m.errors.WithLabelValues(code).Inc()
	}
	if seen.Cache != "" {
		m.cached.WithLabelValues(seen.Cache).Inc()
	}
	if seen.Cost > 0 {
		m.cost.Observe(float64(seen.Cost))
	}
}

// importDone counts an import.
func (m *metrics) importDone(r ingest.Report, err error) {
	result := "ok"
	if err != nil {
		result = "failed"
	} else {
		m.lastImport.SetToCurrentTime()
	}
	m.imports.WithLabelValues(result).Inc()
	for outcome, n := range map[string]int{"created": r.Created, "updated": r.Updated, "unchanged": r.Unchanged, "rejected": r.Rejected} {
		m.imported.WithLabelValues(outcome).Add(float64(n))
	}
}

// storedAt takes the time of the newest record for that of the last import.
func (m *metrics) storedAt(t time.Time) {
	if !t.IsZero() {
		m.lastImport.Set(float64(t.UnixNano()) / float64(time.Second))
	}
}

// lastStored gives the time at which the newest record of a store was stored,
// zero where it has none.
func lastStored(ctx context.Context, in *ingest.Ingester, log store.Log) (time.Time, error) {
	view, err := in.View(ctx)
	if err != nil {
		return time.Time{}, err
	}
	defer view.Close()
	newest, revision := "", uint64(0)
	for o := range view.Index().All().All() {
		if n := view.Index().Node(o); n.Revision > revision {
			newest, revision = n.ID, n.Revision
		}
	}
	if newest == "" {
		return time.Time{}, nil
	}
	snap, err := log.Snapshot(ctx)
	if err != nil {
		return time.Time{}, err
	}
	defer snap.Close()
	record, err := snap.Get(newest)
	return record.Time, err
}

// watch shows the state of the graph from now on. file is the store's, "" if
// it is in memory.
func (m *metrics) watch(in *ingest.Ingester, file string) {
	m.registry.MustRegister(&graphCollector{ingester: in, file: file,
		revision:  prometheus.NewDesc(namespace+"_store_revision", "Number of changes of the store.", nil, nil),
		incidents: prometheus.NewDesc(namespace+"_incidents", "Incidents in the graph.", nil, nil),
		index:     prometheus.NewDesc(namespace+"_index_bytes", "Memory that the index of the graph takes, about.", nil, nil),
		fileSize:  prometheus.NewDesc(namespace+"_store_file_bytes", "Size of the store's file.", nil, nil),
	})
}

// graphCollector reads the newest state when it is asked, all of it from one
// view.
type graphCollector struct {
	ingester                             *ingest.Ingester
	file                                 string
	revision, incidents, index, fileSize *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *graphCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.revision, c.incidents, c.index, c.fileSize} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *graphCollector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64) { ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	view, err := c.ingester.View(context.Background())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.revision, err)
		return
	}
	defer view.Close()
	gauge(c.revision, float64(view.Index().Revision()))
	gauge(c.incidents, float64(view.Index().Len()))
	gauge(c.index, float64(view.Index().Bytes()))
	if info, err := os.Stat(c.file); err == nil {
		gauge(c.fileSize, float64(info.Size()))
	}
}

// route makes a label of the pattern that a request matched.
func route(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	if pattern == "" {
		return "none"
	}
	return pattern
}

func statusLabel(status int) string {
	if http.StatusText(status) == "" && status != 294 {
		return "other"
	}
	return strconv.Itoa(status)
}

// knownMethod keeps clients from making up label values.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
