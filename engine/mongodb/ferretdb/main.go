//go:build ignore

// Command ferretdb serves MongoDB's protocol from SQLite files, for tests of
// correctness: its own command cannot be built from the module proxy. The lab
// builds it, as a module of its own, from ferretdb.mod and ferretdb.sum. Its
// users have no passwords: clients show a certificate that the CA signed.
package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/FerretDB/FerretDB/build/version"
	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	dir := flag.String("dir", "", "folder of the SQLite files")
	listen := flag.String("listen", "127.0.0.1:27017", "address to listen on")
	certificate := flag.String("certificate", "", "PEM file of its certificate and key")
	ca := flag.String("ca", "", "PEM file of the CA that signed the clients' certificates")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	at := ferretdb.ListenerConfig{TLS: *listen, TLSCertFile: *certificate, TLSKeyFile: *certificate, TLSCAFile: *ca}
	if err := serve(*dir, at, log); err != nil {
		log.Error("ferretdb ends", "error", err)
		os.Exit(1)
	}
}

func serve(dir string, at ferretdb.ListenerConfig, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:  at,
		SLogger:   log,
		Handler:   "sqlite",
		SQLiteURL: "file:" + filepath.ToSlash(dir) + "/",
	})
	if err != nil {
		return err
	}
	if info, ok := debug.ReadBuildInfo(); ok { // FerretDB learns its version from a file that the proxy's module lacks
		for _, m := range info.Deps {
			if m.Path == "github.com/FerretDB/FerretDB" {
				version.Get().Version = m.Version
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return f.Run(ctx)
}
