// SPDX-License-Identifier: Apache-2.0

package deploy

// The templates. What they have of a program are labels, node names, which are a
// component's name and a number, and addresses: nothing that a shell, YAML or systemd
// would read as more than a word.

const localScript = `#!/bin/sh
# Starts all processes of <<.Name>> on this machine, and ends them when it ends itself.
#
#   ./start.sh PROGRAM [DIRECTORY]
#
# PROGRAM was built from what 'ashlar dedalus compile' writes. What is durable is kept
# in the DIRECTORY, ./data where none is given.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:?which program is to be started}
data=${2:-$here/data}
pids=
end() {
  trap - INT TERM EXIT
  for pid in $pids; do kill "$pid" 2>/dev/null || true; done
  wait
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
start() {
  "$program" --deployment "$here/deployment.json" --node "$1" --data "$data/$2" &
  pids="$pids $!"
}
<<range .Processes>>start <<.Node>> <<$.Label .>>
<<end>>wait
`

const systemdUnit = `# One process of the program <<.Name>>. The program is in /usr/local/bin, the deployment
# and the key in /etc/<<.Name>>.
[Unit]
Description=<<.Name>>, <<.Node>>
After=network-online.target
Wants=network-online.target
PartOf=<<.Name>>.target
<<if .Host>>ConditionHost=<<.Host>>
<<end>>
[Service]
Type=exec
ExecStart=/usr/local/bin/<<.Name>> --deployment /etc/<<.Name>>/deployment.json --node <<.Node>> --data /var/lib/<<.Name>>/<<.Label .Process>> --key ${CREDENTIALS_DIRECTORY}/key<<if not .Loopback>> --public<<end>>
LoadCredential=key:/etc/<<.Name>>/key
DynamicUser=yes
StateDirectory=<<.Name>>/<<.Label .Process>>
StateDirectoryMode=0700
Restart=on-failure
RestartSec=1
TimeoutStopSec=15
NoNewPrivileges=yes
ProtectSystem=strict
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectControlGroups=yes
RestrictAddressFamilies=AF_INET AF_INET6
MemoryDenyWriteExecute=yes

[Install]
WantedBy=<<.Name>>.target
`

const systemdTarget = `# All processes of the program <<.Name>> on this machine.
[Unit]
Description=<<.Name>>
<<range .Processes>>Wants=<<$.Name>>-<<$.Label .>>.service
<<end>>
[Install]
WantedBy=multi-user.target
`

const dockerFile = `# The program <<.Name>>. Build it first, for the machine that the image is for:
#
#   CGO_ENABLED=0 go build -trimpath -o <<.Name>> ./PACKAGE
FROM scratch
COPY <<.Name>> /<<.Name>>
USER 65532:65532
ENTRYPOINT ["/<<.Name>>"]
`

const composeFile = `# The program <<.Name>>: a service for each process. The file key holds what the
# processes know each other by; whoever can reach their network and has it is one of
# them. 'ashlar dedalus deploy' makes one where there is none.
name: <<.Name>>
services:
<<range .Processes>>  <<$.Label .>>:
    image: "<<$.Image>>"
    build: .
    command:
      - --deployment=/deployment.json
      - --node=<<.Node>>
      - --listen=0.0.0.0:7400
      - --http=0.0.0.0:7401
      - --key=/run/secrets/key
      - --public
<<if $.Keeps .>>      - --data=/data
<<else>>      - --volatile
<<end>>    configs:
      - source: deployment
        target: /deployment.json
    secrets:
      - key
    networks:
      - <<$.Name>>
<<if $.Keeps .>>    volumes:
      - <<$.Label .>>:/data
<<end>>    read_only: true
    cap_drop:
      - ALL
    security_opt:
      - no-new-privileges:true
    restart: on-failure
    stop_grace_period: 15s
<<end>>configs:
  deployment:
    file: ./deployment.json
secrets:
  key:
    file: ./key
networks:
  <<.Name>>: {}
<<if .Any>>volumes:
<<range .Processes>><<if $.Keeps .>>  <<$.Label .>>: {}
<<end>><<end>><<end>>`

const kubernetesFile = `# The program <<.Name>>. Before it is applied there has to be what the processes know
# each other by:
#
#   kubectl create secret generic <<.Name>>-key --from-file=key
apiVersion: v1
kind: ConfigMap
metadata:
  name: <<.Name>>-deployment
  labels:
    app.kubernetes.io/name: <<.Name>>
data:
  deployment.json: |
<<.Indented 4>>
<<range .Components>>---
apiVersion: v1
kind: Service
metadata:
  name: <<$.Set .Name>>
  labels:
    app.kubernetes.io/name: <<$.Name>>
    app.kubernetes.io/component: <<$.Set .Name>>
spec:
  clusterIP: None
  # Processes look for each other before they are ready.
  publishNotReadyAddresses: true
  selector:
    app.kubernetes.io/name: <<$.Name>>
    app.kubernetes.io/component: <<$.Set .Name>>
  ports:
    - name: messages
      port: 7400
    - name: status
      port: 7401
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: <<$.Set .Name>>
  labels:
    app.kubernetes.io/name: <<$.Name>>
    app.kubernetes.io/component: <<$.Set .Name>>
spec:
  serviceName: <<$.Set .Name>>
  replicas: <<$.Count .>>
  podManagementPolicy: Parallel
  selector:
    matchLabels:
      app.kubernetes.io/name: <<$.Name>>
      app.kubernetes.io/component: <<$.Set .Name>>
  template:
    metadata:
      labels:
        app.kubernetes.io/name: <<$.Name>>
        app.kubernetes.io/component: <<$.Set .Name>>
    spec:
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 15
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile:
          type: RuntimeDefault
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              app.kubernetes.io/name: <<$.Name>>
              app.kubernetes.io/component: <<$.Set .Name>>
      containers:
        - name: <<$.Name>>
          image: "<<$.Image>>"
          args:
            - --deployment=/etc/<<$.Name>>/deployment.json
            - --node=<<.Name>>/$(ORDINAL)
            - --listen=0.0.0.0:7400
            - --http=0.0.0.0:7401
            - --key=/etc/<<$.Name>>-key/key
            - --public
<<if $.Keeps .>>            - --data=/data
<<else>>            - --volatile
<<end>>          env:
            - name: ORDINAL
              valueFrom:
                fieldRef:
                  fieldPath: metadata.labels['apps.kubernetes.io/pod-index']
          ports:
            - name: messages
              containerPort: 7400
            - name: status
              containerPort: 7401
          startupProbe:
            httpGet:
              path: /healthz
              port: status
            periodSeconds: 1
            failureThreshold: 120
          livenessProbe:
            httpGet:
              path: /healthz
              port: status
            periodSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet:
              path: /readyz
              port: status
            periodSeconds: 2
          resources:
            requests:
              cpu: 100m
              memory: 64Mi
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop:
                - ALL
          volumeMounts:
            - name: deployment
              mountPath: /etc/<<$.Name>>
              readOnly: true
            - name: key
              mountPath: /etc/<<$.Name>>-key
              readOnly: true
<<if $.Keeps .>>            - name: data
              mountPath: /data
<<end>>      volumes:
        - name: deployment
          configMap:
            name: <<$.Name>>-deployment
        - name: key
          secret:
            secretName: <<$.Name>>-key
            defaultMode: 0440
<<if $.Keeps .>>  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes:
          - ReadWriteOnce
        resources:
          requests:
            storage: "<<$.Storage>>"
<<end>><<end>>`
