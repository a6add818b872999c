#!/usr/bin/env bash
# Hands in documents, compiles them, asks one question and shows the way to the answer.
#
#   export CORPUS2SKILL_URL=http://127.0.0.1:8484
#   export CORPUS2SKILL_TOKEN=...     # corpus2skill tokens add example --scope read --scope ask --scope write
#   examples/ask.sh terms "年額プランを解約したら、いつまで使えますか？" documents/*.txt
#
# Needs curl and jq.
set -euo pipefail

corpus=$1 question=$2
shift 2
url=${CORPUS2SKILL_URL:-http://127.0.0.1:8484}

call() { # METHOD PATH [curl's options]
  local method=$1 path=$2
  shift 2
  curl --silent --show-error --fail-with-body --request "$method" \
    --header "Authorization: Bearer $CORPUS2SKILL_TOKEN" "$@" "$url$path"
}
json() { # METHOD PATH BODY: under a key of its own, so that a repeated request does nothing twice
  call "$1" "$2" --header "Content-Type: application/json" --data "$3" \
    --header "Idempotency-Key: $(cat /proc/sys/kernel/random/uuid 2>/dev/null || uuidgen)"
}
follow() { # PATH EVENT: the data of the events of this name, until the stream ends
  call GET "$1" --no-buffer | awk -v wanted="event: $2" '
    $0 == wanted { is_wanted = 1; next }
    /^data: / && is_wanted { print substr($0, 7); fflush() }
    /^$/ { is_wanted = 0 }'
}

call GET "/v1/corpora/$corpus" >/dev/null 2>&1 || json POST /v1/corpora "{\"corpus\": \"$corpus\"}" >/dev/null

files=()
for file in "$@"; do files+=(--form "files=@$file"); done
call POST "/v1/corpora/$corpus/documents" "${files[@]}" >/dev/null

job=$(json POST "/v1/corpora/$corpus/jobs" '{}' | jq --raw-output '.job.job_id // .job_id')
follow "/v1/jobs/$job/events" job.state | jq --raw-output '"compile: \(.state)"'
state=$(call GET "/v1/jobs/$job" | jq --raw-output .state)
[[ $state == succeeded ]] || { echo "The compile ended as $state." >&2; exit 1; }

session=$(json POST /v1/sessions "{\"corpus\": \"$corpus\"}" | jq --raw-output .session_id)
run=$(jq --null-input --arg question "$question" '{question: $question}')
run=$(json POST "/v1/sessions/$session/runs" "$run" | jq --raw-output .run_id)
follow "/v1/runs/$run/events" node.visited | jq --raw-output '"\(.n). \(.title)  \(.path)"'
call GET "/v1/runs/$run" | jq --raw-output '"", .answer, "", (.citations[] | "[\(.n)] \(.source) › \(.place)")'
