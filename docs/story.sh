#!/bin/sh
# From your files to a choice, as somebody does it who sees Barograph for the
# first time: twice, with the output of MET 12 and with a day of NCEP's VSDB.
#
#   docs/story.sh [DATA [FOLDER]]
#
# run from a clone. DATA (default: ../shared/data) holds met/stat/g2g_*.tar.xz and
# met/vsdb/vxingest_*.tar.xz; all that is made is left in FOLDER, a new one. BAROGRAPH
# names the program (default: it is built), ENGINES those that are studied (default:
# all embedded ones), MET more options for `barograph met`, FORMATS the parts (met vsdb).
# The study of VSDB asks 480 ways twelve times; MET='--reps 3 --warmups 0' takes a fourth of that.
set -eu
data=$(cd "${1:-../shared/data}" && pwd)
folder=${2:-$(mktemp -d)}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
mkdir "$folder/bin" "$folder/met" "$folder/vsdb" || {
	echo "story.sh: $folder holds a story already; name another folder, or none" >&2
	exit 2
}
if [ -n "${BAROGRAPH:-}" ]; then
	ln -sf "$BAROGRAPH" "$folder/bin/barograph"
else
	go build -o "$folder/bin/barograph" ./cmd/barograph
fi
PATH=$folder/bin:$PATH

# run prints a command line, runs it, and shows how its output begins.
run() {
	printf '\n$ %s\n' "$*"
	sh -ec "$*" >out.txt || {
		status=$?
		cat out.txt
		exit "$status"
	}
	sed -n '1,44p; 45s/.*/  … and more/p' out.txt
}

# story FORMAT FILES DAY NEXT VARIABLE REGION: of files of a day, which stand below
# FILES, and of the same numbers dated a day later, which stand for the next delivery.
story() {
	format=$1 files=$2 day=$3 next=$4 variable=$5 region=$6
	printf '\n======== %s ========\n' "$format"
	cd "$folder/$format"
	mv "$files" "$day"
	find "$day" -type f | while read -r file; do
		later=$next/$(echo "${file#"$day"/}" | sed "s/$day/$next/g")
		mkdir -p "$(dirname "$later")"
		sed "s/$day/$next/g" "$file" >"$later"
	done

	# What is there? Then the study, which is given only the paths of the files.
	run "barograph show $day"
	run "barograph met $day --out first ${ENGINES:-} ${MET:-} >first.txt"
	cat first.txt

	# The report prints the commands that keep the choice.
	run "barograph report first"
	sed -n 's/^  \(barograph [a-z]* .*\)/\1/p' out.txt >keep.txt
	while read -r line; do run "$line" </dev/null; done <keep.txt
	archive=$(sed -n 's/^barograph verify \(.*\)/\1/p' keep.txt)

	# Questions of one's own: a derived one, and two that are changed.
	run "barograph ask dieoff_sal1l2_hgt --engine $archive --plot dieoff.svg"
	run "barograph ask one_sl1l2_hgt --engine $archive --where fcst_var=$variable --where fcst_lev=P850 --stat RMSE --plot rmse.svg"
	run "barograph ask profile_sal1l2_hgt --engine $archive --where vx_mask=$region --lead 24 --plot profile.svg"

	# The next day comes. Is the choice still right, and what did the day change?
	run "barograph load $next --engine $archive"
	run "barograph met --from $archive ${ENGINES:---engine duckdb --engine sqlite --engine pebble} --case first/cases.yaml --out second ${MET:-} >second.txt"
	cat second.txt
	run "barograph compare first second"
	run "barograph verify $archive $day $next"
}

for format in ${FORMATS:-met vsdb}; do
	case $format in
	met)
		tar -xf "$data"/met/stat/g2g_*.tar.xz -C "$folder/met"
		story met G2G_v12/20241031-00z 20241031 20241101 TMP SHX
		;;
	vsdb)
		tar -xf "$data"/met/vsdb/vxingest_*.tar.xz -C "$folder/vsdb"
		story vsdb vsdb_data 20190101 20190102 T G2/SHX
		;;
	esac
done
printf '\nall that was made is in %s\n' "$folder"
