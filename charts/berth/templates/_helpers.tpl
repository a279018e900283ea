{{- define "berth.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "berth.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* A duration of the pattern in values.yaml, in seconds. */}}
{{- define "berth.seconds" -}}
{{- if hasSuffix "m" . -}}{{- mul 60 (trimSuffix "m" . | int) -}}{{- else -}}{{- trimSuffix "s" . | int -}}{{- end -}}
{{- end -}}

{{/* The name of all objects: the release's, with the chart's unless that contains it. */}}
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

{{/* Names of cluster-scoped objects contain the namespace, because releases in several namespaces can have one name. */}}
{{- define "berth.clusterName" -}}
{{- printf "%s:%s" (include "berth.namespace" .) (include "berth.fullname" .) -}}
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
{{- default (include "berth.namespace" .) .Values.leaderElection.leaseNamespace -}}
{{- end -}}

{{/* True if load balancers follow endpoints. On Azure this needs several load balancers, or pools of pods. */}}
{{- define "berth.readsEndpoints" -}}
{{- $several := or .Values.azure.multipleLoadBalancers .Values.azure.namespaceSelectors (contains "multiplestandardloadbalancerconfigurations" (lower .Values.cloudConfig.content)) -}}
{{- $pods := or .Values.azure.podPools (contains "podip" (lower .Values.cloudConfig.content)) -}}
{{- $targets := contains "loadbalancercontroller" (lower .Values.cloudConfig.content) -}}
{{- if or (eq .Values.provider "gce") (and (eq .Values.provider "azure") (or $several $pods)) (and (eq .Values.provider "aws") $targets) -}}true{{- end -}}
{{- end -}}

{{/* True if Berth serves a webhook for pods: for readiness gates, or for ids of QUIC. */}}
{{- define "berth.podWebhook" -}}
{{- if or .Values.readinessGates.webhook.enabled (and (eq .Values.provider "aws") .Values.aws.quic.enabled) -}}true{{- end -}}
{{- end -}}

{{/* True if Berth serves any webhook. */}}
{{- define "berth.webhook" -}}
{{- if or (include "berth.podWebhook" .) .Values.webhook.validateServices -}}true{{- end -}}
{{- end -}}

{{/* True if labels of namespaces select one of Azure's load balancers. */}}
{{- define "berth.readsNamespaces" -}}
{{- $selects := or .Values.azure.namespaceSelectors (contains "servicenamespaceselector" (lower .Values.cloudConfig.content)) -}}
{{- if and (eq .Values.provider "azure") $selects -}}true{{- end -}}
{{- end -}}

{{- define "berth.hasCloudConfig" -}}
{{- with .Values.cloudConfig -}}
{{- if or .content .existingSecret .existingConfigMap -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* Checks that the schema cannot express: values that contradict each other. */}}
{{- define "berth.validate" -}}
{{- if not (or .Values.defaultClass .Values.loadBalancerClasses) -}}
{{- fail "loadBalancerClasses: empty, and defaultClass is false: no Service would be served" -}}
{{- end -}}
{{- if regexMatch "@|:[^/]*$" .Values.image.repository -}}
{{- fail (printf "image.repository: %q contains a tag or digest: use image.tag or image.digest" .Values.image.repository) -}}
{{- end -}}
{{- with .Values.leaderElection -}}
{{- if ge (include "berth.seconds" .renewDeadline | int) (include "berth.seconds" .leaseDuration | int) -}}
{{- fail (printf "leaderElection.renewDeadline: %s must be less than leaseDuration %s" .renewDeadline .leaseDuration) -}}
{{- end -}}
{{- if ge (include "berth.seconds" .retryPeriod | int) (include "berth.seconds" .renewDeadline | int) -}}
{{- fail (printf "leaderElection.retryPeriod: %s must be less than renewDeadline %s" .retryPeriod .renewDeadline) -}}
{{- end -}}
{{- end -}}
{{- $foreign := dict
  "aws" (list (list "aws.roleArn" .Values.aws.roleArn) (list "aws.region" .Values.aws.region) (list "aws.multiClusterTargetGroups" .Values.aws.multiClusterTargetGroups) (list "aws.quic.enabled" .Values.aws.quic.enabled))
  "azure" (list (list "azure.workloadIdentityClientId" .Values.azure.workloadIdentityClientId) (list "azure.workloadIdentityTenantId" .Values.azure.workloadIdentityTenantId) (list "azure.multipleLoadBalancers" .Values.azure.multipleLoadBalancers) (list "azure.namespaceSelectors" .Values.azure.namespaceSelectors) (list "azure.podPools" .Values.azure.podPools))
  "gce" (list (list "gce.serviceAccount" .Values.gce.serviceAccount))
  "oci" (list (list "oci.tlsSecrets" .Values.oci.tlsSecrets) (list "oci.certificateMaps" .Values.oci.certificateMaps) (list "oci.workloadServiceAccounts" .Values.oci.workloadServiceAccounts))
  "tencent" (list (list "tencent.tlsSecrets" .Values.tencent.tlsSecrets) (list "tencent.serviceConfigs" .Values.tencent.serviceConfigs) (list "tencent.endpoints" .Values.tencent.endpoints)) -}}
{{- range $cloud, $values := $foreign -}}
{{- range $values -}}
{{- if and (ne $cloud $.Values.provider) (last .) -}}
{{- fail (printf "%s: has no effect with provider %s" (first .) $.Values.provider) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $sources := 0 -}}
{{- range list .Values.cloudConfig.content .Values.cloudConfig.existingSecret .Values.cloudConfig.existingConfigMap -}}
{{- if . -}}{{- $sources = add1 $sources -}}{{- end -}}
{{- end -}}
{{- if gt (int $sources) 1 -}}
{{- fail "cloudConfig: only one of content, existingSecret and existingConfigMap can be set" -}}
{{- end -}}
{{- if and (eq .Values.provider "alibaba") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on alibaba: the region, the cluster and its vSwitches are in it" -}}
{{- end -}}
{{- if and (eq .Values.provider "baidu") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on baidu: the region, the network, the keys and the id of the cluster are in it" -}}
{{- end -}}
{{- if and (eq .Values.provider "tencent") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on tencent: the region, the network and the id of the cluster are in it" -}}
{{- end -}}
{{- if and (eq .Values.provider "azure") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on azure: it has subscription, resource group, network and login" -}}
{{- end -}}
{{- if and (eq .Values.provider "openstack") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on openstack: it has the address of Keystone and the login" -}}
{{- end -}}
{{- if and (eq .Values.provider "ibm") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on ibm: it has the cluster, the VPC, its subnets and the login" -}}
{{- end -}}
{{- if and (eq .Values.provider "oci") (eq (int $sources) 0) -}}
{{- fail "cloudConfig: needed on oci: it has the compartment, the subnets of load balancers and the login" -}}
{{- end -}}
{{- with .Values.metrics }}
{{- if and .podMonitor.enabled (not .anonymous) (not .podMonitor.tokenSecret) -}}
{{- fail "metrics.podMonitor.tokenSecret: needed unless metrics.anonymous is set" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.readinessGates.webhook.enabled (not .Values.readinessGates.enabled) -}}
{{- fail "readinessGates.webhook.enabled: needs readinessGates.enabled, because otherwise the gates stay closed" -}}
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
- --webhook-listen=:{{ .Values.webhook.port }}
- --webhook-host={{ include "berth.fullname" . }}-webhook.{{ include "berth.namespace" . }}.svc
- --webhook-secret={{ include "berth.namespace" . }}/{{ include "berth.fullname" . }}-webhook
{{- if include "berth.podWebhook" . }}
- --webhook-mutating-configuration={{ include "berth.clusterName" . | replace ":" "." }}.pods
{{- end }}
{{- if .Values.webhook.validateServices }}
- --webhook-validating-configuration={{ include "berth.clusterName" . | replace ":" "." }}.services
{{- end }}
{{- end }}
{{- if .Values.page.enabled }}
- --ui-listen=:{{ .Values.page.port }}
- --ui-host={{ include "berth.fullname" . }}-page.{{ include "berth.namespace" . }}.svc
- --ui-host=localhost
{{- range .Values.page.hosts }}
- --ui-host={{ . }}
{{- end }}
- --ui-secret={{ include "berth.namespace" . }}/{{ include "berth.fullname" . }}-page
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
# Above this size the program collects garbage more often.
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

{{/* Credentials are environment variables on AWS, whose SDK reads them there, and files elsewhere. */}}
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
