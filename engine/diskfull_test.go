package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/internal/fault"
)

// TestFullServer: the errors of SQL servers whose disk is full have a cure, in one line. Full servers returned these
// texts in TestFullDisk of engine/postgres and engine/mariadb.
func TestFullServer(t *testing.T) {
	for text, full := range map[string]bool{
		`ERROR: could not extend file "base/24632/2619": No space left on device (SQLSTATE 53100)`:                            true,
		"SL1L2: ERROR: could not extend file (SQLSTATE 53100)\nERROR: relation does not exist (SQLSTATE 42P01)":               true,
		"Error 1005 (HY000): Can't create table `s1`.`doc_isc` (errno: 135 \"No more room in record file\")":                  true,
		`Error 3 (HY000): Error writing file './s29/line_data_tcdiag.frm' (Errcode: 28 "No space left on device")`:            true,
		"Error 1114 (HY000): The table 'wide_sl1l2' is full":                                                                  true,
		"Error 1146 (42S02): Table 's.wide_sl1l2' doesn't exist":                                                              false,
		"Error 1005 (HY000): Can't create table `s1`.`doc_isc` (errno: 150 \"Foreign key constraint is incorrectly formed\")": false,
	} {
		err := engine.CallError(t.Context(), fmt.Errorf("commit to s1: %w", errors.New(text)))
		f, explained := errors.AsType[*fault.Error](err)
		if explained != full || full && (f.Cure == "" || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v; its disk is full: %t", err, full)
		}
	}
}
