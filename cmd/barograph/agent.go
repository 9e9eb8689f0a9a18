package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/study/ycsb"
)

// envToken is the variable with the token of agents. It is no flag, because every user of a machine can read the
// arguments of processes.
const envToken = "BAROGRAPH_AGENT_TOKEN"

func newAgent(e *env) *cobra.Command {
	var listen, cert, key string
	c := &cobra.Command{
		Use:   "agent",
		Short: "Run a share of ycsb workloads for another machine",
		Long: `Agent waits until another machine runs ` + "`barograph ycsb load|run|sweep --agents`" + `, and then does its share of that workload.
It does one workload at a time, and waits for the next until ^C or SIGTERM.

Set the environment variable ` + envToken + ` to the same token on all machines: 16 characters or more,
for example from "openssl rand -hex 16". Whoever has the token can make the agent connect to any engine, and
read the files of embedded engines, with the rights of this process. To listen on an address that other machines reach,
the agent needs a certificate (--tls-cert and --tls-key).`,
		Example: `  export ` + envToken + `=$(cat token.txt)
  barograph agent --listen 127.0.0.1:7707
  barograph agent --listen 10.0.0.5:7707 --tls-cert agent.pem --tls-key agent.key`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return e.agent(c.Context(), listen, cert, key) },
	}
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:7707", "address to listen on")
	c.Flags().StringVar(&cert, "tls-cert", "", "PEM file with the certificate")
	c.Flags().StringVar(&key, "tls-key", "", "PEM file with the key of the certificate")
	c.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return c
}

// agent serves until it is interrupted.
func (e *env) agent(ctx context.Context, listen, cert, key string) error {
	listen = loopback(listen)
	token := os.Getenv(envToken)
	if len(token) < 16 {
		return fault.Misuse(envToken, "needs at least 16 characters",
			"set it here and on the machine that starts runs: export "+envToken+"=$(openssl rand -hex 16)")
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fault.Misuse("--listen "+listen, "is no host:port", "write for example --listen 127.0.0.1:7707")
	}
	if cert == "" && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return fault.Misuse("--listen "+listen, "would receive the token and URLs unencrypted",
			"add --tls-cert and --tls-key, or listen on 127.0.0.1:7707")
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS13}
	if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			problem := "cannot be used with --tls-key " + key
			return &fault.Error{Setting: "--tls-cert " + cert, Problem: problem, Err: err, Cure: "name the PEM files of a certificate and its key"}
		}
		secure.Certificates = []tls.Certificate{pair}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return &fault.Error{Setting: "--listen " + listen, Err: err, Cure: "name a free address of this machine"}
	}
	a := &ycsb.Agent{Engines: e.engines, Token: token, Print: e.info}
	server := newHTTPServer(a.Handler())
	server.ErrorLog = slog.NewLogLogger(e.log().Handler(), slog.LevelWarn)
	go func() {
		<-ctx.Done()
		_ = server.Close() // the agent stops a run when its request ends
	}()
	e.info("agent: " + listener.Addr().String())
	if cert != "" {
		server.TLSConfig = secure
		err = server.ServeTLS(listener, "", "")
	} else {
		err = server.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil // the signal ends a service as intended
	}
	return err
}

// openAgents returns the agents that the flags name, or nil.
func (f *ycsbFlags) openAgents(c *ycsb.Config) (*ycsb.Agents, error) {
	if len(f.agents) == 0 {
		return nil, nil //nolint:nilnil // the command uses no agents
	}
	for _, x := range []struct {
		flag  string
		given bool
	}{
		{"--fault", f.faults != ""},
		{"--shard", c.Shard.Of > 0},
		{"--history", f.faults == "" && f.historyClients > 0},
		{"--raw", f.raw != ""},
		{"--metrics", f.metrics != ""},
	} {
		if x.given {
			return nil, fault.Misuse(x.flag, "works with one client only", "omit --agents or "+x.flag)
		}
	}
	a := &ycsb.Agents{Addresses: f.agents, Token: os.Getenv(envToken)}
	if f.agentsCA != "" {
		text, err := os.ReadFile(f.agentsCA)
		if err != nil {
			return nil, &fault.Error{File: f.agentsCA, Problem: "cannot be read", Err: err, Cure: "check the path and its permissions"}
		}
		a.TLS = &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: x509.NewCertPool()}
		if !a.TLS.RootCAs.AppendCertsFromPEM(text) {
			const cure = "name the PEM file of the authority that signed the agents' certificates"
			return nil, &fault.Error{File: f.agentsCA, Problem: "contains no certificate", Cure: cure}
		}
	}
	return a, a.Check()
}

// agentFlags adds the flags for work that agents share.
func (f *ycsbFlags) agentFlags(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.agents, "agents", nil, "host:port of agents (\"barograph agent\") that share the work, each with --threads")
	c.Flags().StringVar(&f.agentsCA, "agents-ca", "", "PEM file of the authority that signed the agents' certificates; required for agents on other machines")
	seldom(c, "agents", "agents-ca")
}

// runOnAgents loads or runs a workload on agents. With --out it writes a run folder.
func (e *env) runOnAgents(ctx context.Context, f *ycsbFlags, a *ycsb.Agents, task ycsb.Task, c *ycsb.Config, t *ycsb.Target) error {
	_, u, err := e.engines.Parse(f.url)
	if err != nil {
		return err
	}
	task.Engine, task.Form, task.Mix = u.String(), t.Form, f.mixName()
	if task.Load {
		task.Mix = "load of " + task.Mix
	}
	folder, err := e.ycsbFolder(ctx, f.out, c, []*ycsb.Target{t})
	if err != nil {
		return err
	}
	s, failed := a.Run(ctx, task, folder.Run.Started)
	if s.Cell.Engine == "" { // no operation was started
		return errors.Join(failed, folder.Discard())
	}
	printer := &sweep{env: e, csv: f.csv, folder: folder} // a sweep prints samples of agents, too
	failed = errors.Join(failed, folder.Add(s), printer.print(folder.Samples()))
	if f.out == "" {
		return errors.Join(failed, folder.Close())
	}
	return errors.Join(failed, e.withoutOutput().finishFolder(folder))
}
