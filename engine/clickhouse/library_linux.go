package clickhouse

// #cgo LDFLAGS: -ldl -lpthread
import "C" // host_linux.c is built in; elsewhere there is no library for it, see library
