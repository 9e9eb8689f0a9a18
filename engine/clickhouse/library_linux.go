package clickhouse

// #cgo LDFLAGS: -ldl -lpthread
import "C" // it makes go build compile host_linux.c; libraryPath reports other systems as not supported
