package serve

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"

	"github.com/klauspost/compress/gzhttp"
	"github.com/zeebo/xxh3"
)

//go:generate go tool esbuild web/app.ts web/app.css --bundle --minify --target=es2022 --format=esm --legal-comments=none --outdir=web/dist
//go:generate cp web/index.html web/dist/index.html
//go:generate cp web/vendor/uplot/LICENSE web/dist/uplot-licence.txt

//go:embed web/dist
var dist embed.FS

// Options for New.
type Options struct {
	Registry engine.Registry
	Version  string // of Barograph
	Host     string // host and port of the page's URL: 127.0.0.1:8042
}

// Server serves archives and run folders.
type Server struct {
	o        Options
	token    string
	archives []*servedArchive
	folders  []folder
	answers  answerCache
	rankings rankings
}

// New makes a server of places: URLs of engines, files of embedded engines, run folders, and folders
// of run folders.
func New(o Options, places ...string) (*Server, error) {
	s := &Server{o: o, token: rand.Text()}
	for _, p := range places {
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// URL is the first URL that a browser opens. Only this one contains the token.
func (s *Server) URL() string { return "http://" + s.o.Host + "/?token=" + s.token }

// Close closes the archives, except those that a request still uses.
func (s *Server) Close() error {
	var errs []error
	for _, a := range s.archives {
		errs = append(errs, a.release())
	}
	return errors.Join(errs...)
}

// Handler answers browsers.
func (s *Server) Handler() http.Handler {
	m := http.NewServeMux()
	for _, view := range []string{"explore", "scorecard", "runs", "live", "loads", "about"} {
		m.HandleFunc("/"+view, s.shell)
	}
	m.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		view := "/explore"
		if len(s.archives) == 0 {
			view = "/runs"
		}
		http.Redirect(w, r, view, http.StatusSeeOther)
	})
	m.HandleFunc("/assets/{file}", s.asset)
	for path, h := range map[string]handler{
		"home": s.home, "state": s.state, "inventory": s.inventory, "loads": s.loads,
		"curve": s.curve, "curve.csv": s.download, "curve.parquet": s.download, "curve.svg": s.download,
		"rows.csv": s.download, "rows.parquet": s.download,
		"question.yaml": s.exportQuestion, "question.xml": s.exportQuestion, "question.sh": s.exportQuestion,
		"asked": s.query, "faster": s.faster, "scorecard": s.scorecard,
		"runs": s.runs, "cells": s.cells, "events": s.events, "quarantine": s.quarantine,
	} {
		m.Handle("/api/v1/"+path, h)
	}
	m.Handle("/runs/{folder}/{file...}", handler(s.file))
	m.Handle("/compare.html", handler(s.comparison))
	return s.guard(gzhttp.GzipHandler(m))
}

// handler answers a request. ServeHTTP sends its error to the browser as JSON.
type handler func(w http.ResponseWriter, r *http.Request) error

// ServeHTTP answers a request. If the handler fails after it has sent a part of its response, ServeHTTP
// breaks the connection: otherwise the browser would keep an incomplete file as a complete one.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &response{ResponseWriter: w}
	err := h(out, r)
	if err == nil || r.Context().Err() != nil {
		return
	}
	if out.started {
		panic(http.ErrAbortHandler)
	}
	for _, name := range []string{"Content-Disposition", "ETag", "Cache-Control"} { // of the response that failed
		w.Header().Del(name)
	}
	status := http.StatusInternalServerError
	switch _, ours := errors.AsType[*fault.Error](err); {
	case errors.Is(err, fs.ErrNotExist):
		status = http.StatusNotFound
	case errors.Is(err, engine.ErrUnreachable):
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "2")
	case fault.Code(err) == fault.Usage || ours:
		status = http.StatusBadRequest
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": fault.Redact(err.Error())}) // it fails only if the browser has left
}

// response records whether a response was started.
type response struct {
	http.ResponseWriter
	started bool
}

// WriteHeader sends the header.
func (r *response) WriteHeader(status int) {
	r.started = true
	r.ResponseWriter.WriteHeader(status)
}

func (r *response) Write(p []byte) (int, error) {
	r.started = true
	return r.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController flush the response.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// notFound is an error for something that does not exist: status 404.
type notFound struct{ error }

func (notFound) Is(target error) bool { return target == fs.ErrNotExist }
func (n notFound) Unwrap() error      { return n.error }

// writeJSON answers with JSON.
func writeJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(v)
}

// shell sends the page of every view. Its script chooses the view by the path.
func (s *Server) shell(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, dist, "web/dist/index.html")
}

// asset sends a script, a style sheet or a license. A browser keeps it and asks by its ETag whether it has
// changed. Embedded files have no time of modification.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	text, err := dist.ReadFile("web/dist/" + name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", fmt.Sprintf(`W/"%016x"`, xxh3.Hash(text)))
	http.ServeFileFS(w, r, dist, "web/dist/"+name)
}
