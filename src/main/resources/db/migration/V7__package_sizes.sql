-- Builds say how large each package is. Of those that were made before, nobody knows.
update build set packages = (
  select json_agg(json_build_object('name', p.package ->> 'name', 'version', p.package ->> 'version',
    'sha256', p.package ->> 'sha256', 'size_bytes', null) order by p.position)::text
  from json_array_elements(build.packages::json) with ordinality p (package, position))
where packages <> '[]';
