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
func givePorts(nodes []engine.Node, own, shared []string) error {
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
		ls, err := listenOnAll(nodes)
		if err != nil {
			return err
		}
		held = append(held, ls...)
		for i := range nodes {
			nodes[i].Ports[name] = port(ls[i])
		}
	}
	return nil
}

// sharedTries is how often a number is drawn for a shared port.
const sharedTries = 100

// listenOnAll listens on one port of every node's address.
func listenOnAll(nodes []engine.Node) ([]net.Listener, error) {
	var last error
	for range sharedTries {
		first, err := listen(nodes[0].Host, 0)
		if err != nil {
			return nil, err
		}
		out := []net.Listener{first}
		for i := 1; i < len(nodes) && err == nil; i++ {
			var l net.Listener
			if l, err = listen(nodes[i].Host, port(first)); err == nil {
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
