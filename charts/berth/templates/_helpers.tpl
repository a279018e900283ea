{{- define "berth.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of all objects: the release's, and the chart's unless it is in there already. */}}
{{- define "berth.fullname" -}}
{{- $name := include "berth.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Names outside namespaces hold the namespace: releases of one name may be in several. */}}
{{- define "berth.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "berth.fullname" .) -}}
{{- end -}}

{{- define "berth.selectorLabels" -}}
app.kubernetes.io/name: {{ include "berth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "berth.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "berth.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | replace "+" "_" | quote }}
app.kubernetes.io/part-of: berth
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "berth.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "berth.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name: needed because serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "berth.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "berth.leaseName" -}}
{{- default (include "berth.fullname" .) .Values.leaderElection.leaseName -}}
{{- end -}}

{{- define "berth.leaseNamespace" -}}
{{- default .Release.Namespace .Values.leaderElection.leaseNamespace -}}
{{- end -}}

{{/* Whether load balancers may follow endpoints; Azure's do where there are several, or where they send to pods. */}}
{{- define "berth.readsEndpoints" -}}
{{- $several := or .Values.azure.multipleLoadBalancers .Values.azure.namespaceSelectors (contains "multiplestandardloadbalancerconfigurations" (lower .Values.cloudConfig.content)) -}}
{{- $pods := or .Values.azure.podPools (contains "podip" (lower .Values.cloudConfig.content)) -}}
{{- $targets := contains "loadbalancercontroller" (lower .Values.cloudConfig.content) -}}
{{- if or (eq .Values.provider "gce") (and (eq .Values.provider "azure") (or $several $pods)) (and (eq .Values.provider "aws") $targets) -}}true{{- end -}}
{{- end -}}

{{/* Whether Berth serves a webhook of pods: for readiness gates, or for ids of QUIC. */}}
{{- define "berth.webhook" -}}
{{- if or .Values.readinessGates.webhook.enabled (and (eq .Values.provider "aws") .Values.aws.quic.enabled) -}}true{{- end -}}
{{- end -}}

{{/* Whether labels of namespaces decide: those that Azure's several load balancers select by. */}}
{{- define "berth.readsNamespaces" -}}
{{- $selects := or .Values.azure.namespaceSelectors (contains "servicenamespaceselector" (lower .Values.cloudConfig.content)) -}}
{{- if and (eq .Values.provider "azure") $selects -}}true{{- end -}}
{{- end -}}

{{- define "berth.hasCloudConfig" -}}
{{- with .Values.cloudConfig -}}
{{- if or .content .existingSecret .existingConfigMap -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* What no schema can say: values that contradict each other. */}}
{{- define "berth.validate" -}}
{{- if not (or .Values.defaultClass .Values.loadBalancerClasses) -}}
{{- fail "loadBalancerClasses: empty, and defaultClass is false: no Service would be served" -}}
{{- end -}}
{{- $sources := 0 -}}
{{- range list .Values.cloudConfig.content .Values.cloudConfig.existingSecret .Values.cloudConfig.existingConfigMap -}}
{{- if . -}}{{- $sources = add1 $sources -}}{{- end -}}
{{- end -}}
{{- if gt (int $sources) 1 -}}
{{- fail "cloudConfig: only one of content, existingSecret and existingConfigMap can be set" -}}
{{- end -}}
{{- if and (eq .Values.provider "azure") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on azure: subscription, resource group, network and login are in it" -}}
{{- end -}}
{{- if and (eq .Values.provider "openstack") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on openstack: the address of Keystone and the login are in it" -}}
{{- end -}}
{{- if and (eq .Values.provider "ibm") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on ibm: the cluster, the VPC, its subnets and the login are in it" -}}
{{- end -}}
{{- if and (eq .Values.provider "oci") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on oci: the compartment, the subnets of load balancers and the login are in it" -}}
{{- end -}}
{{- with .Values.metrics }}
{{- if and .podMonitor.enabled (not .anonymous) (not .podMonitor.tokenSecret) -}}
{{- fail "metrics.podMonitor.tokenSecret: needed unless metrics.anonymous is set" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.readinessGates.webhook.enabled (not .Values.readinessGates.enabled) -}}
{{- fail "readinessGates.webhook.enabled: needs readinessGates.enabled, or nobody opens the gates" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled (not .Values.metrics.service.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled: needs metrics.service.enabled" -}}
{{- end -}}
{{- end -}}

{{- define "berth.args" -}}
- --cloud-provider={{ .Values.provider }}
{{- if include "berth.hasCloudConfig" . }}
- --cloud-config=/etc/berth/cloud/{{ ternary "cloud.conf" .Values.cloudConfig.key (not (empty .Values.cloudConfig.content)) }}
{{- end }}
- --cluster-name={{ .Values.clusterName }}
- --controllers=service-lb-controller
- --default-class={{ .Values.defaultClass }}
{{- range .Values.loadBalancerClasses }}
- --load-balancer-class={{ . }}
{{- end }}
- --leader-elect=true
- --leader-elect-resource-name={{ include "berth.leaseName" . }}
- --leader-elect-resource-namespace={{ include "berth.leaseNamespace" . }}
- --leader-elect-lease-duration={{ .Values.leaderElection.leaseDuration }}
- --leader-elect-renew-deadline={{ .Values.leaderElection.renewDeadline }}
- --leader-elect-retry-period={{ .Values.leaderElection.retryPeriod }}
- --secure-port={{ .Values.metrics.port }}
{{- if .Values.ownPods }}
- --own-pods=true
{{- end }}
{{- if .Values.readinessGates.enabled }}
- --readiness-gates=true
{{- end }}
{{- if include "berth.webhook" . }}
- --gate-webhook-listen=:{{ .Values.readinessGates.webhook.port }}
- --gate-webhook-host={{ include "berth.fullname" . }}-webhook.{{ .Release.Namespace }}.svc
- --gate-webhook-secret={{ .Release.Namespace }}/{{ include "berth.fullname" . }}-webhook
- --gate-webhook-configuration={{ include "berth.clusterName" . | replace ":" "." }}.pods
{{- end }}
{{- if .Values.metrics.anonymous }}
- --authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics
{{- end }}
{{- with .Values.behaviour }}
- --drift-interval={{ .driftInterval }}
- --on-takeover={{ .onTakeover }}
{{- if .dryRun }}
- --dry-run=true
{{- end }}
{{- range .policies }}
- --policy={{ . }}
{{- end }}
{{- if .releaseUnclaimed }}
- --release-unclaimed=true
{{- end }}
{{- if .concurrency }}
- --concurrent-service-syncs={{ .concurrency }}
{{- end }}
{{- end }}
{{- with .Values.allowedNamespaces }}
- --allowed-namespaces={{ join "," . }}
{{- end }}
{{- if .Values.policy }}
- --policy-config=/etc/berth/policy/policy.yaml
{{- end }}
{{- with .Values.tracing }}
{{- if .endpoint }}
- --tracing-endpoint={{ .endpoint }}
- --tracing-ratio={{ .ratio }}
{{- end }}
{{- end }}
- --profiling={{ .Values.profiling }}
- --logging-format={{ .Values.logFormat }}
- --v={{ .Values.logLevel }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "berth.env" -}}
{{- if dig "limits" "memory" "" (.Values.resources | default dict) }}
# From which size on the program collects garbage more eagerly.
- name: BERTH_MEMORY_LIMIT
  valueFrom:
    resourceFieldRef:
      resource: limits.memory
{{- end }}
{{- if and (eq .Values.provider "aws") .Values.aws.region }}
- name: AWS_REGION
  value: {{ .Values.aws.region | quote }}
{{- end }}
{{- if and (eq .Values.provider "gce") .Values.credentials.existingSecret }}
- name: GOOGLE_APPLICATION_CREDENTIALS
  value: /etc/berth/credentials/key.json
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Credentials are environment on AWS, whose SDK reads them there, and files elsewhere. */}}
{{- define "berth.credentialFiles" -}}
{{- if and .Values.credentials.existingSecret (ne .Values.provider "aws") -}}true{{- end -}}
{{- end -}}

{{- define "berth.volumeMounts" -}}
{{- if include "berth.hasCloudConfig" . }}
- name: cloud
  mountPath: /etc/berth/cloud
  readOnly: true
{{- end }}
{{- if .Values.policy }}
- name: policy
  mountPath: /etc/berth/policy
  readOnly: true
{{- end }}
{{- if include "berth.credentialFiles" . }}
- name: credentials
  mountPath: /etc/berth/credentials
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "berth.volumes" -}}
{{- if include "berth.hasCloudConfig" . }}
- name: cloud
  {{- with .Values.cloudConfig }}
  {{- if or .existingSecret (and .content (eq .kind "Secret")) }}
  secret:
    secretName: {{ default (printf "%s-cloud" (include "berth.fullname" $)) .existingSecret }}
    defaultMode: 0440
  {{- else }}
  configMap:
    name: {{ default (printf "%s-cloud" (include "berth.fullname" $)) .existingConfigMap }}
  {{- end }}
  {{- end }}
{{- end }}
{{- if .Values.policy }}
- name: policy
  configMap:
    name: {{ include "berth.fullname" . }}-policy
{{- end }}
{{- if include "berth.credentialFiles" . }}
- name: credentials
  secret:
    secretName: {{ .Values.credentials.existingSecret }}
    defaultMode: 0440
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "berth.topologySpread" -}}
{{- range .Values.topologySpreadConstraints }}
{{- $constraint := . }}
{{- if not .labelSelector }}
{{- $constraint = merge (dict "labelSelector" (dict "matchLabels" (fromYaml (include "berth.selectorLabels" $)))) . }}
{{- end }}
- {{ toYaml $constraint | nindent 2 | trim }}
{{- end }}
{{- end -}}
