package metviewer

// Element is an element of a load_spec: what METdbLoad or VxIngest does with it, and its meaning
// here.
type Element struct {
	Path    string // below load_spec
	Meaning string
	Here    string
	Used    bool // it changes what Barograph does; the others are read and ignored
}

// elements are the known elements of a load_spec, in the order of METdbLoad's schema, followed by
// VxIngest's own.
var elements = []Element{ //nolint:gochecknoglobals // a constant table
	{"connection", "the database", "the target, where --engine names none", true},
	{"connection/management_system", "mysql, mariadb or aurora; VxIngest: cb", "chooses the engine: mysql, mariadb and aurora are mariadb, postgres is postgres", true},
	{"connection/host", "host:port", "of the URL", true},
	{"connection/database", "the database; VxIngest: the subset", "the subset, and the database of the URL", true},
	{"connection/user", "who loads", "of the URL", true},
	{"connection/password", "the password", "of the URL; never printed", true},
	{"connection/local_infile", "whether LOAD DATA LOCAL may be used", "not needed: each engine loads by its fastest way", false},
	{"date_list", "a named list of dates: start, end, inc (seconds), format", "the same; the end is always in the list", true},
	{"date_list/start", "first date, written as format says", "the same; also a date_offset (day_offset, hour) from today, at which METdbLoad ends", true},
	{"date_list/end", "last date", "the same as start", true},
	{"date_list/inc", "seconds between dates", "the same", true},
	{"date_list/format", "Java letters: yyyy MM dd D HH hh mm ss z", "the same; also quoted text, - and _, at which METdbLoad ends", true},
	{"verbose", "print more", "not needed: --verbose", false},
	{"insert_size", "rows per INSERT", "not needed: every engine loads in bulk", false},
	{"stat_header_table_check", "2010: look for each header among those of this load", "not needed: a header is stored once, always", false},
	{"stat_header_db_check", "look for each header in the database; false: headers double at every load", "not needed: a header is stored once, always", false},
	{"mode_header_db_check", "the same for MODE", "not needed: a header is stored once, always", false},
	{"mtd_header_db_check", "the same for MTD", "not needed: a header is stored once, always", false},
	{"tcst_header_db_check", "the same for TCST", "not needed: a header is stored once, always", false},
	{"drop_indexes", "drop METviewer's further indexes before loading", "not needed: bulk loading does not wait for them", false},
	{"apply_indexes", "create METviewer's further indexes after loading", "the same, where the target is the connection's and not that of --engine", true},
	{"load_stat", "load .stat and VSDB files", "the same, by the names of the files", true},
	{"load_mode", "load MODE files: …cts.txt, …obj.txt", "the same", true},
	{"load_mtd", "load MTD files: …2d.txt, 3d_s, 3d_p in the path", "the same", true},
	{"load_mpr", "load MPR lines; false where it is not said", "the same", true},
	{"load_orank", "load ORANK lines; false where it is not said", "the same", true},
	{"force_dup_file", "load the lines of a file again that is loaded already: they then stand there twice", "not needed: a file that is loaded already is skipped, and loading it again would change nothing, since a record replaces itself", false},
	{"group", "group of databases in METviewer's menu", "kept in METviewer's tables (metadata), with a description; NO GROUP is not", true},
	{"description", "description of the database in METviewer's menu", "kept in METviewer's tables, with a group", true},
	{"load_files", "files to load", "the same; with it, folder_tmpl is not used, as in METdbLoad", true},
	{"load_files/file", "a file", "the same; a folder or pattern is understood, too", true},
	{"folder_tmpl", "folders to load, with {field} for each value of that field", "the same; files in folders below are not taken", true},
	{"load_val", "the values to fill into folder_tmpl", "the same; a field that folder_tmpl lacks is left out, with a warning", true},
	{"load_val/field", "a field, by its name", "the same", true},
	{"load_val/field/val", "a value", "the same", true},
	{"load_val/field/date_list", "the values of a date_list, by its name", "the same", true},
	{"line_type", "line types to load; the others are left out", "the same; the lines left out are counted", true},
	{"line_type/val", "a line type", "the same", true},
	{"load_xml", "keep the load_spec in the database", "kept in METviewer's tables (instance_info), without its password; false: no row there, as in METdbLoad", true},
	{"load_note", "a note next to it", "kept next to it", true},

	{"email", "VxIngest: whom to write to", "not needed", false},
	{"initialize_db", "VxIngest: create buckets and indexes", "not needed: an archive is made when it is first opened", false},
	{"organization", "VxIngest: whose data it is", "not kept", false},
}
