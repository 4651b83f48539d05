# url: the database of the control plane, as libpq wants it. PGUSER and PGPASSWORD are in the environment.
url=${ROOST_DATABASE_URL#jdbc:}
# Other parameters are those of the Java driver.
parameters=$(printf '%s' "$url" | sed -n 's/^[^?]*?//p' | tr '&' '\n' | grep -E '^ssl(mode|rootcert)=' | tr '\n' '&' || true)
url=${url%%\?*}${parameters:+?${parameters%&}}
