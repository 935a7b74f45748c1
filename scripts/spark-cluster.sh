#!/usr/bin/env bash
# Starts or stops a standalone Spark cluster on this machine: a master and workers, on loopback.
#
#     scripts/spark-cluster.sh start DIR [WORKERS]     # writes DIR/url and DIR/*.pid
#     scripts/spark-cluster.sh stop DIR
#
# Needs Java 17 and PySpark in the Python that `python3` names. Each worker has one core, and 1500 MB for its executor.
set -euo pipefail

action=$1 directory=$2 workers=${3:-2}
export SPARK_LOCAL_IP=127.0.0.1 SPARK_DAEMON_MEMORY=256m SPARK_NO_DAEMONIZE=1
SPARK_HOME=$(python3 -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))')
export SPARK_HOME
deploy=org.apache.spark.deploy

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

begin() {
    local name=$1
    shift
    mkdir -p "$directory/$name"
    "$SPARK_HOME/bin/spark-class" "$@" >"$directory/$name.log" 2>&1 &
    echo $! >"$directory/$name.pid"
}

# Waits until a log says that something has happened, for 60 seconds.
await() {
    for _ in $(seq 120); do
        grep -q "$2" "$directory/$1.log" && return
        sleep 0.5
    done
    echo "$directory/$1.log does not say: $2" >&2
    exit 1
}

case $action in
start)
    mkdir -p "$directory"
    port=$(free_port)
    begin master $deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0
    await master 'I have been elected leader\|New state: ALIVE'
    echo "spark://127.0.0.1:$port" >"$directory/url"
    for n in $(seq "$workers"); do
        begin "worker-$n" $deploy.worker.Worker --host 127.0.0.1 --webui-port 0 --cores 1 --memory 1500m \
            --work-dir "$directory/worker-$n" "spark://127.0.0.1:$port"
    done
    for n in $(seq "$workers"); do
        await "worker-$n" 'Successfully registered with master'
    done
    ;;
stop)
    for file in "$directory"/*.pid; do
        kill "$(cat "$file")" 2>/dev/null || true
    done
    ;;
*)
    echo "expected start or stop, found $action" >&2
    exit 2
    ;;
esac
