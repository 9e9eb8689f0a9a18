// HEC's library, opened by the name of its file: what is used of hecdss.h, API 0.4.

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

const char *hec_load(const char *path, hec_library *l) {
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL)
		return dlerror();
#define FIND(name)                                           \
	*(void **)&l->name = dlsym(handle, "hec_dss_" #name); \
	if (l->name == NULL)                                 \
		return "it lacks hec_dss_" #name;
	HEC_FUNCTIONS(FIND)
	return NULL;
}

const char *hec_version(hec_library *l) { return l->api_version(); }
int hec_file_version(hec_library *l, const char *name) { return l->getFileVersion(name); }
int hec_quiet(hec_library *l) { return l->set_value("mlvl", 0); }
int hec_open(hec_library *l, const char *name, void **dss) { return l->open(name, dss); }
int hec_close(hec_library *l, void *dss) { return l->close(dss); }

int hec_range(hec_library *l, void *dss, const char *path, int *at) {
	return l->tsGetDateTimeRange(dss, path, 1, at, at + 1, at + 2, at + 3);
}

int hec_read(hec_library *l, void *dss, const char *path, const char *from_day, const char *from_time, const char *to_day, const char *to_time,
	int *times, double *values, int size, int *got, int *base, int *granularity, char *unit, char *type, int text) {
	char zone[64];
	return l->tsRetrieve(dss, path, from_day, from_time, to_day, to_time, times, values, size, NULL, 0, got, NULL, 0, base, granularity,
		unit, text, type, text, zone, sizeof zone);
}

// Flag 4: a missing value replaces none that is there.
int hec_store_regular(hec_library *l, void *dss, const char *path, const char *day, const char *time, double *values, int n, const char *unit, const char *type) {
	return l->tsStoreRegular(dss, path, day, time, values, n, NULL, 0, NULL, 0, 0, unit, type, "UTC", 4);
}

// Flag 0: merged with what is there; 1 would remove all between the first and the last. Times
// are in seconds always: in minutes, the library would cut those that are there.
int hec_store_irregular(hec_library *l, void *dss, const char *path, const char *base, int *times, double *values, int n, const char *unit, const char *type) {
	return l->tsStoreIrregular(dss, path, base, times, 1, values, n, NULL, 0, NULL, 0, 0, unit, type, "UTC", 0);
}
