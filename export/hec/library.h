#define HEC_FUNCTIONS(F) \
	F(api_version) F(getFileVersion) F(set_value) F(open) F(close) F(tsGetDateTimeRange) F(tsRetrieve) \
	F(tsStoreRegular) F(tsStoreIrregular)

typedef struct {
	const char *(*api_version)(void);
	int (*getFileVersion)(const char *);
	int (*set_value)(const char *, int);
	int (*open)(const char *, void **);
	int (*close)(void *);
	int (*tsGetDateTimeRange)(void *, const char *, int, int *, int *, int *, int *);
	int (*tsRetrieve)(void *, const char *, const char *, const char *, const char *, const char *, int *, double *, int, char *, int, int *, int *, int,
		int *, int *, char *, int, char *, int, char *, int);
	int (*tsStoreRegular)(void *, const char *, const char *, const char *, double *, int, int *, int, const char *, int, int, const char *, const char *, const char *, int);
	int (*tsStoreIrregular)(void *, const char *, const char *, int *, int, double *, int, int *, int, const char *, int, int, const char *, const char *, const char *, int);
} hec_library;

const char *hec_load(const char *path, hec_library *l);
const char *hec_version(hec_library *l);
int hec_file_version(hec_library *l, const char *name);
int hec_quiet(hec_library *l);
int hec_open(hec_library *l, const char *name, void **dss);
int hec_close(hec_library *l, void *dss);
int hec_range(hec_library *l, void *dss, const char *path, int *at);
int hec_read(hec_library *l, void *dss, const char *path, const char *from_day, const char *from_time, const char *to_day, const char *to_time,
	int *times, double *values, int size, int *got, int *base, int *granularity, char *unit, char *type, int text);
int hec_store_regular(hec_library *l, void *dss, const char *path, const char *day, const char *time, double *values, int n, const char *unit, const char *type);
int hec_store_irregular(hec_library *l, void *dss, const char *path, const char *base, int *times, double *values, int n, const char *unit, const char *type);
