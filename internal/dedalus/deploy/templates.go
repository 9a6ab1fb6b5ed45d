// SPDX-License-Identifier: Apache-2.0

package deploy

// What the files say, with places to fill in, as <<name>>. What they have of a program
// are labels, node names, which are a component's name and a number, and addresses:
// nothing that a shell, YAML or systemd would read as more than a word.

const localScript = `#!/bin/sh
# Starts all processes of <<name>> on this machine, and ends them when it ends itself.
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
<<processes>>wait
`

const systemdUnit = `# One process of the program <<name>>. The program is in /usr/local/bin, the deployment
# and the key in /etc/<<name>>.
[Unit]
Description=<<name>>, <<node>>
After=network-online.target
Wants=network-online.target
PartOf=<<name>>.target
<<condition>>
[Service]
Type=exec
ExecStart=/usr/local/bin/<<name>> --deployment /etc/<<name>>/deployment.json --node <<node>> --data /var/lib/<<name>>/<<label>> --key ${CREDENTIALS_DIRECTORY}/key<<public>>
LoadCredential=key:/etc/<<name>>/key
DynamicUser=yes
StateDirectory=<<name>>/<<label>>
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
WantedBy=<<name>>.target
`

const systemdTarget = `# All processes of the program <<name>> on this machine.
[Unit]
Description=<<name>>
<<processes>>
[Install]
WantedBy=multi-user.target
`

const dockerFile = `# The program <<name>>. Build it first, for the machine that the image is for:
#
#   CGO_ENABLED=0 go build -trimpath -o <<name>> ./PACKAGE
FROM scratch
COPY <<name>> /<<name>>
USER 65532:65532
ENTRYPOINT ["/<<name>>"]
`

const composeFile = `# The program <<name>>: a service for each process. The file key holds what the
# processes know each other by; whoever can reach their network and has it is one of
# them. 'ashlar dedalus deploy' makes one where there is none.
name: <<name>>
services:
<<services>>configs:
  deployment:
    file: ./deployment.json
secrets:
  key:
    file: ./key
networks:
  <<name>>: {}
<<volumes>>`

const composeService = `  <<label>>:
    image: "<<image>>"
    build: .
    command:
      - --deployment=/deployment.json
      - --node=<<node>>
      - --listen=0.0.0.0:7400
      - --http=0.0.0.0:7401
      - --key=/run/secrets/key
      - --public
      - <<data>>
    configs:
      - source: deployment
        target: /deployment.json
    secrets:
      - key
    networks:
      - <<name>>
<<volume>>    read_only: true
    cap_drop:
      - ALL
    security_opt:
      - no-new-privileges:true
    restart: on-failure
    stop_grace_period: 15s
`

const kubernetesFile = `# The program <<name>>. Before it is applied there has to be what the processes know
# each other by:
#
#   kubectl create secret generic <<name>>-key --from-file=key
apiVersion: v1
kind: ConfigMap
metadata:
  name: <<name>>-deployment
  labels:
    app.kubernetes.io/name: <<name>>
data:
  deployment.json: |
<<deployment>>
`

const kubernetesComponent = `---
apiVersion: v1
kind: Service
metadata:
  name: <<set>>
  labels:
    app.kubernetes.io/name: <<name>>
    app.kubernetes.io/component: <<set>>
spec:
  clusterIP: None
  # Processes look for each other before they are ready.
  publishNotReadyAddresses: true
  selector:
    app.kubernetes.io/name: <<name>>
    app.kubernetes.io/component: <<set>>
  ports:
    - name: messages
      port: 7400
    - name: status
      port: 7401
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: <<set>>
  labels:
    app.kubernetes.io/name: <<name>>
    app.kubernetes.io/component: <<set>>
spec:
  serviceName: <<set>>
  replicas: <<count>>
  podManagementPolicy: Parallel
  selector:
    matchLabels:
      app.kubernetes.io/name: <<name>>
      app.kubernetes.io/component: <<set>>
  template:
    metadata:
      labels:
        app.kubernetes.io/name: <<name>>
        app.kubernetes.io/component: <<set>>
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
              app.kubernetes.io/name: <<name>>
              app.kubernetes.io/component: <<set>>
      containers:
        - name: <<name>>
          image: "<<image>>"
          args:
            - --deployment=/etc/<<name>>/deployment.json
            - --node=<<component>>/$(ORDINAL)
            - --listen=0.0.0.0:7400
            - --http=0.0.0.0:7401
            - --key=/etc/<<name>>-key/key
            - --public
            - <<data>>
          env:
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
              mountPath: /etc/<<name>>
              readOnly: true
            - name: key
              mountPath: /etc/<<name>>-key
              readOnly: true
<<mount>>      volumes:
        - name: deployment
          configMap:
            name: <<name>>-deployment
        - name: key
          secret:
            secretName: <<name>>-key
            defaultMode: 0440
<<claim>>`

const kubernetesClaim = `  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes:
          - ReadWriteOnce
        resources:
          requests:
            storage: "<<storage>>"
`
