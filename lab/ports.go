package lab

import (
	"errors"
	"net"
	"strconv"

	"barograph/engine"
)

// givePorts gives every node ports that nobody listens on: own ones, and
// shared ones, which have one number on the address of every node. All are
// held until the last one is found, so that none is given twice.
func givePorts(c *engine.Cluster, own, shared []string) error {
	nodes := c.Nodes
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // it was only held
		}
	}()
	for i := range nodes {
		nodes[i].Ports = map[string]int{}
		for _, name := range own {
			// On every address: some servers listen there, whatever they are told.
			l, err := listen("", 0)
			if err != nil {
				return err
			}
			held = append(held, l)
			nodes[i].Ports[name] = port(l)
		}
	}
	for _, name := range shared {
		ls, err := listenOnAll(c)
		if err != nil {
			return err
		}
		held = append(held, ls...)
		for i := range nodes {
			nodes[i].Ports[name] = port(ls[0])
		}
	}
	return nil
}

// sharedTries is how often a number is drawn for a shared port.
const sharedTries = 100

// listenOnAll listens on one port of every node's address. Isolated nodes
// have all numbers to themselves; there any that is free here will do.
func listenOnAll(c *engine.Cluster) ([]net.Listener, error) {
	host := func(i int) string {
		if c.Isolation != nil {
			return ""
		}
		return c.Nodes[i].Host
	}
	var last error
	for range sharedTries {
		first, err := listen(host(0), 0)
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
			_ = l.Close() // it was only held
		}
	}
	return nil, errors.Join(errors.New("no port is free on the addresses of all nodes"), last)
}

func listen(host string, port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // does not wait
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
