// Plain JavaScript without a package: the parent of the workers reads it, too (shared/start).

/** Seconds. A request is timed in whole milliseconds, as in its line of the log. */
const OF_REQUESTS = /** @type {const} */ ([
  0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]);
const OF_STORE = /** @type {const} */ ([
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5,
]);

/**
 * THE table of metrics. `labels`: their names, in order; `server` and `worker` are filled in by the process. `merge`: what
 * the parent makes of the values of several workers; `each` keeps them apart by `worker`. `bounds`: of a histogram.
 */
export const METRICS = /** @type {const} */ ({
  requests: {
    name: 'countersign_http_requests_total',
    help: 'Completed requests, including requests through the forward proxy. Requests with PrivateToken have no space. Health checks are counted together once a minute.',
    type: 'counter',
    labels: ['server', 'space', 'method', 'status', 'scheme'],
    merge: 'sum',
  },
  requestDuration: {
    name: 'countersign_http_request_duration_seconds',
    help: 'Time from the header section of a request to the end of the answer.',
    type: 'histogram',
    labels: ['server', 'space', 'class'],
    merge: 'sum',
    bounds: OF_REQUESTS,
  },
  refusals: {
    name: 'countersign_refusals_total',
    help: 'Requests whose credentials or tokens were refused, and requests without the required credentials.',
    type: 'counter',
    labels: ['server', 'space', 'reason'],
    merge: 'sum',
  },
  connectionsRefused: {
    name: 'countersign_connections_refused_total',
    help: 'Refused connections, and refused messages that were not yet a request.',
    type: 'counter',
    labels: ['server'],
    merge: 'sum',
  },
  logLines: {
    name: 'countersign_log_lines_total',
    help: 'Log lines, by level.',
    type: 'counter',
    labels: ['server', 'level'],
    merge: 'sum',
  },
  ready: {
    name: 'countersign_ready',
    help: '1 if the server can do its work, as /health/ready says; 0 if one of its workers cannot.',
    type: 'gauge',
    labels: ['server'],
    merge: 'min',
  },
  readyForReading: {
    name: 'countersign_ready_for_reading',
    help: '1 if the server can do the work that a full disk allows, as /health/ready?for=reading says; 0 if one of its workers cannot.',
    type: 'gauge',
    labels: ['server'],
    merge: 'min',
  },
  workerUp: {
    name: 'countersign_worker_up',
    help: '1 if the worker answered this scrape. Otherwise its last known numbers are used.',
    type: 'gauge',
    labels: ['server', 'worker'],
    merge: 'each',
  },
  feedTrusted: {
    name: 'countersign_feed_trusted',
    help: '1 if the feed of revocations is fresh enough for verdicts; 0 if it is not in one of the workers.',
    type: 'gauge',
    labels: ['server'],
    merge: 'min',
  },
  feedLag: {
    name: 'countersign_feed_lag_seconds',
    help: 'Time since the feed of revocations last got an answer from the store; the longest of all workers.',
    type: 'gauge',
    labels: ['server'],
    merge: 'max',
  },
  feedEntries: {
    name: 'countersign_feed_entries',
    help: 'Revocations that the server remembers.',
    type: 'gauge',
    labels: ['server'],
    merge: 'max',
  },
  clockDifference: {
    name: 'countersign_clock_difference_seconds',
    help: 'Smallest clock difference that fits the last answer: between the resource server and the authorization server, or a proxy in front of it. The greatest value of all workers.',
    type: 'gauge',
    labels: ['server'],
    merge: 'max',
  },
  tokensIssued: {
    name: 'countersign_tokens_issued_total',
    help: 'Answers with access tokens, by grant type and by the scheme that uses them.',
    type: 'counter',
    labels: ['server', 'grant', 'format'],
    merge: 'sum',
  },
  signIns: {
    name: 'countersign_signins_total',
    help: 'Sign-in forms, by method and result.',
    type: 'counter',
    labels: ['server', 'how', 'result'],
    merge: 'sum',
  },
  revocations: {
    name: 'countersign_revocations_total',
    help: 'Revocations, by the kind of the revoked object.',
    type: 'counter',
    labels: ['server', 'kind'],
    merge: 'sum',
  },
  throttled: {
    name: 'countersign_attempts_throttled_total',
    help: 'Attempts to sign in, and requests, that a rate limit refused, by limit.',
    type: 'counter',
    labels: ['server', 'limit'],
    merge: 'sum',
  },
  privateTokens: {
    name: 'countersign_private_tokens_total',
    help: 'PrivateTokens, by event: issued within a quota, verified for a resource server, redeemed, or refused because they had been redeemed before.',
    type: 'counter',
    labels: ['server', 'event'],
    merge: 'sum',
  },
  storeDuration: {
    name: 'countersign_store_duration_seconds',
    help: 'Duration of store operations, including failed operations.',
    type: 'histogram',
    labels: ['server', 'operation'],
    merge: 'sum',
    bounds: OF_STORE,
  },
  keys: {
    name: 'countersign_keys',
    help: 'Signing keys of the authorization server or of the gateway, by state.',
    type: 'gauge',
    labels: ['server', 'state'],
    merge: 'max',
  },
  keyAge: {
    name: 'countersign_key_age_seconds',
    help: 'Time since the present signing key of an algorithm began to sign.',
    type: 'gauge',
    labels: ['server', 'alg'],
    merge: 'max',
  },
  lastBackup: {
    name: 'countersign_last_backup_timestamp_seconds',
    help: 'The time of the last successful backup, in seconds since 1970, by the store of the authorization server. 0: no backup is known.',
    type: 'gauge',
    labels: ['server'],
    merge: 'max',
  },
  logouts: {
    name: 'countersign_logouts_total',
    help: 'Attempts to tell an application that sessions have ended, by result: told, postponed, or given up 24 hours after the end.',
    type: 'counter',
    labels: ['server', 'result'],
    merge: 'sum',
  },
  logoutsWaiting: {
    name: 'countersign_logouts_waiting',
    help: 'Logouts that no application has accepted yet, by the store of the authorization server; counted up to 10,000.',
    type: 'gauge',
    labels: ['server'],
    merge: 'max',
  },
  logoutAge: {
    name: 'countersign_logout_age_seconds',
    help: 'Time since the end of the oldest session whose logout no application has accepted yet. 0: none waits.',
    type: 'gauge',
    labels: ['server'],
    merge: 'max',
  },
  eventLoopDelay: {
    name: 'countersign_eventloop_delay_seconds',
    help: 'Delay of the event loop since the previous scrape: median, 99th percentile, greatest; the worst of all workers.',
    type: 'gauge',
    labels: ['server', 'at'],
    merge: 'max',
  },
  cpu: {
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process.',
    type: 'counter',
    labels: ['server', 'worker'],
    merge: 'each',
  },
  startTime: {
    name: 'process_start_time_seconds',
    help: 'The start of the process, in seconds since 1970.',
    type: 'gauge',
    labels: ['server', 'worker'],
    merge: 'each',
  },
  residentMemory: {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory of the process.',
    type: 'gauge',
    labels: ['server', 'worker'],
    merge: 'each',
  },
  heapUsed: {
    name: 'nodejs_heap_size_used_bytes',
    help: 'Used heap of JavaScript.',
    type: 'gauge',
    labels: ['server', 'worker'],
    merge: 'each',
  },
  heapTotal: {
    name: 'nodejs_heap_size_total_bytes',
    help: 'Size of the heap of JavaScript.',
    type: 'gauge',
    labels: ['server', 'worker'],
    merge: 'each',
  },
});

/** @typedef {typeof METRICS} Metrics */
/** @typedef {keyof Metrics} MetricKey */
