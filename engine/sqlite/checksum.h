#define SUM_BYTES 8                // reserved at the end of every page
#define SUM_VFS "barograph-sums"   // the name of the file system

// barograph_checksums makes the file system known to SQLite; 0 = done.
int barograph_checksums(void);
