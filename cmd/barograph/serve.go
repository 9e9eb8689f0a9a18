package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/serve"

	"github.com/spf13/cobra"
)

func newServe(e *env) *cobra.Command {
	var listen string
	var open bool
	c := &cobra.Command{
		Use:   "serve [URL|FILE|RUN|DIR]…",
		Short: "Open a local page: explore archives, watch runs, read reports",
		Long: `Serve shows archives and run folders in a browser on this machine: curves with their intervals and queries, loads and
quarantined lines, running and finished studies. It prints one URL and needs no network. It opens archives read-only
and closes them when they are not in use. Stop it with ^C.`,
		Example: `  barograph serve archive.duckdb
  barograph serve runs
  barograph serve lab:postgres runs/first --open`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				url, _, err := e.splitArchive(c, nil)
				if err != nil {
					return err
				}
				args = []string{url}
			}
			return e.serve(c.Context(), listen, open, args)
		},
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "address and port to listen on; port 0 = any free port")
	c.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	return c
}

func (e *env) serve(ctx context.Context, listen string, open bool, args []string) error {
	for i, arg := range args {
		if _, url := engine.SplitName(arg); e.isArchive(url) {
			var err error
			if args[i], err = e.resolveServer(arg, []string{engine.LabDir()}); err != nil {
				return err
			}
		}
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", listen)
	if err != nil {
		err = cmp.Or(errors.Unwrap(errors.Unwrap(err)), err) // without the address, which the setting names
		return &fault.Error{Setting: "--listen " + listen, Problem: "cannot be used", Err: err, Cure: "name another port, or 0 for any free port"}
	}
	address, _ := listener.Addr().(*net.TCPAddr)
	if address.IP.IsUnspecified() { // serve accepts only requests whose Host is the address of its URL
		_ = listener.Close() // it accepted nothing
		return fault.Misuse("--listen "+listen, "names no address of this machine", "name one, such as 127.0.0.1:8042 or that of its network")
	}
	if !address.IP.IsLoopback() {
		e.info("warning: other machines can reach " + listener.Addr().String() +
			"; everyone who has the URL can read all data, and the connection is not encrypted")
	}
	page, err := serve.New(serve.Options{Registry: e.engines, Version: build.Version(), Host: listener.Addr().String()}, args...)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			err = usage(err)
		}
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintln(e.stdout, page.URL())
	if open {
		remove, err := browse(ctx, page.URL())
		if err != nil {
			e.reportError(&fault.Error{Setting: "--open", Err: err, Cure: "open the URL yourself"})
		}
		defer remove()
	}
	server := newHTTPServer(page.Handler())
	server.BaseContext = func(net.Listener) context.Context { return ctx }
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		stopped <- server.Close() // Shutdown would wait for streams, which never end
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(err, page.Close())
	}
	return errors.Join(<-stopped, page.Close())
}

// redirect is the template of a page that redirects to a URL.
const redirect = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Barograph</title>
<meta http-equiv="refresh" content="0; url={{.}}"><a href="{{.}}">Barograph</a>
`

// browse opens a URL in the user's browser. The URL contains a token, and every user of this machine
// can read the arguments of processes. Therefore browse writes the URL into a file that only this
// user can read, and gives the file to the browser. The caller removes the file.
func browse(ctx context.Context, url string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "barograph-open-")
	if err != nil {
		return func() {}, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // the system removes old temporary files
	f, err := os.OpenFile(filepath.Join(dir, "barograph.html"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return remove, err
	}
	if err := errors.Join(template.Must(template.New("").Parse(redirect)).Execute(f, url+"&"+serve.Opened), f.Close()); err != nil {
		return remove, err
	}
	name, args := "xdg-open", []string{f.Name()}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", f.Name()}
	}
	return remove, exec.CommandContext(context.WithoutCancel(ctx), name, args...).Start() //nolint:gosec // our own file
}
