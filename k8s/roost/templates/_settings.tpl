{{/* application.properties. In this order: defaults, the value `settings`, what other values say. */}}
{{- define "roost.properties" -}}
{{- $name := include "roost.fullname" . -}}
{{- $registry := .Values.registry -}}
{{- $bundled := printf "%s-registry" $name -}}
{{- $all := dict
  "roost.drain" "10s"
  "roost.welcome" "false"
  "roost.log-format" "json"
  "quarkus.log.console.level" "INFO"
  "quarkus.log.console.format" "%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5p [%c{1.}] %s%e%n"
  "quarkus.flyway.connect-retries" "30"
  "quarkus.flyway.connect-retries-interval" "2s"
-}}
{{- range $key, $value := .Values.settings -}}
{{- /* Helm reads every number as a float, which would be written as 1.048576e+06. */ -}}
{{- if kindIs "float64" $value -}}
{{- $value = ternary (int64 $value) $value (eq (floor $value) $value) -}}
{{- end -}}
{{- $_ := set $all $key (toString $value) -}}
{{- end -}}
{{- range $key, $value := dict
  "roost.runtime" "kubernetes"
  "roost.host" "0.0.0.0"
  "roost.port" "8080"
  "roost.internal-port" "8081"
  "roost.metrics-port" (ternary "9090" "" .Values.metrics.enabled)
  "roost.data" "/tmp/roost"
  "roost.api-key-file" "/etc/roost/api-key"
  "roost.kubernetes.instance" .Release.Name
  "roost.kubernetes.namespace" (include "roost.agentsNamespace" .)
  "roost.kubernetes.service-account" (printf "%s-agent" $name)
  "roost.kubernetes.executor-url" (printf "%s://%s-internal.%s.svc:8081" (ternary "https" "http" .Values.link.tls.enabled) $name .Release.Namespace)
  "roost.link.certificate" (ternary "/etc/roost-link/tls.crt" "" .Values.link.tls.enabled)
  "roost.link.key" (ternary "/etc/roost-link/tls.key" "" .Values.link.tls.enabled)
  "roost.link.ca" (ternary "/etc/roost-link/ca.crt" "" .Values.link.tls.enabled)
  "roost.kubernetes.executor-image" (include "roost.image" (list . "executor"))
  "roost.kubernetes.builder-image" (include "roost.image" (list . "builder"))
  "roost.kubernetes.repository" (ternary (printf "%s-registry.%s.svc:5000/agents" $name .Release.Namespace) $registry.repository $registry.enabled)
  "roost.kubernetes.pull-repository" (ternary (printf "localhost:%d/agents" (int $registry.nodePort)) $registry.pullRepository $registry.enabled)
  "roost.kubernetes.insecure-registry" (or $registry.enabled $registry.insecure | toString)
  "roost.kubernetes.registry-secret" (ternary $bundled $registry.pushSecret $registry.enabled)
  "roost.kubernetes.image-pull-secrets" (concat .Values.agents.imagePullSecrets (list (ternary $bundled $registry.pullSecret $registry.enabled)) | compact | uniq | join ",")
  "roost.kubernetes.tolerations" (.Values.agents.tolerations | empty | ternary "" (toJson .Values.agents.tolerations))
  "roost.kubernetes.profiles" (.Values.agents.profiles | empty | ternary "" (toJson .Values.agents.profiles))
  "roost.kubernetes.network-policies" (toString .Values.networkPolicy.enabled)
  "roost.kubernetes.egress-except" (join "," (ternary .Values.networkPolicy.internet.except (list "0.0.0.0/0" "::/0") .Values.networkPolicy.internet.enabled))
  "roost.kubernetes.egress-allowed" (include "roost.egressAllowed" . | fromJsonArray | join ",")
-}}
{{- if $value -}}{{- $_ := set $all $key $value -}}{{- end -}}
{{- end -}}
{{- range $label, $value := .Values.agents.nodeSelector -}}
{{- $_ := set $all (printf "roost.kubernetes.node-selector.%q" $label) $value -}}
{{- end -}}
{{- range $key := keys $all | sortAlpha -}}
{{ $key }}={{ index $all $key | replace "\\" "\\\\" | replace "\n" "\\n" }}
{{ end -}}
{{- end -}}

{{/* What networkPolicy.agentsEgress opens, as a JSON list of "block:port", as far as one of a list can say it. */}}
{{- define "roost.egressAllowed" -}}
{{- $all := list -}}
{{- range $rule := .Values.networkPolicy.agentsEgress -}}
{{- range $peer := $rule.to -}}
{{- if and $peer.ipBlock (not $peer.ipBlock.except) -}}
{{- $block := $peer.ipBlock.cidr -}}
{{- if contains ":" $block -}}{{- $block = printf "[%s]" $block -}}{{- end -}}
{{- if not $rule.ports -}}{{- $all = append $all (printf "%s:*" $block) -}}{{- end -}}
{{- range $port := $rule.ports -}}
{{- $tcp := eq (default "TCP" $port.protocol) "TCP" -}}
{{- if and $tcp (not $port.port) -}}
{{- $all = append $all (printf "%s:*" $block) -}}
{{- else if and $tcp (not $port.endPort) (kindIs "float64" $port.port) -}}
{{- $all = append $all (printf "%s:%d" $block (int $port.port)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson ($all | uniq) -}}
{{- end -}}
