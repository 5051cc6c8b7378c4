# For scripts that run several commands, to be sourced: a step that fails does not keep the others from running, and the end
# names the tests that failed in any of them and the total over all.
set -euo pipefail
exec </dev/null

logs=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$logs"' EXIT
failed_steps=()
beside_name= beside_pid=

step() { # step NAME COMMAND...
  local name=$1
  shift
  local start=$SECONDS
  echo "== $name"
  "$@" 2>&1 | tee "$logs/$name.log" || failed_steps+=("$name")
  echo "== $name took $((SECONDS - start)) s"
}

beside() { # beside NAME COMMAND...: a step that runs beside those that follow, until `await_beside`
  beside_name=$1
  shift
  "$@" >"$logs/$beside_name.log" 2>&1 &
  beside_pid=$!
}

await_beside() { # prints what it has printed
  echo "== $beside_name"
  wait "$beside_pid" || failed_steps+=("$beside_name")
  cat "$logs/$beside_name.log"
}

finish() { # prints the total as the last line; its status is that of the whole
  local total
  total=$(cat "$logs"/*.log | awk '
    /^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$/ { passed += $1; failed += $3; skipped += $5 }
    END {
      printf "%d passed, %d failed", passed, failed
      if (skipped) printf ", %d skipped", skipped
      exit passed == 0
    }') || failed_steps+=(total)

  if [ ${#failed_steps[@]} -gt 0 ]; then
    cat "$logs"/*.log | grep -A 1 '^FAILED ' || true # each test that failed, with the command that runs it again
    echo "Failed: ${failed_steps[*]}"
  fi
  echo "$total"
  [ ${#failed_steps[@]} -eq 0 ]
}
