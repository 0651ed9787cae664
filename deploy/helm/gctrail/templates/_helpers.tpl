{{- define "gctrail.name" -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) | trunc 55 | trimSuffix "-" }}
{{- end }}

{{- define "gctrail.selector" -}}
app.kubernetes.io/name: gctrail
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gctrail.labels" -}}
{{ include "gctrail.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gctrail.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{- define "gctrail.port" -}}
{{- regexFind "[0-9]+$" (required "config.listen is needed" .Values.config.listen) }}
{{- end }}

{{- /* What the agent's container has in a pod of its own and beside a program. */ -}}
{{- define "gctrail.container" -}}
image: {{ include "gctrail.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
ports:
  - {name: gctrail, containerPort: {{ include "gctrail.port" . }}}
readinessProbe:
  httpGet: {path: /readyz, port: gctrail}
livenessProbe:
  httpGet: {path: /healthz, port: gctrail}
env:
  - name: NODE_NAME
    valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
  {{- with .Values.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- /*
The agent as a container of a program's pod, which needs shareProcessNamespace: true, the
volume sidecar.tmpVolume at /tmp in both containers, and one user for both, not root. It keeps to
the "restricted" standard of Pod Security:

    {{ include "gctrail.sidecar" .Subcharts.gctrail | nindent 8 }}
*/ -}}
{{- define "gctrail.sidecar" -}}
- name: gctrail
  args: [agent, --quiet, --listen, {{ .Values.config.listen | quote }}]
  {{- include "gctrail.container" . | nindent 2 }}
  securityContext:
    runAsNonRoot: true
    readOnlyRootFilesystem: true
    allowPrivilegeEscalation: false
    capabilities: {drop: [ALL]}
    seccompProfile: {type: RuntimeDefault}
  resources: {{- toYaml .Values.sidecar.resources | nindent 4 }}
  volumeMounts:
    - {name: {{ .Values.sidecar.tmpVolume }}, mountPath: /tmp}
{{- end }}
