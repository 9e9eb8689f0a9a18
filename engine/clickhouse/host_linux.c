
// The process that runs ClickHouse's library. host.go starts this program again with the variable BAROGRAPH_CHDB, and
// then the code below takes over before Go starts. The library's threads, memory and signal handlers are therefore not
// those of Barograph, and several archives can be open, each in a process. The process serves connections on descriptor
// 3, each with a thread, and exits when its standard input ends.
//
// A request is a kind, a length of 4 bytes (in the machine's order) and a body. The kinds are:
//
//	S  a query whose reply is streamed
//	Q  another statement
//	I  the start of an INSERT, D its rows, F its end; if the connection ends before F, the rows are dropped
//
// The replies to S, Q and F are any number of frames D with rows in ClickHouse's Native format, and then Z, or X with an
// error.

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The declarations of chdb.h of chDB 26.7 that are used here.
typedef struct chdb_result chdb_result;
typedef struct chdb_handle *chdb_connection;
typedef struct chdb_stream *chdb_insert_stream;

#define FUNCTIONS(F) \
	F(chdb_connection *, chdb_connect, (int argc, char **argv)) \
	F(void, chdb_close_conn, (chdb_connection * c)) \
	F(void, chdb_set_signal_handlers_enabled, (int enabled)) \
	F(chdb_result *, chdb_query_n, (chdb_connection c, const char *text, size_t n, const char *format, size_t m)) \
	F(chdb_result *, chdb_stream_query_n, (chdb_connection c, const char *text, size_t n, const char *format, size_t m)) \
	F(chdb_result *, chdb_stream_fetch_result, (chdb_connection c, chdb_result *stream)) \
	F(void, chdb_stream_cancel_query, (chdb_connection c, chdb_result *stream)) \
	F(void, chdb_destroy_query_result, (chdb_result * r)) \
	F(char *, chdb_result_buffer, (chdb_result * r)) \
	F(size_t, chdb_result_length, (chdb_result * r)) \
	F(const char *, chdb_result_error, (chdb_result * r)) \
	F(chdb_insert_stream, chdb_stream_insert_n, (chdb_connection c, const char *text, size_t n, const char *format, size_t m)) \
	F(const char *, chdb_stream_insert_error, (chdb_insert_stream s)) \
	F(int, chdb_stream_append, (chdb_insert_stream s, const void *rows, size_t n)) \
	F(chdb_result *, chdb_stream_done, (chdb_insert_stream s)) \
	F(void, chdb_stream_cancel_insert, (chdb_insert_stream s)) \
	F(void, chdb_destroy_insert_stream, (chdb_insert_stream s))

#define DECLARE(result, name, args) static result(*name) args;
FUNCTIONS(DECLARE)

static int argc;
static char **argv;

#define NATIVE "Native", 6

static int get(int fd, void *to, size_t n) {
	for (char *p = to; n > 0;) {
		ssize_t got = read(fd, p, n);
		if (got <= 0) return -1;
		p += got, n -= got;
	}
	return 0;
}

static int put(int fd, char kind, const void *body, size_t n) {
	char head[5] = {kind};
	uint32_t length = n;
	memcpy(head + 1, &length, 4);
	const char *part[2] = {head, body};
	size_t size[2] = {5, n};
	for (int i = 0; i < 2; i++)
		for (size_t done = 0; done < size[i];) {
			ssize_t put = write(fd, part[i] + done, size[i] - done);
			if (put <= 0) return -1;
			done += put;
		}
	return 0;
}

static int fail(int fd, const char *why) { return put(fd, 'X', why, strlen(why)); }

// rows sends the rows of a result and frees the result. It returns 1 if they are the last, -1 if the connection
// is broken, and -2 after an error of the result.
static int rows(int fd, chdb_result *r) {
	const char *error = chdb_result_error(r);
	size_t n = error ? 0 : chdb_result_length(r);
	int state = error ? -2 : n == 0;
	if (error && fail(fd, error) < 0) state = -1;
	char *p = n ? chdb_result_buffer(r) : NULL;
	for (size_t some; state == 0 && n > 0; p += some, n -= some) {
		some = n < 1 << 30 ? n : 1 << 30;
		if (put(fd, 'D', p, some) < 0) state = -1;
	}
	chdb_destroy_query_result(r);
	return state;
}

static int query(int fd, chdb_connection c, const char *text, size_t n) {
	chdb_result *stream = chdb_stream_query_n(c, text, n, NATIVE);
	const char *error = chdb_result_error(stream);
	int state = 0;
	if (error)
		state = fail(fd, error);
	else {
		do state = rows(fd, chdb_stream_fetch_result(c, stream));
		while (state == 0);
		if (state == -1) chdb_stream_cancel_query(c, stream); // a finished one must not be canceled
		if (state == 1) state = put(fd, 'Z', NULL, 0);
	}
	chdb_destroy_query_result(stream);
	return state == -1 ? -1 : 0;
}

static int finish(int fd, chdb_result *r) {
	int state = rows(fd, r);
	if (state == 0 || state == 1) state = put(fd, 'Z', NULL, 0);
	return state == -1 ? -1 : 0;
}

static int finish_insert(int fd, chdb_insert_stream s) {
	const char *error = chdb_stream_insert_error(s);
	int state;
	if (error) {
		state = fail(fd, error);
		chdb_stream_cancel_insert(s);
	} else
		state = finish(fd, chdb_stream_done(s));
	chdb_destroy_insert_stream(s);
	return state;
}

static void *serve(void *of) {
	int fd = (int)(intptr_t)of;
	chdb_connection *c = chdb_connect(argc, argv);
	chdb_insert_stream insert = NULL;
	char head[5], *body = NULL;
	uint32_t n;
	for (int state = c ? 0 : -1; state == 0 && get(fd, head, 5) == 0;) {
		memcpy(&n, head + 1, 4);
		char *more = realloc(body, n + 1);
		if (!more) break;
		body = more;
		if (get(fd, body, n) < 0) break;
		switch (head[0]) {
		case 'S': state = query(fd, *c, body, n); break;
		case 'Q': state = finish(fd, chdb_query_n(*c, body, n, NATIVE)); break;
		case 'I': insert = chdb_stream_insert_n(*c, body, n, NATIVE); break;
		case 'D': chdb_stream_append(insert, body, n); break; // F returns its error
		default: state = finish_insert(fd, insert), insert = NULL;
		}
	}
	if (insert) {
		chdb_stream_cancel_insert(insert);
		chdb_destroy_insert_stream(insert);
	}
	free(body);
	close(fd);
	if (c) chdb_close_conn(c);
	return NULL;
}

static void *watch(void *unused) {
	char one;
	while (read(0, &one, 1) > 0) {
	}
	_exit(0); // committed data are on disk
}

static void die(const char *why) {
	fprintf(stderr, "%s\n", why);
	_exit(1);
}

__attribute__((constructor)) static void host(int count, char **values) {
	const char *path = getenv("BAROGRAPH_CHDB");
	if (!path) return;
	argc = count, argv = values;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN); // sent by the terminal; Barograph decides
	pthread_t thread;
	if (pthread_create(&thread, NULL, watch, NULL) != 0) die("no thread");
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib) die(dlerror());
#define LOAD(result, name, args) \
	if (!(*(void **)&name = dlsym(lib, #name))) die(dlerror());
	FUNCTIONS(LOAD)
	chdb_set_signal_handlers_enabled(0); // otherwise a crash sleeps for minutes
	if (!chdb_connect(argc, argv)) _exit(1); // the library has printed the reason; the connection stays open until the exit
	for (;;) {
		int fd = accept(3, NULL, NULL);
		if (fd < 0 && errno == EINTR) continue;
		if (fd < 0) die("no connection");
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd) != 0) die("no thread");
		pthread_detach(thread);
	}
}
