import { phraseOf } from '#shared/http/problem.ts';
import { code, GENERATED, table } from './markdown.ts';
import { CONDITIONS, OAUTH_ERRORS, STATUSES } from './problem-data.ts';
import { sources } from './sources.ts';

/** An error in the code: its status, and its sentence with `…` for values of the request. */
export type Told = readonly [status: string, sentence: string];

const ERROR =
  /new HttpError\(\s*(\d{3}),\s*(?:'((?:[^'\\]|\\.)+)'|`([^`]+)`)|(?:unprocessable|new BadRequest)\(\s*(?:'((?:[^'\\]|\\.)+)'|`([^`]+)`)/g;

/** The sentences of problem details in the servers' code. */
export function sentences(): readonly Told[] {
  const all = new Map<string, Told>();
  for (const [path, text] of sources()) {
    if (/^shared\/(?:cli|client|start)\//.test(path)) continue;
    for (const [whole, status, ...texts] of text.matchAll(ERROR)) {
      const sentence = (texts.find((one) => one !== undefined) ?? '')
        .replaceAll(/\$\{[^}]*\}+/g, '…')
        .replaceAll(String.raw`\'`, "'");
      const told = [
        status ?? (whole.startsWith('new BadRequest') ? '400' : '422'),
        sentence,
      ] as const;
      all.set(told.join(' '), told);
    }
  }
  return [...all.values()].toSorted((a, b) => a.join(' ').localeCompare(b.join(' ')));
}

/** The page of errors: problem details, errors of OAuth, conditions of WebDAV. */
export function problemsPage(): string {
  return [
    GENERATED,
    '# Problem types',
    '',
    'This page lists the errors of both servers, with their cause and remedy. It is for authors of clients and for operators.',
    '',
    'The answer to an error of HTTP has problem details (RFC 9457), as `application/problem+json`. The type is always `about:blank`. The status names the kind, and `detail` says what was wrong and what to do. Browsers get a page with the same status and sentence. An error of an OAuth endpoint has `error` and `error_description` (RFC 6749 section 5.2).',
    '',
    'The answer has `X-Request-Id`. The line of the [log](log-fields.md) with this `id` has the reason. In a hidden space, every error looks like the error of an unknown address.',
    '',
    '```json',
    '{"title":"Not Found","status":404,"detail":"There is nothing at this address."}',
    '```',
    '',
    '## The reason',
    '',
    'In development, an answer also has the reason: problem details in the member `reason`, an OAuth error in `error_description`, a page below the sentence. A pair is in development while every listener and origin of its configuration is on loopback (`config check` prints the mode). In production the answer has no reason, since it would help an attacker. The line of the log always has it. [How to read a reason](log-fields.md#how-to-read-a-reason) lists the most frequent reasons.',
    '',
    '```json',
    '{"reason":"access token: expired at 2026-11-23T10:00:00Z","title":"Unauthorized","status":401,"detail":"Credentials are missing or not valid. WWW-Authenticate says which are accepted."}',
    '```',
    '',
    'These reasons are only in the log, also in development:',
    '',
    '- everything in a space with `hide`',
    '- everything about credentials of Concealed',
    '- why a PrivateToken or a ticket of Kerberos is refused',
    '- whether a client or a device code exists',
    '- which of name and password was wrong',
    '',
    '## By status',
    '',
    ...table(
      ['Status', 'When', 'What to do'],
      STATUSES.map(([status, when, remedy]) => [
        `${status} ${phraseOf(Number(status))}`,
        when,
        remedy,
      ]),
    ),
    '',
    '## Errors of OAuth',
    '',
    'They are 400 unless the table says otherwise; `invalid_client` is 401. At an authorization request they go to the redirect URI, or to a page if the URI is not registered. `invalid_token` (401) and `insufficient_scope` (403) are in `WWW-Authenticate`. Errors of DPoP are there, too.',
    '',
    ...table(
      ['`error`', 'When', 'What to do'],
      OAUTH_ERRORS.map(([error, when, remedy]) => [code(error), when, remedy]),
    ),
    '',
    '## Conditions of WebDAV',
    '',
    'These answers have `DAV:error` with a condition instead of problem details (RFC 4918 section 16).',
    '',
    ...table(
      ['Condition', 'When', 'What to do'],
      CONDITIONS.map(([condition, when, remedy]) => [code(condition), when, remedy]),
    ),
    '',
    '## All sentences',
    '',
    'A `detail` is one of these sentences, or one about credentials, the framing of the message or a destination. `…` means a part that depends on the request.',
    '',
    ...table(['Status', '`detail`'], sentences()),
    '',
  ].join('\n');
}
