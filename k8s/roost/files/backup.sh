# Writes a back-up of the database to /backups, and removes old ones.
set -eu
. /scripts/database.sh
name=roost-$(date -u +%Y%m%dT%H%M%SZ).dump
rm -f /backups/*.partial
pg_dump --format=custom --no-owner --no-privileges --file="/backups/$name.partial" "$url"
pg_restore --list "/backups/$name.partial" >/dev/null
mv "/backups/$name.partial" "/backups/$name"
echo "Wrote $name, $(stat -c %s "/backups/$name") bytes"
ls -1 /backups | grep '^roost-.*\.dump$' | sort -r | tail -n "+$((KEEP + 1))" | while read -r old; do
  rm "/backups/$old"
  echo "Removed $old"
done
