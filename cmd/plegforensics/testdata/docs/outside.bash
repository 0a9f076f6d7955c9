# outside.bash plays the programs that the documents call and that a test must not
# reach: each looks at what it is asked for and answers with what is at hand.
set -o pipefail
# a gate may hold: that is what it is for
trap 'rc=$?; [[ $rc == 1 && $BASH_COMMAND == *--fail-on* ]] || echo "FAILED $rc: $BASH_COMMAND"' ERR

need() { [ -e "$1" ] || { echo "FAILED: no $1" >&2; return 1; }; }

go() {
  case $1 in
  install) local p=${2#github.com/plegforensics/plegforensics/}; need "$REPOSITORY/${p%@*}" ;;
  run) need "$REPOSITORY/$2" && (cd "$REPOSITORY" && plegforensics "${@:3}") ;;
  build | vet | test)
    local a
    for a in "${@:2}"; do [[ $a != ./* || $a == ./... ]] || need "$REPOSITORY/$a" || return; done ;;
  *) echo "FAILED: go $1" >&2; return 1 ;;
  esac
}
git() { [[ $1 == clone && $2 == https://github.com/plegforensics/plegforensics ]] && mkdir -p plegforensics; }
docker() {
  case $1 in
  build) [[ $2 == -f ]] && need "$REPOSITORY/$3" ;;
  run)
    while [[ $1 != plegforensics ]]; do shift; done
    "${@//\/in/$PWD}" >/dev/null ;;
  esac
}
journalctl() { cat "$REPOSITORY/samples/hang-list/kubelet.log"; }
kubectl() {
  case $1 in
  krew) [[ $2 == install && $3 == plegforensics ]] && need "$REPOSITORY/packaging/krew/plegforensics.yaml" ;;
  get) [[ $2 == --raw ]] && echo 'kubelet_running_pods 3' ;;
  *) return 1 ;;
  esac
}
crictl() {
  case $1 in
  ps) echo '{"containers":[]}' ;;
  pods) echo '{"items":[]}' ;;
  info) echo '{"status":{"conditions":[]}}' ;;
  *) return 1 ;;
  esac
}
ps() { echo '    PID    PPID STAT WCHAN                                ELAPSED COMMAND'; }
hostname() { echo n1; }
timedatectl() { echo '                Time zone: UTC (UTC, +0000)'; }
man() { cat >/dev/null; }
cat() { if [[ $1 == /proc/pressure/io ]]; then echo 'some avg10=0.00 avg60=0.00 avg300=0.00 total=0'; else command cat "$@"; fi; }
