/** An event of the log: its level, what it says, and its fields. */
export type LoggedEvent = readonly [
  level: 'info' | 'warn' | 'error',
  event: string,
  meaning: string,
  fields: readonly string[],
];

/** The fields that say what authentication came to. */
export const VERDICT = ['space', 'scheme', 'verdict', 'subject', 'client', 'application'];

const LISTENER = ['address', 'port'];

/** Every event that the servers and the package log; a test finds each in the code. */
export const EVENTS: Readonly<Record<string, readonly LoggedEvent[]>> = {
  Requests: [
    [
      'info',
      'request',
      'A request is over.',
      [
        'id',
        'trace',
        'method',
        'path',
        'status',
        'milliseconds',
        'cut',
        'checks',
        'reason',
        ...VERDICT,
        'grant',
        'format',
        'signIn',
        'signInResult',
        'askedMethod',
        'askedHost',
        'askedPath',
        'host',
        'cache',
      ],
    ],
    [
      'info',
      'proxy.request',
      'A request through the forward proxy is over.',
      ['id', 'method', 'host', 'path', 'status', 'milliseconds', 'reason', 'cut', ...VERDICT],
    ],
    [
      'info',
      'proxy.tunnel',
      'A tunnel of the forward proxy is over.',
      [
        'id',
        'method',
        'host',
        'status',
        'cut',
        'end',
        'received',
        'sent',
        'milliseconds',
        'reason',
        ...VERDICT,
      ],
    ],
    [
      'info',
      'websocket',
      'A WebSocket is over. Its `id` is that of its line `request`.',
      ['id', 'end', 'received', 'sent'],
    ],
    [
      'info',
      'refused',
      'A connection or message was refused before it was a request. In the package: a request was refused.',
      ['id', 'status', 'reason', 'address', 'method', 'path', ...VERDICT],
    ],
    [
      'error',
      'request.failed',
      'A defect: the answer was 500. `reason` has the stack.',
      ['reason'],
    ],
    ['error', 'handler failed', 'A defect outside the answer to a request.', ['id', 'reason']],
    ['error', 'tunnel failed', 'A defect in a tunnel.', ['reason']],
    ['error', 'engine', 'A defect in the engine of the authorization server.', ['reason']],
    ['error', 'failed', 'The package: a defect; the answer was 500.', ['reason']],
    ['warn', 'response.broken', 'An answer could not be sent to its end.', ['reason']],
    [
      'warn',
      'unsettled',
      'The use of a refresh token or code could not be settled for a minute.',
      ['reason'],
    ],
    [
      'warn',
      'upstream.failed',
      'An application did not answer; another URL of it is asked.',
      ['id', 'host', 'reason'],
    ],
  ],
  'Start and end': [
    ['info', 'listening', 'The server answers.', ['url', ...LISTENER]],
    ['info', 'resourceTls', 'The listener over TLS of the resource server answers.', LISTENER],
    ['info', 'authzTls', 'The listener of the token issuer answers.', LISTENER],
    ['info', 'proxy', 'The listener of the forward proxy answers.', LISTENER],
    ['info', 'ending', 'The server was asked to end.', ['reason']],
    ['error', 'start.failed', 'The server could not start.', ['reason']],
    ['error', 'worker.ended', 'A worker has died and is started again.', ['reason']],
    [
      'info',
      'workers.replaced',
      'SIGHUP: new workers serve, with the configuration as it is now.',
      [],
    ],
    [
      'error',
      'workers.kept',
      'SIGHUP: a new worker did not get ready; the former ones go on.',
      ['reason'],
    ],
    [
      'warn',
      'environment.unknown',
      'A variable begins with `COUNTERSIGN_`, and nothing reads it.',
      ['variable', 'reason'],
    ],
    [
      'warn',
      'passkeys.other-domain',
      'People have passkeys for another domain than `people.passkeys.rpId`. The start looks at the first thousand.',
      ['reason'],
    ],
    [
      'info',
      'second-factor.missing',
      'A scheme that knows only a password refuses a person who needs a second factor, as it does for a wrong password.',
      ['subject', 'reason'],
    ],
    ['info', 'mail.sent', 'The mail server took a message to a person.', ['subject', 'reason']],
    [
      'warn',
      'mail.postponed',
      'The mail server did not take a message now. It is tried again.',
      ['subject', 'reason'],
    ],
    [
      'warn',
      'mail.refused',
      'The mail server refused a message for good. It is not tried again.',
      ['subject', 'reason'],
    ],
    [
      'warn',
      'mail.given-up',
      'A message waited until it was not worth sending any more.',
      ['subject', 'reason'],
    ],
    ['warn', 'log.lost', 'Nobody took the log for so long that lines were dropped.', ['lines']],
    [
      'warn',
      'client-document.refresh',
      'The description of a client cannot be fetched anew; the old one is good for a day.',
      ['client', 'reason'],
    ],
    ['warn', 'negotiate.off', 'Negotiate is configured, but cannot run.', ['reason', 'remedy']],
    ['warn', 'negotiate.keytab', 'The keytab is readable by everybody.', ['reason']],
  ],
  Store: [
    [
      'error',
      'store.failing',
      'A part of the store, or readiness, begins to fail.',
      ['part', 'reason'],
    ],
    [
      'error',
      'audit.failing',
      'An event could not be written to the audit log, and `audit.required` is `false`.',
      ['reason'],
    ],
    ['warn', 'store.working', 'That part has worked again for some seconds.', ['part']],
    [
      'error',
      'store.memory',
      'The store was emptied, exchanged or restored: every earlier token is refused.',
      ['reason', 'was', 'now'],
    ],
    [
      'warn',
      'redis.replicas',
      '`store.replicas` is 0: a failover may lose what was acknowledged.',
      ['reason'],
    ],
    [
      'warn',
      'redis.not-durable',
      'Redis may lose what it acknowledged.',
      ['reason', 'appendonly', 'appendfsync'],
    ],
    ['warn', 'revocations.interrupted', 'The feed of revocations is interrupted.', ['reason']],
    [
      'warn',
      'revocations.unfollowed',
      'The package has no `client`, and nobody set `revocation`.',
      ['reason'],
    ],
    ['warn', 'revocations.stale', 'The package: the lease has run out, and tokens are 503.', []],
    ['info', 'revocations.followed', 'The package: revocations are followed (again).', []],
    [
      'warn',
      'follower.silent',
      'A server that follows revocations has not acknowledged one within its lease.',
      ['client'],
    ],
    [
      'warn',
      'dpop.replay',
      'The package: several processes, each remembering proofs alone.',
      ['reason', 'remedy'],
    ],
  ],
  'Keys of others': [
    ['warn', 'jwks.unavailable', 'The keys of the issuer could not be fetched.', ['url', 'reason']],
    [
      'warn',
      'private-token.directory',
      'The directory of a token issuer could not be fetched.',
      ['url', 'reason'],
    ],
    [
      'warn',
      'private-token.access-token',
      'No access token for the token issuer.',
      ['url', 'reason'],
    ],
    [
      'warn',
      'private-token.verification',
      'The token issuer could not verify a token.',
      ['url', 'reason'],
    ],
  ],
  Cache: [
    [
      'warn',
      'cache.emptied',
      'It is not known what was to be forgotten, so the cache forgot everything.',
      ['reason'],
    ],
    ['error', 'cache.ban.failed', 'A ban could not be carried out.', ['reason']],
    ['error', 'cache.disk.failed', 'The cache has no disk; memory alone is used.', ['reason']],
  ],
};

/** Work that is done again and again, which has a line only when it fails. */
export const CHORES: Readonly<Record<string, string>> = {
  sweep: 'removal of what has ended (authorization server)',
  keys: 'reading and making of signing keys',
  mail: 'sending of mail',
  audit: 'closing of the audit log',
  'audit counts': 'telling how many tokens applications got in their own name',
  'audit retention': 'removal of days that the audit log is kept no longer',
  'token keys': 'reading and making of keys for PrivateToken',
  'gateway-keys': 'reading and making of keys of the gateway',
  'sweep.gateway-keys': 'removal of old keys of the gateway',
  'sweep.store': 'removal of what has ended (resource server)',
  'sweep.content': 'removal of leftover files',
  'sweep.push': 'removal of push subscriptions whose grant has ended',
  'cache.position': 'writing down how far the cache has followed changes',
  'cache.tidy': 'removal of leftover files of the cache',
  'cache.report': 'what `cache stats` reads',
  'process.report': 'what `server status` reads',
};

/** Events whose name the code takes from a variable. */
export const FROM_VARIABLES = ['resourceTls', 'authzTls', 'proxy'];
