# shellcheck shell=bash
# Slurm on one node, on loopback: slurmctld and slurmd, which start jobs as the user of lib/rootless.bash. Its oci.conf
# has runtime wrapper as the runtime.

load lib/rootless

slurm_require() { require_tool slurmctld slurmd srun sinfo runc gojq setpriv python3; }

slurm_remove_all() { :; }

# A namespace with the user, and a /dev of its own whose log is a file of messages.
slurm_namespace() {
    cp -a /etc "$FB_DIR/etc"
    echo "$FB_USER:x:$FB_UID:$FB_UID::$FB_DIR/home:/bin/sh" >>"$FB_DIR/etc/passwd"
    echo "$FB_USER:x:$FB_UID:" >>"$FB_DIR/etc/group"
    mkdir "$FB_DIR/dev"
    python3 -c '
import os, socket, sys
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind(sys.argv[1] + "/dev/log")
os.chmod(sys.argv[1] + "/dev/log", 0o666)
with open(sys.argv[1] + "/messages", "ab", buffering=0) as out:
    while True:
        out.write(log.recv(65536).rstrip(b"\0") + b"\n")' "$FB_DIR" >/dev/null 2>&1 </dev/null 3>&- &
    export FB_LOG_PID=$!
    wait_for test -S "$FB_DIR/dev/log"
    namespace_hold "
        for node in null zero full tty urandom random fd shm pts; do
            if [ -d /dev/\$node ]; then mkdir '$FB_DIR'/dev/\$node; else : >'$FB_DIR'/dev/\$node; fi
            mount --rbind /dev/\$node '$FB_DIR'/dev/\$node
        done
        ln -s pts/ptmx '$FB_DIR/dev/ptmx'
        mount --rbind '$FB_DIR/dev' /dev
        mount --bind '$FB_DIR/etc' /etc"
}

slurm_conf() {
    cat <<END
ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$FB_DIR/slurm/state
SlurmdSpoolDir=$FB_DIR/slurm/spool
SlurmctldPidFile=$FB_DIR/slurm/slurmctld.pid
SlurmdPidFile=$FB_DIR/slurm/slurmd.pid
ProctrackType=proctrack/linuxproc
MpiDefault=none
ReturnToService=2
Prolog=$FB_DIR/slurm/prolog
SelectType=select/cons_tres
NodeName=node1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=node1 Default=YES State=UP
END
}

# slurm_oci RUNTIME: the runtime is called as the job's user, in whose directory it keeps its state.
slurm_oci() {
    cat <<END
RunTimeQuery="$1 --root=$FB_DIR/xdg/run state %n.%u.%j.%s.%t"
RunTimeRun="$1 --root=$FB_DIR/xdg/run run --bundle %b %n.%u.%j.%s.%t"
RunTimeKill="$1 --root=$FB_DIR/xdg/run kill %n.%u.%j.%s.%t KILL"
RunTimeDelete="$1 --root=$FB_DIR/xdg/run delete --force %n.%u.%j.%s.%t"
END
}

# slurm_prolog: that of docs/slurm.md, for the partition and the programs of the test.
slurm_prolog() {
    sed -n '/^    #!\/bin\/sh/,/^    exit 0/s/^    //p' "$BATS_TEST_DIRNAME/../../docs/slurm.md" |
        sed "s|vision)|all)|; s|/usr/bin/flatbed |$FLATBED |"
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# slurm_daemon NAME OPTION…: starts a daemon in the foreground, and exports its pid as FB_NAME_PID.
slurm_daemon() {
    within env SLURM_CONF="$FB_DIR/slurm/slurm.conf" "$@" -D -f "$FB_DIR/slurm/slurm.conf" \
        >"$FB_DIR/slurm/$1.log" 2>&1 </dev/null 3>&- &
    export "FB_${1^^}_PID=$!"
}

slurm_start() {
    [ -z "$FB_REFUSED" ] || return 0
    rootless_directories
    slurm_namespace
    mkdir -p "$FB_DIR"/slurm/{state,spool}
    chmod 0755 "$FB_DIR" "$FB_DIR/slurm"
    slurm_conf "$(free_port)" "$(free_port)" >"$FB_DIR/slurm/slurm.conf"
    slurm_oci "$FB_DIR/bin/flatbed-runtime" >"$FB_DIR/slurm/oci.conf"
    slurm_prolog >"$FB_DIR/slurm/prolog"
    chmod 0755 "$FB_DIR/slurm/prolog"
    slurm_daemon slurmctld
    slurm_daemon slurmd -N node1
    wait_for slurm_idle || refuse "Slurm does not start: $(tail -n 3 "$FB_DIR"/slurm/*.log)"
}

slurm_idle() { [ "$(worker sinfo --noheader --format=%T)" = idle ]; }

slurm_stop() {
    daemon_stop "${FB_SLURMD_PID-}"
    daemon_stop "${FB_SLURMCTLD_PID-}"
    daemon_stop "${FB_LOG_PID-}"
}

# worker COMMAND…: runs a command of Slurm as the user.
worker() {
    within setpriv --reuid "$FB_UID" --regid "$FB_UID" --clear-groups env -i -C "$FB_DIR/home" PATH="$PATH" \
        HOME="$FB_DIR/home" USER="$FB_USER" SLURM_CONF="$FB_DIR/slurm/slurm.conf" "$@" 3>&-
}

# slurm_bundle ANNOTATIONS: makes a bundle that the user can run without root.
slurm_bundle() {
    local bundle=$FB_DIR/home/bundle
    rm -rf "$bundle"
    mkdir -p "$bundle"
    cp -a "$FB_DIR/rootfs" "$bundle/rootfs"
    (cd "$bundle" && runc spec --rootless)
    gojq --argjson a "$1" --argjson id "$FB_UID" '.annotations = $a | .process.terminal = false | .root.readonly = false
        | .linux.uidMappings[0].hostID = $id | .linux.gidMappings[0].hostID = $id' "$bundle/config.json" >"$FB_DIR/new"
    cp "$FB_DIR/new" "$bundle/config.json"
    chown -R "$FB_UID:$FB_UID" "$bundle"
    echo "$bundle"
}
