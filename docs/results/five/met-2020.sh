# The steps of run.sh met-2020.
