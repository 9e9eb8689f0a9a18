package serve

import (
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"

	"github.com/klauspost/compress/gzhttp"
)

//go:generate go tool esbuild web/app.ts web/app.css --bundle --minify --target=es2022 --format=esm --legal-comments=none --outdir=web/dist
//go:generate cp web/index.html web/dist/index.html
//go:generate cp web/vendor/uplot/LICENSE web/dist/uplot-licence.txt

//go:embed web/dist
var dist embed.FS

// Options for New.
type Options struct {
	Registry engine.Registry
	Version  string
	Host     string // that browsers name: 127.0.0.1:8042
	Log      *slog.Logger
}

// Server serves archives and run folders.
type Server struct {
	o        Options
	token    string
	archives []*servedArchive
	folders  []folder
	answers  answers
	rankings rankings
}

// New makes a server of archives and folders: engines' URLs, files of embedded
// engines, run folders, folders of run folders.
func New(o Options, places ...string) (*Server, error) {
	s := &Server{o: o, token: rand.Text()}
	for _, p := range places {
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// URL is where a browser begins: it carries the token once.
func (s *Server) URL() string { return "http://" + s.o.Host + "/?token=" + s.token }

// Close lets all archives go.
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
	for path, h := range map[string]answering{
		"home": s.home, "state": s.state, "inventory": s.inventory, "curve": s.curve, "curve.csv": s.download, "curve.parquet": s.download, "curve.svg": s.download,
		"rows.csv": s.download, "rows.parquet": s.download, "question.yaml": s.taken, "question.xml": s.taken, "question.sh": s.taken, "asked": s.asked, "loads": s.loads, "runs": s.runs, "cells": s.cells, "faster": s.faster,
		"events": s.events, "scorecard": s.scorecard, "quarantine": s.quarantine,
	} {
		m.Handle("/api/v1/"+path, h)
	}
	m.Handle("/runs/{folder}/{name}/report.html", answering(s.report))
	m.Handle("/runs/{folder}/{name}/{file...}", answering(s.file))
	m.Handle("/compare.html", answering(s.compared))
	return s.guard(gzhttp.GzipHandler(m))
}

// answering is a handler whose errors are answered too.
type answering func(w http.ResponseWriter, r *http.Request) error

func (h answering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := h(w, r)
	if err == nil || r.Context().Err() != nil {
		return
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
	_ = json.NewEncoder(w).Encode(map[string]string{"error": fault.Redact(err.Error())}) // the browser is gone
}

// gone is an error for something that does not exist: status 404.
type gone struct{ error }

func (gone) Is(target error) bool { return target == fs.ErrNotExist }
func (g gone) Unwrap() error      { return g.error }

// write answers with JSON.
func write(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(v)
}

// shell is the page of every view: the script finds out which.
func (s *Server) shell(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, dist, "web/dist/index.html")
}

func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if strings.ContainsAny(name, `/\`) {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "no-cache") // the browser validates it by its ETag
	http.ServeFileFS(w, r, dist, "web/dist/"+name)
}
