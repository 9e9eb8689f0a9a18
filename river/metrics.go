package river

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the Prometheus metrics of the service.
type Metrics struct {
	Doubled, Failed, Retries prometheus.Counter

	products, lost   prometheus.Counter
	values           *prometheus.CounterVec
	latency, commits prometheus.Histogram
	alive, reloaded  prometheus.Gauge // 1 or 0
	newest           prometheus.Gauge
	newestIssue      int64 // value of newest
	lastPosted       *prometheus.GaugeVec
	labels           map[string]bool // product ids that are labels of lastPosted
}

// maxProductLabels limits the labels of lastPosted, because a feed may contain any number of product ids.
const maxProductLabels = 4096

// NewMetrics registers the metrics.
func NewMetrics(r prometheus.Registerer) *Metrics {
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: "barograph_shef_" + name, Help: help})
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "barograph_shef_" + name, Help: help})
		r.MustRegister(g)
		return g
	}
	histogram := func(name, help string) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "barograph_shef_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(.005, 2, 16),
		})
		r.MustRegister(h)
		return h
	}
	m := &Metrics{
		labels:   map[string]bool{},
		products: counter("products_total", "Products that were posted."),
		Doubled:  counter("products_doubled_total", "Products that had been posted in the last four hours."),
		Failed:   counter("failed_total", "Files and products that were set aside in failed/."),
		Retries:  counter("retries_total", "Transactions that were restarted."),
		lost:     counter("values_lost_total", "Values that could not be decoded."),
		values: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "barograph_shef_values_total", Help: "Values, by what became of them.",
		}, []string{"fate"}),
		latency: histogram("latency_seconds", "Time from the arrival of a file in the spool to the commit of its rows."),
		commits: histogram("commit_seconds", "Duration of a transaction, including its retries."),
		alive:   gauge("database_up", "Whether the database was reachable, or accepted the last transaction."),
		reloaded: gauge("last_reload_successful", "Whether tables, tokens and the file of the URL were read at the last "+
			"attempt; 0 = the service continues with the earlier ones."),
		newest: gauge("newest_product_timestamp_seconds", "Latest issue time of all products that were posted, except times in the future."),
		lastPosted: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "barograph_shef_product_timestamp_seconds", Help: "Time at which a product was last posted, by its id.",
		}, []string{"product"}),
	}
	m.reloaded.Set(1) // otherwise the service would not have started
	r.MustRegister(m.values, m.lastPosted)
	return m
}

// backlog counts the files that wait in a spool. It counts them when a client reads the metrics, so neither the
// database nor a long transaction delays the count.
type backlog struct {
	spool                *Spool
	files, bytes, oldest *prometheus.Desc
}

// RegisterBacklog adds the metrics of the files that wait in a spool.
func RegisterBacklog(r prometheus.Registerer, s *Spool) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("barograph_shef_spool_"+name, help, nil, nil)
	}
	r.MustRegister(&backlog{
		s, desc("files", "Files that wait in the spool."), desc("bytes", "Bytes of the waiting files."),
		desc("oldest_timestamp_seconds", "Arrival time of the oldest waiting file; 0 = no file waits."),
	})
}

// Describe lists the metrics of the backlog.
func (b *backlog) Describe(out chan<- *prometheus.Desc) {
	out <- b.files
	out <- b.bytes
	out <- b.oldest
}

// Collect counts the waiting files.
func (b *backlog) Collect(out chan<- prometheus.Metric) {
	files, bytes, oldest, err := b.spool.Backlog()
	if err != nil {
		return // the service ends with this error
	}
	arrival := int64(0)
	if files > 0 {
		arrival = oldest.Unix()
	}
	out <- prometheus.MustNewConstMetric(b.files, prometheus.GaugeValue, float64(files))
	out <- prometheus.MustNewConstMetric(b.bytes, prometheus.GaugeValue, float64(bytes))
	out <- prometheus.MustNewConstMetric(b.oldest, prometheus.GaugeValue, float64(arrival))
}

// countCommit records the duration of a transaction.
func (m *Metrics) countCommit(d time.Duration) { m.commits.Observe(d.Seconds()) }

// Up records whether the database was reached; err is nil if it was.
func (m *Metrics) Up(err error) { setSuccess(m.alive, err) }

// setSuccess sets a gauge to 1, or to 0 if there is an error.
func setSuccess(g prometheus.Gauge, err error) {
	g.Set(1)
	if err != nil {
		g.Set(0)
	}
}

// countProduct counts a product whose transaction was committed.
func (m *Metrics) countProduct(p *pendingProduct, t Tally) {
	if len(p.Refusals) == 0 {
		m.products.Inc()
	}
	m.lost.Add(float64(p.Account.Lost))
	for i, name := range Fates() {
		m.values.WithLabelValues(name).Add(float64(t[i]))
	}
	m.latency.Observe(time.Since(p.file.Received).Seconds())
	// A heading with a wrong day, in the future, would hide that nothing else arrives.
	if issued := p.Issued.Unix(); issued > m.newestIssue && time.Until(p.Issued) < time.Hour {
		m.newestIssue = issued
		m.newest.Set(float64(issued))
	}
	if m.labels[p.ID] || len(m.labels) < maxProductLabels {
		m.labels[p.ID] = true
		m.lastPosted.WithLabelValues(p.ID).SetToCurrentTime()
	}
}
