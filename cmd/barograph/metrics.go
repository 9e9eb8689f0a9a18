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

// metrics serves the metrics of a registry at an address until the caller calls stop. An address without a host is on
// this machine only.
func (e *env) metrics(ctx context.Context, metrics prometheus.Gatherer, listen string) (stop func(), err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", loopback(listen))
	if err != nil {
		return nil, &fault.Error{Setting: "--metrics " + listen, Err: err, Cure: "name a free address, such as 127.0.0.1:9464"}
	}
	server := newHTTPServer(promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	go server.Serve(listener) //nolint:errcheck // the server stops with the command
	e.info("metrics: http://" + listener.Addr().String() + "/metrics")
	return func() { _ = server.Close() }, nil
}

// loopback completes an address to listen on: without a host it is 127.0.0.1.
func loopback(address string) string {
	if strings.HasPrefix(address, ":") {
		return "127.0.0.1" + address
	}
	return address
}

// serveMetrics serves the metrics of runs if --metrics names an address.
func (f *ycsbFlags) serveMetrics(ctx context.Context, e *env) (m *ycsb.Metrics, stop func(), err error) {
	if f.metrics == "" {
		return nil, func() {}, nil
	}
	m = ycsb.NewMetrics()
	registry := prometheus.NewRegistry()
	registry.MustRegister(m)
	stop, err = e.metrics(ctx, registry, f.metrics)
	return m, stop, err
}
