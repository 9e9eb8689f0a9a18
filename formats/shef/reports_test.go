package shef_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestReports checks what users of other decoders reported, and what their test data contains.
// docs/results/shef-decoders.md lists the same rows with their paragraphs. Values are written as by
// brief, derived from the manual. Problems are numbers of appendix J, and a w marks a warning (0 =
// no number). lost counts the pieces that were not decoded. now is the date that completes dates
// without a year.
func TestReports(t *testing.T) {
	for _, c := range []struct {
		report, text, values, problems string
		lost                           int64
	}{
		{
			"opendcs#384: column headings between .ER and its lines",
			".ER WOOR1 20231023 E DC202310231053/DH14/HGIFF/DIH6\n:STAGE FCST  /   8AM /   2PM /   8PM /   2AM \n" +
				".E1  :1023:          /   3.8 /   3.7 /   3.5 \n.E2  :1024:  /   3.4 /   3.3",
			"WOOR1 2023-10-23 18:00 HGIFFZZ 3.8 Z dc 2023-10-23 14:53 rev ts 1|WOOR1 2023-10-24 00:00 HGIFFZZ 3.7 Z dc 2023-10-23 14:53 rev ts 2|" +
				"WOOR1 2023-10-24 06:00 HGIFFZZ 3.5 Z dc 2023-10-23 14:53 rev ts 2|WOOR1 2023-10-24 12:00 HGIFFZZ 3.4 Z dc 2023-10-23 14:53 rev ts 2|" +
				"WOOR1 2023-10-24 18:00 HGIFFZZ 3.3 Z dc 2023-10-23 14:53 rev ts 2",
			"", 0,
		},
		{
			"opendcs#546: a second element of the same station has its own times", // the thread has no text; this one has its form
			".ER TRVM4 20240402 E DC2404021046/DH14/HGIFF/DIH6\n.E1 :0402:          / 6.1 / 6.0\n.ER TRVM4 20240402 E DC2404021046/DH20/QRIFF/DIH6/4.2/4.1",
			"TRVM4 2024-04-02 18:00 HGIFFZZ 6.1 Z dc 2024-04-02 14:46 rev ts 1|TRVM4 2024-04-03 00:00 HGIFFZZ 6 Z dc 2024-04-02 14:46 rev ts 2|" +
				"TRVM4 2024-04-03 00:00 QRIFFZZ 4.2 Z dc 2024-04-02 14:46 rev ts 1|TRVM4 2024-04-03 06:00 QRIFFZZ 4.1 Z dc 2024-04-02 14:46 rev ts 2",
			"", 0,
		},
		{
			"opendcs#1053: lines that end in a colon, times with seconds",
			"KLOXRR2LAX ALL\n.A LRWC1 250413 PD DH120155 /QRIRR 111.02:\n.A LRWC1 250413 PD DH120155 /PCIRR 10.72:\n.A LRWC1 250413 PD DH120155 /HGIRR 10.29:",
			"LRWC1 2025-04-13 19:01:55 QRIRRZZ 111.02 Z|LRWC1 2025-04-13 19:01:55 PCIRRZZ 10.72 Z|LRWC1 2025-04-13 19:01:55 HGIRRZZ 10.29 Z",
			"", 0,
		},
		{
			"opendcs-shef mixed.shef: minutes without an hour; an element that table 1 lacks",
			".A TEST3 20220503 Z DH0000 /HG 2.0 /TI 73.3 /VB 13.5\n.A TEST4 20220503 Z DN1500 /HP 3.4 : MINUTES/SECONDS\n.A1 /HG 2.5",
			"TEST3 2022-05-03 00:00 HGIRZZZ 2 Z|TEST3 2022-05-03 00:00 VBIRZZZ 13.5 Z|TEST4 2022-05-03 12:15 HPIRZZZ 3.4 Z|TEST4 2022-05-03 12:15 HGIRZZZ 2.5 Z",
			"62", 1,
		},
		{
			"awips2 ShefSeparator: overrides of the date and of the creation date within a line of a body",
			".B DMX 20091111 C DH00/DC0911110959/TAIRZX/DH06/TAIRZP/\n.B1 PPDRZZ\n:      LOCATION            TEMP  TEMP    PCPN\n" +
				"ICL  : CLARINDA AIRPORT   :  63 /DD11/DH04/  30 /  0.00\nCBF  : COUNCIL BLUFFS AIRP:   M /   M / DH06 /  0.00\nHNR  61 /            28/DC0911111259/   0.00\n.END",
			"ICL 2009-11-11 06:00 TAIRZXZ 63 Z dc 2009-11-11 15:59|ICL 2009-11-11 10:00 TAIRZPZ 30 Z dc 2009-11-11 15:59|ICL 2009-11-11 10:00 PPDRZZZ 0 Z dur 2001 dc 2009-11-11 15:59|" +
				"CBF 2009-11-11 06:00 TAIRZXZ -9999 Z dc 2009-11-11 15:59|CBF 2009-11-11 12:00 TAIRZPZ -9999 Z dc 2009-11-11 15:59|CBF 2009-11-11 12:00 PPDRZZZ 0 Z dur 2001 dc 2009-11-11 15:59|" +
				"HNR 2009-11-11 06:00 TAIRZXZ 61 Z dc 2009-11-11 15:59|HNR 2009-11-11 12:00 TAIRZPZ 28 Z dc 2009-11-11 15:59|HNR 2009-11-11 12:00 PPDRZZZ 0 Z dur 2001 dc 2009-11-11 18:59",
			"", 0,
		},
		{
			"awips2 ShefSeparator: DR and DID; DIY on 29 February; DIE over the change of time; a quote that is not closed",
			".E RUSS2 20091202 E DH1510/PPD/DRH2/DID7/10.0/11.0/12.0\"RETAINED COMMENT\"\n.E RUSS4 20080229 E DH1510/PPD/DIY1/10.0/11.0\n" +
				".E RUSS5 20090131 E DH1510/PPD/DIE1/10.0/11.0/12.0/13.0\"END OF LINE NO TRAILING QUOTE",
			`RUSS2 2009-12-02 22:10 PPDRZZZ 10 Z dur 2001 ts 1|RUSS2 2009-12-09 22:10 PPDRZZZ 11 Z dur 2001 ts 2|RUSS2 2009-12-16 22:10 PPDRZZZ 12 Z dur 2001 ts 2 "RETAINED COMMENT"|` +
				`RUSS4 2008-02-29 20:10 PPDRZZZ 10 Z dur 2001 ts 1|RUSS5 2009-01-31 20:10 PPDRZZZ 10 Z dur 2001 ts 1|RUSS5 2009-02-28 20:10 PPDRZZZ 11 Z dur 2001 ts 2|` +
				`RUSS5 2009-03-31 19:10 PPDRZZZ 12 Z dur 2001 ts 2|RUSS5 2009-04-30 19:10 PPDRZZZ 13 Z dur 2001 ts 2 "END OF LINE NO TRAILING QUOTE"`,
			"66", 1,
		},
		{
			"awips2 ShefSeparator: DQ, a null in a series, a comment; .E1 without a blank",
			".E RUSS1 20090930 DH1315/DUE/PPDRZZ/DQR/DC1001131215/DIN15/10.0//11.0F/12.0\"SUSPECT\"/-13.0\n.E1/14.0/m/16.0/17.0",
			`RUSS1 2009-09-30 13:15 PPDRZZZ 10 R dur 2001 dc 2010-01-13 12:15 ts 1|RUSS1 2009-09-30 13:45 PPDRZZZ 11 F dur 2001 dc 2010-01-13 12:15 ts 2|` +
				`RUSS1 2009-09-30 14:00 PPDRZZZ 12 R dur 2001 dc 2010-01-13 12:15 ts 2 "SUSPECT"|RUSS1 2009-09-30 14:15 PPDRZZZ -13 R dur 2001 dc 2010-01-13 12:15 ts 2`,
			"8", 5,
		},
		{
			"awips2 ShefSeparator: a comment between station and date",
			".A SUX : SYNOPTIC : 20100902 Z DH1152/DC201009021152/TAIRZZZ  63",
			"SUX 2010-09-02 11:52 TAIRZZZ 63 Z dc 2010-09-02 11:52", "", 0,
		},
		{
			"awips2 ticket 6990: DQZ before the hour, without a slash",
			".A DVDN1 181109 C DQZ DH0600/TX 47/TN 19/TA 33/\n.A1 PP 0.00/SD T/",
			"DVDN1 2018-11-09 12:00 TAIRZXZ 47 Z|DVDN1 2018-11-09 12:00 TAIRZNZ 19 Z|DVDN1 2018-11-09 12:00 TAIRZZZ 33 Z|DVDN1 2018-11-09 12:00 PPDRZZZ 0 Z dur 2001|DVDN1 2018-11-09 12:00 SDIRZZZ 0.001 Z",
			"", 0,
		},
		{
			"awips2 ticket 7022: a missing value in metric units stays missing",
			".A KZOM4 20160229 Z DH12 /DUS/TA -0.21/US 2.452/UD 262/PPHRP M/XR 81.7\n.A1 DUE/TB 2.036",
			"KZOM4 2016-02-29 12:00 TAIRZZZ 31.622 Z|KZOM4 2016-02-29 12:00 USIRZZZ 5.4849678076 Z|KZOM4 2016-02-29 12:00 UDIRZZZ 262 Z|" +
				"KZOM4 2016-02-29 12:00 PPHRPZZ -9999 Z dur 1001|KZOM4 2016-02-29 12:00 XRIRZZZ 81.7 Z|KZOM4 2016-02-29 12:00 TBIRZZZ 2.036 Z",
			"", 0,
		},
		{
			"awips2 ticket 6950: MB is missing and bad, MM is missing, MMM is missing with the qualifier M",
			".AR BRKM2 20150623 Z DH1517/HGIRGZ MB\n.AR BRKM3 20150623 Z DH1517/HGIRGZ MM\n.AR BRKM4 20150623 Z DH1517/HGIRGZ MMM/PP TT/PC MMMM/TA 5",
			"BRKM2 2015-06-23 15:17 HGIRGZZ -9999 B rev|BRKM3 2015-06-23 15:17 HGIRGZZ -9999 Z rev|BRKM4 2015-06-23 15:17 HGIRGZZ -9999 M rev|" +
				"BRKM4 2015-06-23 15:17 PPDRZZZ 0.001 T dur 2001 rev|BRKM4 2015-06-23 15:17 TAIRZZZ 5 Z rev",
			"84", 1,
		},
		{
			"awips2 ShefParserTest: all lines that continue are numbered 1",
			".E EADM7 20180109 Z DH18/DC01091718/HGIC9/DIH06 :6-Hr Fcst Stage (ft) \n.E1  0.3/ 0.4\n.E1  0.1/ -0.1\n.E1  -0.2/ -1.0 ",
			"EADM7 2018-01-09 18:00 HGIC9ZZ 0.3 Z dc 2018-01-09 17:18 ts 1|EADM7 2018-01-10 00:00 HGIC9ZZ 0.4 Z dc 2018-01-09 17:18 ts 2|EADM7 2018-01-10 06:00 HGIC9ZZ 0.1 Z dc 2018-01-09 17:18 ts 2|" +
				"EADM7 2018-01-10 12:00 HGIC9ZZ -0.1 Z dc 2018-01-09 17:18 ts 2|EADM7 2018-01-10 18:00 HGIC9ZZ -0.2 Z dc 2018-01-09 17:18 ts 2|EADM7 2018-01-11 00:00 HGIC9ZZ -1 Z dc 2018-01-09 17:18 ts 2",
			"0w 0w", 0,
		},
		{
			"awips2 ticket 5049: empty places before the first value of a body",
			".BR SGF 180112 DH12/PPDRZ/DRH-18/PPQRZ/DRH-12/PPQRZ/DRH-06/PPQRZ/DRH-00/PPQRZ\nSGF            /      /      /  0.88/ 0.99\n.END",
			"SGF 2018-01-12 06:00 PPQRZZZ 0.88 Z dur 1006 rev|SGF 2018-01-12 12:00 PPQRZZZ 0.99 Z dur 1006 rev", "", 0,
		},
		{
			"awips2 ticket 6881: END without its dot; a trace of a temperature",
			".BR DMX 20181109 Z DH06/TAIRVX/DH12/TAIRVP/PPDRVZ\nDMX :DENISON : T / 27 / T\nADU :AUDUBON : 30 / 28 / T\nEND",
			"DMX 2018-11-09 12:00 TAIRVPZ 27 Z rev|DMX 2018-11-09 12:00 PPDRVZZ 0.001 Z dur 2001 rev|" +
				"ADU 2018-11-09 06:00 TAIRVXZ 30 Z rev|ADU 2018-11-09 12:00 TAIRVPZ 28 Z rev|ADU 2018-11-09 12:00 PPDRVZZ 0.001 Z dur 2001 rev",
			"31 46w", 1,
		},
		{
			"pyIEM RR1ORN: blank lines within a header; DRH-00; a last slash before a comment",
			".B LIT 1002 C DC100206/DH00/DRH-24/QT/DRH-00/QR/DRH-00/QT/DRH+24/QTIFZ/   \n\n.B1 DRH+48/QTIFZ/DRH+72/QTIFZ\n\n:\n\n" +
				"BSGA4     3.760/  0.693/  2.100/  1.700/  1.700/   2.100/  :BULL SHOALS\n\nBMTA4     0.005/  0.006/  0.007/  0.008/           :BLUE MTN.\n.END",
			"BSGA4 2026-10-01 05:00 QTIRZZZ 3.76 Z dc 2026-10-02 11:00|BSGA4 2026-10-02 05:00 QRIRZZZ 0.693 Z dc 2026-10-02 11:00|BSGA4 2026-10-02 05:00 QTIRZZZ 2.1 Z dc 2026-10-02 11:00|" +
				"BSGA4 2026-10-03 05:00 QTIFZZZ 1.7 Z dc 2026-10-02 11:00|BSGA4 2026-10-04 05:00 QTIFZZZ 1.7 Z dc 2026-10-02 11:00|BSGA4 2026-10-05 05:00 QTIFZZZ 2.1 Z dc 2026-10-02 11:00|" +
				"BMTA4 2026-10-01 05:00 QTIRZZZ 0.005 Z dc 2026-10-02 11:00|BMTA4 2026-10-02 05:00 QRIRZZZ 0.006 Z dc 2026-10-02 11:00|BMTA4 2026-10-02 05:00 QTIRZZZ 0.007 Z dc 2026-10-02 11:00|" +
				"BMTA4 2026-10-03 05:00 QTIFZZZ 0.008 Z dc 2026-10-02 11:00",
			"", 0,
		},
		{
			"pyIEM RR1LCH: a line of a body without a station",
			".B LCH 1110 Z DH1810/HGIRZ/HPIRZ\n: TOLEDO BEND RES\nBKLT2 DM11101415//167.64:             \n:\n\n DM11101330/43.50/:             \n.END",
			"BKLT2 2026-11-10 14:15 HPIRZZZ 167.64 Z", "14", 2,
		},
		{
			"pyIEM RR1TAR: a slash between code and value",
			".AR BCNM3 220331 Z DH12/HPIRWZZ/ 529.52\n.AR WCLM3 220401 Z DH12/PPDRWZZ/ M\n.AR SUDM3 220401 Z DH12/PPDRWZZ/",
			"BCNM3 2022-03-31 12:00 HPIRWZZ 529.52 Z rev|WCLM3 2022-04-01 12:00 PPDRWZZ -9999 Z dur 2001 rev", "37w 87w 87w", 0,
		},
		{
			"pyIEM RR3OKX: a code of one letter; DC after the values",
			".A OKXN6 220401 E DH0800/TX 59/PP 0.11\n.A1 PT 1/AM 0/AF 0/PL 996.00/XC 7/XW 03\n.A2 VV 99/T 51.0000/DC2204010755",
			"OKXN6 2022-04-01 12:00 TAIRZXZ 59 Z|OKXN6 2022-04-01 12:00 PPDRZZZ 0.11 Z dur 2001|OKXN6 2022-04-01 12:00 PTIRZZZ 1 Z|OKXN6 2022-04-01 12:00 AMIRZZZ 0 Z|" +
				"OKXN6 2022-04-01 12:00 AFIRZZZ 0 Z|OKXN6 2022-04-01 12:00 PLIRZZZ 996 Z|OKXN6 2022-04-01 12:00 XCIRZZZ 7 Z|OKXN6 2022-04-01 12:00 XWIRZZZ 3 Z",
			"62 64", 2,
		},
		{
			"pyIEM#560, RR3GJT: DH2400 twice",
			".AR GJUC2 220223 M DH2400/TX 35/TN 23/TA 23/DH2400\n.AR1 PP 0.21/SF 2.7/SD 2/DC2202240147",
			"GJUC2 2022-02-24 07:00 TAIRZXZ 35 Z rev|GJUC2 2022-02-24 07:00 TAIRZNZ 23 Z rev|GJUC2 2022-02-24 07:00 TAIRZZZ 23 Z rev|" +
				"GJUC2 2022-02-24 07:00 PPDRZZZ 0.21 Z dur 2001 rev|GJUC2 2022-02-24 07:00 SFDRZZZ 2.7 Z dur 2001 rev|GJUC2 2022-02-24 07:00 SDIRZZZ 2 Z rev",
			"", 0,
		},
		{
			"pyIEM RR2LAC: seconds; several blanks before a value; PC of 0",
			".A MWSC1 210919 P DH165159  /TAIRPZZ     73\n.A MWSC1 210919 P DH165159  /PCIRPZZ      0",
			"MWSC1 2021-09-19 23:51:59 TAIRPZZ 73 Z|MWSC1 2021-09-19 23:51:59 PCIRPZZ 0 Z", "", 0,
		},
		{
			"pyIEM RR6BCR_2: a comment after the last value that contains a slash",
			".E TRICT 231114 DH1315/PPC/DIN15/0.00/0.01/0.02:C=.00/.00",
			"TRICT 2023-11-14 13:15 PPCRZZZ 0 Z dur 15 ts 1|TRICT 2023-11-14 13:30 PPCRZZZ 0.01 Z dur 15 ts 2|TRICT 2023-11-14 13:45 PPCRZZZ 0.02 Z dur 15 ts 2",
			"", 0,
		},
		{
			"pyIEM RR9GYX: a station of more than 8 characters, with lines that continue",
			".E BATH_INUNDATION 1101 Z DH12/DC2211011211/HMIFEZ/DIH1/\n.E1  5.5/ 4.2/ 2.7\n.E CASM1 221101 Z DH12/DC2211011211/HMIFEZ/DIH1/\n.E1  5.4/ 3.4",
			"CASM1 2022-11-01 12:00 HMIFEZZ 5.4 Z dc 2022-11-01 12:11 ts 1|CASM1 2022-11-01 13:00 HMIFEZZ 3.4 Z dc 2022-11-01 12:11 ts 2",
			"11 14", 7,
		},
		{
			"pyIEM RRSCHS: blanks around DIN1; nan",
			".E SIHS1 220610 Z DH145400 /HMIRR/ DIN1 / 0.7:\n.E BFHS1 220610 Z DH145400 /HMIRR/ DIN1 / nan:",
			"SIHS1 2022-06-10 14:54 HMIRRZZ 0.7 Z ts 1", "37", 1,
		},
		{
			"pyIEM HYDVA: DVM3 in a header; .B2 without .B1; departures with a sign",
			".BR TIR 20230425 Z DH05/DC202304251402/PPDPM/PJDPM/PPMPM/PJMPM/DVM3/PPVPM/PJVPM/\n.B2 PPYPM/PJYPM\n" +
				"VAC027   0.00/ -0.12/  3.12/ -0.60/ 11.39/ +0.94/  59.01/+14.74 : Buchanan\n.END",
			"VAC027 2023-04-25 05:00 PPDPMZZ 0 Z dur 2001 dc 2023-04-25 14:02 rev|VAC027 2023-04-25 05:00 PJDPMZZ -0.12 Z dur 2001 dc 2023-04-25 14:02 rev|" +
				"VAC027 2023-04-25 05:00 PPMPMZZ 3.12 Z dur 3001 dc 2023-04-25 14:02 rev|VAC027 2023-04-25 05:00 PJMPMZZ -0.6 Z dur 3001 dc 2023-04-25 14:02 rev|" +
				"VAC027 2023-04-25 05:00 PPVPMZZ 11.39 Z dur 3003 dc 2023-04-25 14:02 rev|VAC027 2023-04-25 05:00 PJVPMZZ 0.94 Z dur 3003 dc 2023-04-25 14:02 rev|" +
				"VAC027 2023-04-25 05:00 PPYPMZZ 59.01 Z dur 4001 dc 2023-04-25 14:02 rev|VAC027 2023-04-25 05:00 PJYPMZZ 14.74 Z dur 4001 dc 2023-04-25 14:02 rev",
			"0w", 0,
		},
		{
			"pyIEM RTPEAX: a comment between station and hour; empty columns",
			".BR EAX 0922 C DH06/TAIRZX/TAIRZN/PPDRZZ/SFDRZZ/SDIRZZ\nBASK1:Basehor 3NE         :DH0700/  MM /  44 /  0.00  /      /    \n" +
				"KRKM7:Kirksville          :DH0700    /     /     /  0.01  /      /    \n.END",
			"BASK1 2026-09-22 12:00 TAIRZXZ -9999 Z rev|BASK1 2026-09-22 12:00 TAIRZNZ 44 Z rev|BASK1 2026-09-22 12:00 PPDRZZZ 0 Z dur 2001 rev|KRKM7 2026-09-22 12:00 PPDRZZZ 0.01 Z dur 2001 rev",
			"55w 55w", 0,
		},
		{
			"pyIEM test_trace: asterisks for a missing value; SD T; PC without a point; Alaska",
			".A UBW 210921 L DH1800/PC 50/SF *****/SD T/DC2109211739",
			"UBW 2021-09-22 02:00 PCIRZZZ 0.5 Z|UBW 2021-09-22 02:00 SDIRZZZ 0.001 Z", "37 58w", 1,
		},
		{
			"pyIEM test_a_comment_with_slash: a slash within quotes; a third quote",
			".A AR338 210922 Z DH2346/DVH06/PPV 0.04\"LAT=39.24 LON=-76.65  Baltimore/Lansdowne  CWOP \"/\"",
			`AR338 2021-09-22 23:46 PPVRZZZ 0.04 Z dur 1006 "LAT=39.24 LON=-76.65  Baltimore/Lansdowne  CWOP"`, "86", 1,
		},
		{
			"pyIEM test_dy: DY in a body; commas within a comment",
			".BR GAMMA 220202 /SAIRF/SWIRF\nIA111  DY220202 / 100 / 2.2 : 1.8, 27 AM 210927 , 27  \nIA112  DY2202021112 / 99 / 2.3\n.END",
			"IA111 2022-02-02 12:00 SAIRFZZ 100 Z rev|IA111 2022-02-02 12:00 SWIRFZZ 2.2 Z rev|IA112 2022-02-02 11:12 SAIRFZZ 99 Z rev|IA112 2022-02-02 11:12 SWIRFZZ 2.3 Z rev", "", 0,
		},
		{
			"pyIEM test_231109_bad_dh: a negative number for the hour; a station of digits",
			".A RRWT2 231109 Z DH-380329730 /PPHRR 254.25:\n.A 2312000 210927 PD DH090000 /PCIRR 4.76",
			"2312000 2021-09-27 16:00 PCIRRZZ 4.76 Z", "2", 2,
		},
		{
			"Haven test_replay.py: a comment between .AR and the station; a crest and its series",
			".AR :CREST: FLCN7 20240927 Z DC202409261903/DH1800/HGIFFXZ 30.5\n.ER FLCN7 20240927 Z DC202409261903/DH00/HGIFFZZ/DIH6\n:RIVER FORECAST  / 12Z   / 18Z   /  00Z   / 06Z\n" +
				".E1    : 0926 :                   /  18.1 /  23.9\n.E2    : 0927 :   /  29.1",
			"FLCN7 2024-09-27 18:00 HGIFFXZ 30.5 Z dc 2024-09-26 19:03 rev|FLCN7 2024-09-27 00:00 HGIFFZZ 18.1 Z dc 2024-09-26 19:03 rev ts 1|" +
				"FLCN7 2024-09-27 06:00 HGIFFZZ 23.9 Z dc 2024-09-26 19:03 rev ts 2|FLCN7 2024-09-27 12:00 HGIFFZZ 29.1 Z dc 2024-09-26 19:03 rev ts 2",
			"", 0,
		},
		{
			"flowcast test of RVFNY2: a wrong creation date; a missing value within a series over the new year",
			".E CCRN6 20001231 E DC0013310915/DH13/HGIFF/DIH6\n.E1 :1231: :       :/      3.4/      3.4/      3.4\n" +
				".E BRYN6 20001231 E DC0012310915/DH13/HGIFF/DIH6\n:QPF FCST        7AM       1PM       7PM       1AM\n.E1 :1231: :       :/      3.6/      M/      3.5",
			"BRYN6 2000-12-31 18:00 HGIFFZZ 3.6 Z dc 2000-12-31 14:15 ts 1|BRYN6 2001-01-01 00:00 HGIFFZZ -9999 Z dc 2000-12-31 14:15 ts 2|BRYN6 2001-01-01 06:00 HGIFFZZ 3.5 Z dc 2000-12-31 14:15 ts 2",
			"11 16", 7,
		},
		{
			"PyShef test of RVFMCT, hydrovis#1101: DIH+01, lines that end in a slash, thousands of cubic feet",
			".ER BCTU1 0717 Z DH13/DC07171540/QRIFEZZ/DIH+01/\n.E1  0.026 / 0.026 /\n.E2  0.025 / 0.025 /",
			"BCTU1 2026-07-17 13:00 QRIFEZZ 0.026 Z dc 2026-07-17 15:40 rev ts 1|BCTU1 2026-07-17 14:00 QRIFEZZ 0.026 Z dc 2026-07-17 15:40 rev ts 2|" +
				"BCTU1 2026-07-17 15:00 QRIFEZZ 0.025 Z dc 2026-07-17 15:40 rev ts 2|BCTU1 2026-07-17 16:00 QRIFEZZ 0.025 Z dc 2026-07-17 15:40 rev ts 2",
			"", 0,
		},
		{
			"nwws-oi message.rs, hydrovis#1088: every line end doubled; DQG; HGIFE",
			"\n\n987\n\nSRUS43 KLMK 040254\n\nRRMLMK\n\n.ER PRSK2 20220203 Z DC202202040254/DUE/DQG/DH17/HGIFE/DIH1/\n\n.E1 15.4/15.6\n\n.E2 18.6\n\n",
			"PRSK2 2022-02-03 17:00 HGIFEZZ 15.4 G dc 2022-02-04 02:54 rev ts 1|PRSK2 2022-02-03 18:00 HGIFEZZ 15.6 G dc 2022-02-04 02:54 rev ts 2|PRSK2 2022-02-03 19:00 HGIFEZZ 18.6 G dc 2022-02-04 02:54 rev ts 2",
			"", 0,
		},
		{
			"CWMS Data API, MORNING_SHEF.TXT: commas between values; words for a value; two time zones; .ER for one value",
			".ER CDAM7 20250610 Z DH1200/QTIF/DID1/1.2, 1.3, 1.4\n.ER CDAM7 20250610 Z DH1200/QTIF/DID1/No data available\n.ER CDAM7 20250610 Z DH1200/QT/DID1/2.50\n" +
				".ER AAAI2 20250610 Z Z DH1200/HP 5.0\n.ER AAAI2 20250610 Z DH1200 /HG 5.0",
			"CDAM7 2025-06-10 12:00 QTIRZZZ 2.5 Z rev ts 1", "20 37 45 65 83", 3 + 2 + 2 + 1,
		},
		{
			"cwms-data-api#987: time zones that no longer exist",
			".A AAA 20240115 Y DH12/HG 1\n.A BBB 20240715 B DH12/HG 2\n.A CCC 20240715 J DH12/HG 3",
			"AAA 2024-01-15 20:00 HGIRZZZ 1 Z|BBB 2024-07-15 21:00 HGIRZZZ 2 Z|CCC 2024-07-15 04:00 HGIRZZZ 3 Z", "", 0,
		},
		{
			"NWS Honolulu RRAHFO: DR for the length of a period; a comment where values should be",
			".B HFO  0930 H  DH00 /DRH-03/PPT/DRH-06/PPQ/DRH-12/PPK/DRH-24/PPD\n:T=Trace Rainfall, M=Missing Data\nHLI   : Lihue Airport (ASOS)        :      T   /  0.11  /  0.14  /    M\n" +
				"HNL   : Honolulu Airport (ASOS)             See note at bottom  :\n.END",
			"HLI 2026-09-30 07:00 PPTRZZZ 0.001 Z dur 1003|HLI 2026-09-30 04:00 PPQRZZZ 0.11 Z dur 1006|HLI 2026-09-29 22:00 PPKRZZZ 0.14 Z dur 1012|HLI 2026-09-29 10:00 PPDRZZZ -9999 Z dur 2001", "", 0,
		},
		{
			"ETSS shef.readme.txt: a forecast that was created after its first hour",
			".E RDDA2 20150625 Z DC201506251637/DH1200/HMIFV/DIH01\n.E1 0.416/ 1.087",
			"RDDA2 2015-06-25 12:00 HMIFVZZ 0.416 Z dc 2015-06-25 16:37 ts 1|RDDA2 2015-06-25 13:00 HMIFVZZ 1.087 Z dc 2015-06-25 16:37 ts 2", "", 0,
		},
		{
			"NWRFC PDXRVFWW of 1999: comments that open and close several times",
			".E NASW1 990330 DC03301548/DH18/HGIFZ/DIH6\n:RECENT DATA DATE/TIME/ 12Z 18Z 0Z 6Z\n.E1 : 6.8 0330/1440Z: / 6.7/ 6.6\n.E2 : :: :/ 6.3/ 6.2",
			"NASW1 1999-03-30 18:00 HGIFZZZ 6.7 Z dc 1999-03-30 15:48 ts 1|NASW1 1999-03-31 00:00 HGIFZZZ 6.6 Z dc 1999-03-30 15:48 ts 2|" +
				"NASW1 1999-03-31 06:00 HGIFZZZ 6.3 Z dc 1999-03-30 15:48 ts 2|NASW1 1999-03-31 12:00 HGIFZZZ 6.2 Z dc 1999-03-30 15:48 ts 2",
			"", 0,
		},
		{
			"TSTool: DH2400 in a fixed time zone; small letters",
			".A loc1 20071031 PS DH2400/DUE/QI 5.00", "LOC1 2007-11-01 08:00 QIIRZZZ 5 Z", "", 0,
		},
		{
			"iem awos_rtp.py: maximum of 12 hours, minimum of 18 hours",
			".BR DSM 20051120 Z DH00/TAIRZY/TAIRZI/PPDRZZ\nCWI   :CLINTON ARPT       :  79 /  64 /     M\n.END",
			"CWI 2005-11-20 00:00 TAIRZYZ 79 Z rev|CWI 2005-11-20 00:00 TAIRZIZ 64 Z rev|CWI 2005-11-20 00:00 PPDRZZZ -9999 Z dur 2001 rev", "", 0,
		},
		{
			"CBRFC decoder, shdotb of 1998: an override of month and day over the new year keeps the year",
			".B MCI 19971231 Z DH07/HG\nKCDM6 DY940101/8.3\nSMHM6 DM0102/1.14\nSMHM6 DM1231/1.15\nAGYM6 11.9\n.END",
			"KCDM6 1994-01-01 07:00 HGIRZZZ 8.3 Z|SMHM6 1997-01-02 07:00 HGIRZZZ 1.14 Z|SMHM6 1997-12-31 07:00 HGIRZZZ 1.15 Z|AGYM6 1997-12-31 07:00 HGIRZZZ 11.9 Z", "", 0,
		},
		{
			"CBRFC decoder, shdtype of 1998 and nextch of 2000: DJ of two digits; a colon within quotes",
			".A AAA 19980105 Z DJ09/HG 1\"read at 10:30\"/TA 2",
			`AAA 1998-01-09 12:00 HGIRZZZ 1 Z "read at 10:30"|AAA 1998-01-09 12:00 TAIRZZZ 2 Z`, "79w", 0,
		},
	} {
		r := decode(t, c.text, time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
		var values, problems []string
		for i := range r.Values {
			values = append(values, brief(&r.Values[i]))
		}
		for _, p := range r.Problems {
			problems = append(problems, fmt.Sprint(p.Number, map[bool]string{true: "w"}[p.Warning]))
		}
		slices.Sort(problems)
		if got := strings.Join(values, "|"); got != c.values || strings.Join(problems, " ") != c.problems || r.Account.Lost != c.lost {
			t.Errorf("%s\ngot  %s\nwant %s\nproblems %q, %d lost; want %q, %d: %v", c.report, strings.ReplaceAll(got, "|", "\n     "),
				strings.ReplaceAll(c.values, "|", "\n     "), problems, r.Account.Lost, c.problems, c.lost, r.Problems)
		}
	}
}
