package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// logFile returns the file with the output of a node's processes and of its preparation. It is in the
// lab's folder, where the server's account cannot replace it by a link.
func (l *Lab) logFile(i int) string { return l.state.Cluster.Nodes[i].Dir + ".log" }

// environment lists the variables that servers inherit. Variables with secrets are not among them.
var environment = []string{"PATH", "LANG", "LC_ALL", "TZ", "JAVA_HOME"} //nolint:gochecknoglobals // a constant table

// poll is the interval at which a starting or stopping process is checked.
const poll = 25 * time.Millisecond

// startGate is a shell script that starts a command when it receives a line. The lab sends the line after it
// has written the pid into its state file. If the lab is killed before, the shell's input ends and the shell
// exits, so no unknown process remains.
const startGate = `read -r go && exec "$@" </dev/null`

// prepare makes a node's folder and data.
func (l *Lab) prepare(ctx context.Context, i int) error {
	c, n := &l.state.Cluster, &l.state.Cluster.Nodes[i]
	if err := os.MkdirAll(n.Dir, 0o700); err != nil {
		return err
	}
	if err := l.account.makeReachable(n.Dir); err != nil {
		return err
	}
	if err := l.mount(i); err != nil {
		return err
	}
	commands, err := l.server.Prepare(c, n)
	if err != nil {
		return err
	}
	if err := l.account.own(n.Dir); err != nil {
		return err
	}
	for _, command := range commands {
		exit, err := l.launch(i, command)
		if err == nil {
			select {
			case err = <-exit:
			case <-ctx.Done():
				err = errors.Join(ctx.Err(), l.state.Nodes[i].kill())
			}
		}
		if err != nil {
			return l.nodeError(i, strings.Join(command.Args, " "), err)
		}
	}
	l.state.Nodes[i] = NodeState{}
	if l.state.Frail {
		return l.controlDisk(i, diskFlush) // a power failure must not undo the installation
	}
	return nil
}

// configure sets the account, the folder, the environment and the log of a node's command. It returns the
// open log.
func (l *Lab) configure(cmd *exec.Cmd, command launch.Command, i int) (*os.File, error) {
	out, err := os.OpenFile(l.logFile(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	dir := l.state.Cluster.Nodes[i].Dir
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append([]string{"HOME=" + dir}, command.Env...)
	for _, name := range environment {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, l.env...)
	detach(cmd, l.account)
	return out, nil
}

// start starts a node and waits until it is ready.
func (l *Lab) start(ctx context.Context, i int) error {
	c, n := &l.state.Cluster, &l.state.Cluster.Nodes[i]
	if err := l.Kill(i); err != nil { // one of its processes may still run, although the others have ended
		return err
	}
	n.First = true
	for k := range l.state.Nodes {
		n.First = n.First && (k == i || !l.state.Nodes[k].alive())
	}
	if err := l.mount(i); err != nil {
		return err
	}
	commands, err := l.server.Start(c, n)
	if err != nil {
		return err
	}
	l.state.Nodes[i], l.children[i] = NodeState{}, nil // if the start fails, RestartAll starts it again
	for _, command := range commands {
		exit, err := l.launch(i, command)
		if err != nil {
			return l.nodeError(i, "cannot be started", err)
		}
		l.children[i] = append(l.children[i], exit)
	}
	if err := l.waitReady(ctx, i); err != nil {
		return err
	}
	l.state.Nodes[i].Running = true
	return nil
}

// launch starts a process, which may outlive this one, and writes it into the state file before it executes
// the command. The channel receives the result of the process once.
func (l *Lab) launch(i int, command launch.Command) (exit chan error, err error) {
	args := append([]string{"-c", startGate, "sh"}, command.Args...)
	cmd := exec.Command("/bin/sh", args...) //nolint:noctx // it outlives every context
	out, err := l.configure(cmd, command, i)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the child has its own
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := inNamespace(l.state.Cluster.Isolation, i, cmd.Start); err != nil {
		return nil, err
	}
	exit = make(chan error, 1)
	go func() { exit <- cmd.Wait() }()
	p, ok := identify(cmd.Process.Pid)
	if !ok {
		return nil, errors.New("ended at once")
	}
	l.state.Nodes[i].Processes = append(l.state.Nodes[i].Processes, p)
	err = errors.Join(l.state.save(), confine(l.state.Cluster.Isolation, i, p.PID), throttleNode(&l.state.Cluster, i))
	if err != nil {
		_ = in.Close() // the shell exits
		return nil, err
	}
	_, err = io.WriteString(in, "go\n")
	if closeErr := in.Close(); !errors.Is(closeErr, os.ErrClosed) { // Wait closes it when a short command has ended
		err = errors.Join(err, closeErr)
	}
	return exit, err
}

// waitReady queries a node until it replies, or one of its processes exits.
func (l *Lab) waitReady(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	c, n := &l.state.Cluster, &l.state.Cluster.Nodes[i]
	for {
		err := l.server.Ready(ctx, c, n)
		if err == nil {
			l.state.URL = l.server.URL(c)
			return nil
		}
		if exited, result := l.exited(i); exited {
			return l.nodeError(i, "ended by itself", result)
		}
		if ctxErr := engine.Pause(ctx, poll); ctxErr != nil {
			return l.nodeError(i, "does not answer", errors.Join(ctxErr, err))
		}
	}
}

// exited reports whether one of a node's processes has exited, and its result.
func (l *Lab) exited(i int) (exited bool, result error) {
	for _, exit := range l.children[i] {
		select {
		case result := <-exit:
			exit <- result // markStopped receives it again
			return true, result
		default:
		}
	}
	return false, nil
}

// nodeError returns an error about a node, with the end of its log.
func (l *Lab) nodeError(i int, problem string, err error) error {
	if err == nil {
		err = errors.New("status 0")
	}
	return &fault.Error{
		Setting: fmt.Sprintf("lab of %s, node %d", l.state.Engine, i+1), Problem: problem,
		Err: fmt.Errorf("%w\n%s", err, l.Log(i)), Cure: "fix what the end of its log reports",
	}
}

// logTail is the number of bytes of a log that an error shows.
const logTail = 2000

// Log returns the end of a node's log, and the ends of the logs that the server itself writes into the
// folder logs of the node.
func (l *Lab) Log(i int) string {
	var all strings.Builder
	all.WriteString(tail(os.ReadFile(l.logFile(i))))
	dir, err := os.OpenRoot(l.state.Cluster.Nodes[i].Dir) // no link of the server's account leads out of it
	if err != nil {
		return all.String()
	}
	defer dir.Close()                          //nolint:errcheck // only a handle
	logs, _ := fs.Glob(dir.FS(), "logs/*.log") // the pattern is valid
	for _, name := range logs {
		all.WriteString("\n" + path.Base(name) + ":\n" + tail(dir.ReadFile(name)))
	}
	return all.String()
}

// tail returns the last complete lines of a text, or the error of reading it.
func tail(text []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	if cut := len(text) - logTail; cut > 0 {
		text = text[cut:]
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
			text = rest
		}
	}
	return string(bytes.TrimSpace(text))
}

// Stop stops a node in an orderly way.
func (l *Lab) Stop(i int) error { return l.markStopped(i, l.state.Nodes[i].stop(l.server.Stop)) }

// Kill kills a node with all its processes (kill -9).
func (l *Lab) Kill(i int) error { return l.markStopped(i, l.state.Nodes[i].kill()) }

// markStopped waits for the processes of a node and records that it does not run. err is the result of
// stopping them: if it is not nil, markStopped returns it and does nothing else.
func (l *Lab) markStopped(i int, err error) error {
	if err != nil {
		return err
	}
	for _, exit := range l.children[i] {
		<-exit //nolint:errcheck // the lab stopped the process, so its result does not matter
	}
	l.children[i] = nil
	l.state.Nodes[i].Running = false
	return nil
}

// StopAll stops all nodes in an orderly way, the last one first.
func (l *Lab) StopAll() error {
	for i := range slices.Backward(l.state.Nodes) {
		if err := l.Stop(i); err != nil {
			return err
		}
	}
	return nil
}

// RestartAll starts all nodes that do not run, with their data and ports, in the order that the
// server needs.
func (l *Lab) RestartAll(ctx context.Context) error {
	order, err := l.order(ctx)
	if err != nil {
		return err
	}
	for _, i := range order {
		if n := &l.state.Nodes[i]; n.Running && n.alive() {
			continue
		}
		if err := l.start(ctx, i); err != nil {
			return err
		}
	}
	return l.state.save()
}

// Restart starts a node again after Stop or Kill, with its data and ports. If all nodes of a cluster are
// down, first start the node that stopped last.
func (l *Lab) Restart(ctx context.Context, i int) error {
	if l.state.Nodes[i].alive() {
		setting := fmt.Sprintf("lab of %s, node %d", l.state.Engine, i+1)
		return &fault.Error{Setting: setting, Problem: "runs already", Cure: "stop it first"}
	}
	return l.start(ctx, i)
}

// assignPorts assigns free ports to every node: own ones, and shared ones, which have the same number on the
// address of every node. It keeps all of them open until it has found the last one, so it assigns none twice.
func assignPorts(c *launch.Cluster, own, shared []string) error {
	nodes := c.Nodes
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			_ = l.Close() // nobody connected
		}
	}()
	for i := range nodes {
		nodes[i].Ports = map[string]int{}
		for _, name := range own {
			// The port is free on every address, because some servers listen on all of them.
			l, err := listenOnFree("")
			if err != nil {
				return err
			}
			listeners = append(listeners, l)
			nodes[i].Ports[name] = port(l)
		}
	}
	for _, name := range shared {
		ls, err := listenOnAll(c)
		if err != nil {
			return err
		}
		listeners = append(listeners, ls...)
		for i := range nodes {
			nodes[i].Ports[name] = port(ls[0])
		}
	}
	return nil
}

// portTries is the number of random ports that the lab tries.
const portTries = 1000

// minPort is the lowest port that the lab assigns.
const minPort = 20000

// listenOnFree listens on a free port that no other lab has reserved. Its number is below the numbers that the
// system assigns to connections, because a client could get such a number before the server starts, or while
// a killed server is down.
func listenOnFree(host string) (net.Listener, error) {
	end := minEphemeralPort()
	var last error
	for range portTries {
		n := minPort + rand.IntN(end-minPort)
		if !reserve(n) {
			continue
		}
		l, err := listen(host, n)
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, errors.Join(fmt.Errorf("no port from %d to %d is free", minPort, end-1), last)
}

// minEphemeralPort returns the lowest port that the system assigns to connections that request none.
func minEphemeralPort() int {
	const usual = 32768 // Linux's; other systems have a higher one
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low int
	if err != nil {
		return usual
	}
	if _, err := fmt.Sscan(string(text), &low); err != nil || low < minPort+2*portTries {
		return usual
	}
	return low
}

// listenOnAll listens on one port of every node's address. Isolated nodes have addresses of their own, so
// for them it listens on one free port of this machine.
func listenOnAll(c *launch.Cluster) ([]net.Listener, error) {
	host := func(i int) string {
		if c.Isolation != nil {
			return ""
		}
		return c.Nodes[i].Host
	}
	var last error
	for range portTries {
		first, err := listenOnFree(host(0))
		if err != nil {
			return nil, err
		}
		out := []net.Listener{first}
		for i := 1; i < len(c.Nodes) && err == nil && c.Isolation == nil; i++ {
			var l net.Listener
			if l, err = listen(host(i), port(first)); err == nil {
				out = append(out, l)
			}
		}
		if err == nil {
			return out, nil
		}
		last = err
		for _, l := range out {
			_ = l.Close() // nobody connected
		}
	}
	return nil, errors.Join(errors.New("no port is free on the addresses of all nodes"), last)
}

func listen(host string, port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // does not wait
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
