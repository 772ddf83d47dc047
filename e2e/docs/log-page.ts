import type { LogFields } from '#shared/base/log-fields.ts';
import { CHORES, EVENTS, type LoggedEvent } from './log-events.ts';
import { code, GENERATED, table } from './markdown.ts';

/** Every field of a line, with its meaning. The type refuses a field that is missing here. */
export const FIELDS: Readonly<Record<keyof LogFields, string>> = {
  id: 'id of the request; the answer has the same id as `X-Request-Id`',
  reason: 'why a request was refused, or what went wrong',
  trace: 'trace-id of `traceparent` (W3C Trace Context), if one of `trustedProxies` sent it',
  method: 'method of the request',
  path: 'path of the request, without the query',
  status: 'status of the answer',
  milliseconds: 'time from the first octet of the request to the end of the answer',
  cut: '`true`: the connection closed before the end of the answer',
  checks:
    'number of successful health checks, or of successful polls of one follower, since the previous line of this kind',
  space: 'realm of the protection space',
  scheme: 'authentication scheme',
  error: 'OAuth error code',
  cause:
    'the cause of the OAuth error, if one error has several causes; absent if the server does not distinguish these causes',
  refusal: 'code of the refusal; the code stays the same if the words of `reason` change',
  verdict: '`granted`, `refused` or `absent` (no credentials)',
  subject: 'id of the person or application; absent where PrivateTokens are issued',
  client: '`client_id` of the application that has the token or sends the token request',
  application: "id of the API key that an application sent beside a person's credentials",
  grant: 'grant type of the token that was issued, or `gnap`',
  format: 'scheme in which the issued token is used: `Bearer`, `DPoP`, `GNAP`',
  signIn: 'how a person tried to sign in: `password`, `passkey`, `second-factor`',
  signInResult: '`done`, `goes-on` (a second step follows) or `refused`',
  askedMethod: 'method of the request that a proxy asks about at `/verify`',
  askedHost: 'origin of the request that a proxy asks about',
  askedPath: 'path of the request that a proxy asks about',
  host: 'the application or destination that received the request',
  cache: '`hit`: the cache had the answer',
  end: 'how a tunnel or WebSocket ended',
  received: 'octets received from the application or destination',
  sent: 'octets sent to the application or destination',
  version: 'version of this software',
  code: '`bundle`, or `source` if the server runs from source',
  url: 'origin of the server, or address that could not be fetched',
  address: 'address of the listener, or of the client that was refused',
  port: 'port of the listener',
  part: 'file or connection of the store',
  document: 'tree and path of the document',
  file: 'file in the data folder',
  folder: 'folder of the backup',
  files: 'content files in the backup',
  removed: 'older backups that were removed',
  remedy: 'what to do',
  was: 'the earlier identifier of the data in the store (epoch)',
  now: 'the new identifier of the data in the store (epoch)',
  variable: 'environment variable',
  lines: 'number of lines that were dropped',
};

/** The beginnings of reasons, with their remedies. */
const REASONS: readonly (readonly [reason: string, remedy: string])[] = [
  ['`no credentials`', 'Send what `WWW-Authenticate` asks for'],
  ['`a scheme that the space does not have`', 'Use a scheme of the challenges'],
  [
    '`access token: expired at ...`',
    'Refresh the token, or request another token. If the token is new, compare the clocks',
  ],
  [
    '`access token: revoked by ...`',
    'Request another token. The last word says what was revoked: token, grant, person, client, key or epoch (everything in the store)',
  ],
  [
    '`access token: aud is another resource: ...`',
    'Ask for a token with `resource` set to the second URL',
  ],
  ['`access token: iss is another issuer: ...`', 'Ask the issuer that the second URL names'],
  [
    '`access token: bound to a key, so it needs DPoP`',
    'Send the token with the scheme `DPoP`, with a proof',
  ],
  [
    '`access token: the issuer has no such key`, `access token: signature is wrong`',
    'The token comes from another installation, or was changed',
  ],
  [
    '`DPoP proof: ...`',
    'Correct the claim that the reason names. Make a new proof for each request',
  ],
  ['`lacks ...`', 'Ask for a token with these scopes'],
  [
    '`nc was used before`, `nonce is stale`',
    'A Digest client counts `nc` up for each request, and takes the nonce of the newest challenge',
  ],
  [
    '`no such name, or ...`, `unknown name or wrong password`',
    'The server does not say which of the two, so that an attacker does not learn names',
  ],
  [
    '`invalid_grant: authorization code already consumed`',
    'The client redeemed a code twice. Its grant has ended',
  ],
  ['`invalid_grant: authorization code not found`', 'The code is unknown, or expired long ago'],
  [
    '`invalid_grant: code_verifier does not match code_challenge`',
    'The client mixes up two sign-ins, or hashes the verifier in another way than S256',
  ],
  [
    '`invalid_grant: refresh token already used`',
    'The client or a thief used a refresh token that had already been replaced. The grant has ended',
  ],
  [
    '`invalid_client: client not found: ...`',
    'The client that the reason names is not registered here. If the client_id is the URL of a document, the reason says why the server did not fetch the document',
  ],
  [
    '`invalid_redirect_uri: ...`',
    'Register the URI at the end of the reason, in exactly this form: `client set CLIENT --redirect-uri`',
  ],
  [
    '`the origin is not in cors.origins of this space`',
    'Add the origin of the page to `cors.origins`',
  ],
  [
    '`the store: ...`, `the feed of revocations: ...`, `the keys of the issuer at ...`',
    'This dependency does not answer',
  ],
];

/** The page of the events of the log, and of their fields. */
export function logPage(): string {
  return [
    GENERATED,
    '# Log fields',
    '',
    'This page lists every event that the servers log, with its level and fields. The page is for operators who read or collect the log.',
    '',
    'Each server writes one JSON object a line to standard error. Every line has `time` (ISO 8601), `level`, `server` and `event`, and `worker` if the server has several processes. To find the line of an answer, search for its `X-Request-Id`: the line with this `id` has the reason.',
    '',
    'No line has a secret, a token, a proof or a query. The server writes warnings and errors at once, and other lines within 20 ms. A kill (`SIGKILL`, a lost machine) may lose lines of the last 20 ms. If no program reads the pipe, 16 MiB of lines wait in memory; the server drops later lines, and `log.lost` counts the dropped lines. `log.lost` also counts lines that cannot be written because the reader has ended or the disk is full.',
    '',
    '```json',
    '{"time":"2026-11-23T12:00:00.000Z","level":"info","server":"resource","event":"request","id":"HmJ5VbqQ","space":"documents","scheme":"Bearer","verdict":"refused","refusal":"token-revoked","reason":"access token: revoked by token","method":"GET","path":"/documents/hello.txt","status":401,"milliseconds":3}',
    '```',
    '',
    '## How to read a reason',
    '',
    'The words before the first colon name what was wrong. The words after this colon say why. In development the answer has the same reason ([problem types](problem-types.md#the-reason)).',
    '',
    ...table(['Reason', 'What to do'], REASONS),
    '',
    ...Object.entries(EVENTS).flatMap(section),
    '## Recurring work',
    '',
    'These events are warnings with a `reason`: the work has failed, and the server will try again.',
    '',
    ...table(
      ['Event', 'Work'],
      Object.entries(CHORES).map(([event, meaning]) => [code(event), meaning]),
    ),
    '',
    '## Fields',
    '',
    'A line leaves out fields without a value. Successful health checks share one line a minute, and so do the polls of each client that follows revocations.',
    '',
    ...table(
      ['Field', 'Meaning'],
      Object.entries(FIELDS).map(([field, meaning]) => [code(field), meaning]),
    ),
    '',
  ].join('\n');
}

function section([title, events]: readonly [string, readonly LoggedEvent[]]): readonly string[] {
  const rows = events.map(([level, event, meaning, fields]) => [
    level,
    code(event),
    meaning,
    fields.map(code).join(', '),
  ]);
  return [`## ${title}`, '', ...table(['Level', 'Event', 'When', 'Fields'], rows), ''];
}
