{{/* The name of all objects. 40 characters leave room for suffixes and for what controllers append. */}}
{{- define "roost.fullname" -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $name = ternary .Release.Name (printf "%s-roost" .Release.Name) (contains "roost" .Release.Name) -}}
{{- end -}}
{{- $name | replace "." "-" | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "roost.agentsNamespace" -}}
{{- .Values.agents.namespace | default (printf "%s-agents" (.Release.Namespace | trunc 56 | trimSuffix "-")) -}}
{{- end -}}

{{/* What selects the pods of one component: (list $ "control-plane") */}}
{{- define "roost.selector" -}}
app.kubernetes.io/name: roost
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* What selects the pods that the control plane makes: (list $ "executor") */}}
{{- define "roost.agentsSelector" -}}
app.kubernetes.io/managed-by: roost
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "roost.labels" -}}
{{ include "roost.selector" . }}
app.kubernetes.io/part-of: roost
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | trunc 63 | quote }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version | replace "+" "_" | trunc 63 }}
{{- end -}}

{{/* One of Roost's own images: (list $ "control-plane") */}}
{{- define "roost.image" -}}
{{- $images := (index . 0).Values.images -}}
{{- $value := index . 1 | replace "control-plane" "controlPlane" -}}
{{- $tag := $images.tag | default (index . 0).Chart.AppVersion -}}
{{- $image := index $images $value | default (printf "%s/%s:%s" $images.prefix (index . 1) $tag) -}}
{{- with index $images.digests $value -}}
{{- $image = printf "%s@%s" $image . -}}
{{- end -}}
{{- $image -}}
{{- end -}}

{{/* "true" when an image's reference may mean another image tomorrow: (list $ "control-plane") */}}
{{- define "roost.imageMoves" -}}
{{- $image := include "roost.image" . -}}
{{- $tag := regexFind ":[^:/@]+$" $image | trimPrefix ":" | default "latest" -}}
{{- if and (not (contains "@" $image)) (regexMatch "(?i)(^|[-.])(snapshot|latest|stable|main|master|develop|dev|edge|nightly)$" $tag) -}}
true
{{- end -}}
{{- end -}}

{{/* (list $ "control-plane") */}}
{{- define "roost.pullPolicy" -}}
{{- (index . 0).Values.images.pullPolicy | default (ternary "Always" "IfNotPresent" (eq (include "roost.imageMoves" .) "true")) -}}
{{- end -}}

{{/* Pod Security "restricted", for a user: (list 10000) */}}
{{- define "roost.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ index . 0 }}
runAsGroup: {{ index . 0 }}
fsGroup: {{ index . 0 }}
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "roost.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "roost.databaseSecret" -}}
{{- .Values.database.existingSecret | default (printf "%s-postgresql" (include "roost.fullname" .)) -}}
{{- end -}}

{{- define "roost.apiKeySecret" -}}
{{- .Values.apiKey.existingSecret | default (printf "%s-api-key" (include "roost.fullname" .)) -}}
{{- end -}}

{{/* The volume with the authority of the database's certificate, if there is one. */}}
{{- define "roost.databaseAuthority" -}}
{{- with .Values.database.ca.secret -}}
- name: database-ca
  secret:
    secretName: {{ . }}
    defaultMode: 0444
    items:
      - key: ca.crt
        path: ca.crt
{{- end -}}
{{- with .Values.database.ca.configMap -}}
- name: database-ca
  configMap:
    name: {{ . }}
    items:
      - key: ca.crt
        path: ca.crt
{{- end -}}
{{- end -}}

{{/* Stops the installation with what is missing or contradicts itself. */}}
{{- define "roost.check" -}}
{{- $v := .Values -}}
{{- if eq (empty $v.database.existingSecret) (not $v.postgresql.enabled) -}}
{{- fail "Choose the database: database.existingSecret (a PostgreSQL of yours) or postgresql.enabled=true (a small one for trials)." -}}
{{- end -}}
{{- if eq (empty $v.registry.repository) (not $v.registry.enabled) -}}
{{- fail "Choose where the agents' images are pushed: registry.repository (a registry of yours) or registry.enabled=true (a small one for trials)." -}}
{{- end -}}
{{- if not (or $v.images.prefix (and $v.images.controlPlane $v.images.executor $v.images.builder)) -}}
{{- fail "Say where Roost's own images are: images.prefix, for example registry.example.org/roost." -}}
{{- end -}}
{{- if and $v.database.ca.secret $v.database.ca.configMap -}}
{{- fail "The database's authority is in database.ca.secret or in database.ca.configMap, not in both." -}}
{{- end -}}
{{- range $image, $digest := $v.images.digests -}}
{{- if and $digest (contains "@" (index $v.images $image)) -}}
{{- fail (printf "images.%s has a digest already; leave images.digests.%s empty." $image $image) -}}
{{- end -}}
{{- end -}}
{{- if and (or $v.metrics.serviceMonitor.enabled $v.metrics.rules.enabled $v.metrics.dashboard.enabled) (not $v.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor, metrics.rules and metrics.dashboard need metrics.enabled=true." -}}
{{- end -}}
{{- if eq (include "roost.agentsNamespace" .) .Release.Namespace -}}
{{- fail "agents.namespace must not be the release's own namespace: agents would run beside the database's password." -}}
{{- end -}}
{{- end -}}
