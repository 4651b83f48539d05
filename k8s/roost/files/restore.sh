# Replaces all that is in the database by the newest back-up in /backups: wholly, or not at all.
set -eu
. /scripts/database.sh
name=$(ls -1 /backups | grep '^roost-.*\.dump$' | sort -r | head -n 1)
[ -n "$name" ] || { echo "There is no back-up in /backups."; exit 1; }
others=$(psql "$url" -XAtc "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
if [ "$others" != 0 ]; then
  echo "$others others use the database. Stop the control plane first: kubectl scale deployment --replicas=0"
  exit 1
fi
contents=$(pg_restore --list "/backups/$name")
pg_restore --no-owner --no-privileges --file=/tmp/restore.sql "/backups/$name"
{
  echo 'drop schema if exists public cascade;'
  # A back-up says so itself when it differs from that of a new database.
  case $contents in *" SCHEMA - public "*) ;; *) echo 'create schema public;' ;; esac
  cat /tmp/restore.sql
} | psql "$url" -Xq --set=ON_ERROR_STOP=1 --single-transaction --output=/dev/null
echo "Restored $name"
