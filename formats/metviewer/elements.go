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
	{"connection", "the database", "the target, if you give no --engine", true},
	{"connection/management_system", "mysql, mariadb or aurora; VxIngest: cb", "chooses the engine: mysql, mariadb and aurora are mariadb, postgres is postgres", true},
	{"connection/host", "host:port", "becomes the host of the target's URL", true},
	{"connection/database", "the database; VxIngest: the subset", "becomes the subset, and the database of the target's URL", true},
	{"connection/user", "who loads", "becomes the user of the target's URL", true},
	{"connection/password", "the password", "becomes the password of the target's URL; never printed", true},
	{"connection/local_infile", "whether LOAD DATA LOCAL may be used", "not needed: each engine loads by its fastest way", false},
	{"date_list", "a named list of dates: start, end, inc (seconds), format", "the same; the list always includes the end", true},
	{"date_list/start", "first date, written as format says", "the same; also a date_offset (day_offset, hour) relative to today, on which METdbLoad aborts", true},
	{"date_list/end", "last date", "the same as start", true},
	{"date_list/inc", "seconds between dates", "the same", true},
	{"date_list/format", "Java letters: yyyy MM dd D HH hh mm ss z", "the same; also quoted text, - and _, on which METdbLoad aborts", true},
	{"verbose", "print more", "ignored; use --verbose", false},
	{"insert_size", "rows per INSERT", "not needed: every engine loads in bulk", false},
	{"stat_header_table_check", "look for each header among those of this load (METviewer of 2010)", "not needed: each header is always stored once", false},
	{"stat_header_db_check", "look for each header in the database; false: each load stores the headers again", "not needed: each header is always stored once", false},
	{"mode_header_db_check", "the same for MODE", "not needed: each header is always stored once", false},
	{"mtd_header_db_check", "the same for MTD", "not needed: each header is always stored once", false},
	{"tcst_header_db_check", "the same for TCST", "not needed: each header is always stored once", false},
	{"drop_indexes", "drop METviewer's further indexes before loading", "not needed: indexes do not slow down bulk loading", false},
	{"apply_indexes", "create METviewer's further indexes after loading", "the same, if the target comes from connection and not from --engine", true},
	{"load_stat", "load .stat and VSDB files", "the same; the name of a file decides its type", true},
	{"load_mode", "load MODE files: …cts.txt, …obj.txt", "the same", true},
	{"load_mtd", "load MTD files: paths with 2d.txt, 3d_s or 3d_p", "the same", true},
	{"load_mpr", "load MPR lines; default: false", "the same", true},
	{"load_orank", "load ORANK lines; default: false", "the same", true},
	{"force_dup_file", "load a file again that was loaded before: its lines are then stored twice", "not needed: Barograph skips a loaded file, also if the load_spec left out some of its lines; load these into another subset", false},
	{"group", "group of databases in METviewer's menu", "stored with description in METviewer's table metadata, only on MariaDB (normalized); NO GROUP is not stored", true},
	{"description", "description of the database in METviewer's menu", "stored with group in METviewer's table metadata", true},
	{"load_files", "files to load", "the same; if it is present, folder_tmpl is ignored, as in METdbLoad", true},
	{"load_files/file", "a file", "the same; a folder or a pattern also works", true},
	{"folder_tmpl", "folders to load, with {field} for each value of that field", "the same; files in subfolders are not loaded", true},
	{"load_val", "the values to fill into folder_tmpl", "the same; a field that folder_tmpl lacks is left out, with a warning", true},
	{"load_val/field", "a field, by its name", "the same", true},
	{"load_val/field/val", "a value", "the same", true},
	{"load_val/field/date_list", "the values of a date_list, by its name", "the same", true},
	{"line_type", "line types to load; the others are left out", "the same; the lines left out are counted", true},
	{"line_type/val", "a line type", "the same", true},
	{"load_xml", "keep the load_spec in the database", "stored without the password in table instance_info (MariaDB, normalized); false: not stored, as in METdbLoad", true},
	{"load_note", "a note on the stored load_spec", "stored with it in instance_info", true},

	{"email", "VxIngest: whom to write to", "not needed", false},
	{"initialize_db", "VxIngest: create buckets and indexes", "not needed: an archive is made when it is first opened", false},
	{"organization", "VxIngest: whose data it is", "not kept", false},
}
