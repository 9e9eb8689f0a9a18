package main

import (
	"context"
	"net"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/study/ycsb"
)

// metrics serves what is registered at an address, until it is stopped.
func (e *env) metrics(ctx context.Context, of prometheus.Gatherer, listen string) (stop func(), err error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, &fault.Error{Setting: "--metrics " + listen, Err: err, Cure: "name an address that is free"}
	}
	server := newHTTPServer(promhttp.HandlerFor(of, promhttp.HandlerOpts{}))
	go server.Serve(l) //nolint:errcheck // it ends with the command
	e.says("metrics: http://" + l.Addr().String() + "/metrics")
	return func() { _ = server.Close() }, nil
}

// loopback is an address to listen at: without a host, that of this machine alone.
func loopback(address string) string {
	if strings.HasPrefix(address, ":") {
		return "127.0.0.1" + address
	}
	return address
}

// measured serves the metrics of runs, if that is asked for.
func (f *ycsbFlags) measured(ctx context.Context, e *env) (m *ycsb.Metrics, stop func(), err error) {
	if f.metrics == "" {
		return nil, func() {}, nil
	}
	m = ycsb.NewMetrics()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	stop, err = e.metrics(ctx, registry, loopback(f.metrics))
	return m, stop, err
}
