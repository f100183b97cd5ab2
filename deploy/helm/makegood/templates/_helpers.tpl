{{- define "makegood.name" -}}
{{- printf "%s-%s" .root.Release.Name .part | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "makegood.labels" -}}
app.kubernetes.io/name: makegood
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "makegood.meta" -}}
name: {{ include "makegood.name" . }}
labels:
  {{- include "makegood.labels" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* The pod of a process: .root, .part, .command, .resources, and .probes as YAML. */}}
{{- define "makegood.pod" -}}
automountServiceAccountToken: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: {{ .part }}
    image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    command: {{ toJson .command }}
    env:
      - {name: MAKEGOOD_BASE_URL, value: {{ printf "https://%s" .root.Values.host | quote }}}
      - {name: MAKEGOOD_ALLOWED_HOSTS, value: {{ .root.Values.host | quote }}}
      - {name: MAKEGOOD_TRUSTED_PROXIES, value: {{ .root.Values.trustedProxies | quote }}}
      - {name: MAKEGOOD_METRICS_ADDRESS, value: "0.0.0.0:9464"}
      {{- range $name, $value := .root.Values.env }}
      - {name: {{ $name }}, value: {{ $value | quote }}}
      {{- end }}
    envFrom:
      - secretRef: {name: {{ .root.Values.existingSecret }}}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
    {{- with .resources }}
    resources:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      - {name: metrics, containerPort: 9464}
      {{- if eq .part "web" }}
      - {name: http, containerPort: 8000}
      {{- end }}
    {{- with .probes }}
    {{- . | nindent 4 }}
    {{- end }}
    volumeMounts:
      - {name: tmp, mountPath: /tmp}
volumes:
  - name: tmp
    emptyDir: {medium: Memory, sizeLimit: 128Mi}
{{- end -}}
