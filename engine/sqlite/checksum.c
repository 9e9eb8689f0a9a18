// A file system for SQLite that stores a checksum in the reserved bytes at the end of every page. SQLite has no
// checksums of its own in its file, and would return results from a page with a changed bit. write_summed sets the
// checksum when SQLite writes a page into the file, and read_checked compares it whenever SQLite reads the page.
// SQLite itself stores checksums in its log.

#include "checksum.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// SQLite's interface to file systems (sqlite.org/c3ref), which never changes. This package cannot include SQLite's
// header file, which is in the package of the driver.
typedef struct file { const struct methods *methods; } file;
typedef long long int64;

typedef struct methods {
	int version;
	int (*close)(file *);
	int (*read)(file *, void *, int n, int64 at);
	int (*write)(file *, const void *, int n, int64 at);
	void *others[15]; // the number in version 3
} methods;

typedef struct vfs {
	int version, file_size, path_size;
	struct vfs *next;
	const char *name;
	void *data;
	int (*open)(struct vfs *, const char *path, file *, int flags, int *out);
	void *others[15];
} vfs;

// These functions are in the driver's package, which is linked later.
extern vfs *sqlite3_vfs_find(const char *name) __attribute__((weak));
extern int sqlite3_vfs_register(vfs *, int as_default) __attribute__((weak));

enum {
	OK = 0,
	NO_MEMORY = 7,
	WRONG_DATA = 10 | 32 << 8, // SQLITE_IOERR_DATA
	MAIN_DB = 0x100,
	LEAST_PAGE = 512,
	HEADER = 100,
	RESERVED_AT = 20, // in the header: the number of reserved bytes
};

// state of an open database file. It is stored behind the state of the system's file system.
typedef struct state {
	methods methods;      // the system's methods, except close, read and write
	const methods *system;
	int sums;             // the pages have checksums
	unsigned char *copy;  // copy of the page that is written
	int copy_size;        // bytes
} state;

static vfs *real, own;

// real_size returns the size of a file of the system, rounded up so that a state can follow it.
static int real_size(void) { return (real->file_size + 7) & ~7; }
static state *state_of(file *f) { return (state *)((char *)f + real_size()); }

static uint64_t mix(uint64_t h, uint64_t word) {
	h = (h ^ word) * 0x9E3779B97F4A7C15u; // bijective: a changed word always changes h
	return h << 29 | h >> 35;
}

static uint64_t word(const unsigned char *p) {
	uint64_t w;
	memcpy(&w, p, sizeof w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	w = __builtin_bswap64(w);
#endif
	return w;
}

// checksum returns one checksum over the content of a page and its number. Because of the number, a page in the place
// of another one has a wrong checksum. Four sums in parallel take a quarter of the time of one.
static uint64_t checksum(const unsigned char *page, int n, int64 at) {
	uint64_t h[4] = {at / n + 1, 2, 3, 4};
	int end = n - SUM_BYTES, i = 0;
	for (; i + 32 <= end; i += 32)
		for (int k = 0; k < 4; k++) h[k] = mix(h[k], word(page + i + 8 * k));
	for (; i < end; i += 8) h[0] = mix(h[0], word(page + i));
	return mix(mix(mix(h[0], h[1]), h[2]), h[3]);
}

static int fits(const unsigned char *page, int n, int64 at) { return checksum(page, n, at) == word(page + n - SUM_BYTES); }

static int is_page(int n, int64 at) { return n >= LEAST_PAGE && (n & (n - 1)) == 0 && at % n == 0; }

// find_sums determines from the first bytes of a file whether it has checksums.
static void find_sums(state *s, const unsigned char *begin, int n, int64 at) {
	if (at == 0 && n >= HEADER) s->sums = begin[RESERVED_AT] == SUM_BYTES;
}

// lost_sums reports whether a first page had a checksum before its byte with the number of reserved bytes changed.
static int lost_sums(unsigned char *page, int n) {
	unsigned char original = page[RESERVED_AT];
	page[RESERVED_AT] = SUM_BYTES;
	int had_sums = fits(page, n, 0);
	page[RESERVED_AT] = original;
	return had_sums;
}

static int read_checked(file *f, void *to, int n, int64 at) {
	state *s = state_of(f);
	int rc = s->system->read(f, to, n, at);
	if (rc != OK) return rc;
	find_sums(s, to, n, at);
	if (!is_page(n, at)) return OK;
	if (s->sums) return fits(to, n, at) ? OK : WRONG_DATA;
	return at == 0 && lost_sums(to, n) ? WRONG_DATA : OK;
}

static int write_summed(file *f, const void *from, int n, int64 at) {
	state *s = state_of(f);
	find_sums(s, from, n, at);
	if (!s->sums || !is_page(n, at)) return s->system->write(f, from, n, at);
	if (s->copy_size < n) {
		unsigned char *more = realloc(s->copy, n);
		if (!more) return NO_MEMORY;
		s->copy = more, s->copy_size = n;
	}
	memcpy(s->copy, from, n);
	uint64_t sum = checksum(s->copy, n, at);
	for (int i = 0; i < SUM_BYTES; i++) s->copy[n - SUM_BYTES + i] = sum >> 8 * i;
	return s->system->write(f, s->copy, n, at);
}

static int close_file(file *f) {
	state *s = state_of(f);
	free(s->copy);
	s->copy = NULL, s->copy_size = 0;
	return s->system->close(f);
}

// open_file opens a file as the system does. For the file of a database it replaces three methods, and switches off
// memory mapping, whose reads no method sees.
static int open_file(vfs *v, const char *path, file *f, int flags, int *out) {
	int rc = real->open(real, path, f, flags, out);
	(void)v;
	if (rc != OK || !(flags & MAIN_DB)) return rc;
	state *s = state_of(f);
	memset(s, 0, sizeof *s);
	s->system = f->methods;
	memcpy(&s->methods, f->methods, s->system->version < 3 ? sizeof(methods) - 2 * sizeof(void *) : sizeof(methods));
	if (s->methods.version > 2) s->methods.version = 2;
	s->methods.close = close_file, s->methods.read = read_checked, s->methods.write = write_summed;
	f->methods = &s->methods;
	return OK;
}

int barograph_checksums(void) {
	real = sqlite3_vfs_find(NULL);
	if (!real) return 1;
	own = *real;
	own.name = SUM_VFS, own.open = open_file, own.next = NULL;
	own.file_size = real_size() + sizeof(state);
	return sqlite3_vfs_register(&own, 0);
}
