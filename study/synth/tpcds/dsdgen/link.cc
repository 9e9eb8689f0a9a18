// Registers the function dsdgen in a database. DuckDB's library contains it, but its Go
// module does not register it. See link.go.

#include <cstdio>
#include <exception>
#include <string>

// Declarations of DuckDB's C++ headers: the Go module has only the library and
// its C header. Names and types are those of link.go's version.
namespace duckdb {
class DatabaseInstance;
class ExtensionLoader {
public:
	ExtensionLoader(DatabaseInstance &db, const std::string &name);

private:
	char members[1024]; // more than the real members need; this file does not use them
};
} // namespace duckdb

extern "C" void tpcds_duckdb_cpp_init(duckdb::ExtensionLoader &loader);

// A duckdb_database points to a struct that is a shared_ptr<DuckDB>, and a
// DuckDB is a shared_ptr<DatabaseInstance>; a shared_ptr begins with its pointer.
extern "C" int barograph_link_dsdgen(void *database, char *message, int room) {
	try {
		void *duck = *static_cast<void **>(database);
		auto *instance = static_cast<duckdb::DatabaseInstance *>(*static_cast<void **>(duck));
		auto *loader = new duckdb::ExtensionLoader(*instance, "tpcds"); // stays: its destructor cannot be called
		tpcds_duckdb_cpp_init(*loader);
		return 0;
	} catch (const std::exception &e) {
		std::snprintf(message, room, "%s", e.what());
	} catch (...) {
		std::snprintf(message, room, "an error without a name");
	}
	return 1;
}
