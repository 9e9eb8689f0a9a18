//go:build ignore

// Command ferretdb serves MongoDB's protocol from SQLite files, for tests of correctness. FerretDB's own command
// cannot be built from the module proxy. The lab builds this command as a separate module from ferretdb.mod and
// ferretdb.sum. There are no passwords: clients identify themselves by a certificate that the CA signed.
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
	listener := ferretdb.ListenerConfig{TLS: *listen, TLSCertFile: *certificate, TLSKeyFile: *certificate, TLSCAFile: *ca}
	if err := serve(*dir, listener, log); err != nil {
		log.Error("ferretdb failed", "error", err)
		os.Exit(1)
	}
}

func serve(dir string, listener ferretdb.ListenerConfig, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := ferretdb.New(&ferretdb.Config{
		Listener:  listener,
		SLogger:   log,
		Handler:   "sqlite",
		SQLiteURL: "file:" + filepath.ToSlash(dir) + "/",
	})
	if err != nil {
		return err
	}
	if info, ok := debug.ReadBuildInfo(); ok { // FerretDB reads its version from a file that the module of the proxy does not have
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
