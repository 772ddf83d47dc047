import { FILES } from '#shared/refusals/files.ts';
import { LABELS } from '#shared/refusals/refusal.ts';
import { REFUSALS } from '#shared/refusals/table.ts';
import { OPERATIONS } from '#shared/refusals/operations.ts';
import { code, GENERATED, table } from './markdown.ts';

/** The remedy for the refusals of each label. */
const REMEDIES: Readonly<Record<(typeof LABELS)[number], string>> = {
  'no-credentials': 'Send credentials of a scheme that `WWW-Authenticate` names.',
  'cross-site': 'Send the request from a page of the same origin, or with a token.',
  'other-scheme': 'Use a scheme that `WWW-Authenticate` names.',
  throttled: 'Wait for the seconds of `Retry-After`.',
  revoked: 'Get new credentials: sign in again, or ask for another token.',
  replayed: 'Make a new proof, signature or token for each request.',
  expired: 'Get a new token, nonce or challenge. If it is new, compare the clocks.',
  audience: 'Ask for a token or key for this resource, realm or origin.',
  issuer: 'Ask the authorization server that the space names.',
  'unknown-key': 'Use a key that is registered or published here.',
  'not-allowed': 'Ask the operator to add the caller to `allow` of the space.',
  scope: 'Ask for a token with the scopes that the challenge names.',
  'step-up': 'Let the person sign in again, as the challenge says.',
  'clear-text': 'Use `https`.',
  proof: 'Sign a new proof or signature as the scheme says, with the key of the token.',
  'wrong-credentials': 'Check name and secret, or set a new secret.',
  malformed: 'Mend the member that the text names.',
  continued: 'Answer the challenge: this is a step of the scheme, not an error.',
  unavailable: 'Try again. If the answer stays, ask the operator.',
  other: 'Read the text, and the line of the log with the same id.',
};

/** The page of the codes by which credentials are refused. */
export function refusalsPage(): string {
  return [
    GENERATED,
    '# Refusals',
    '',
    'This page lists the codes that say why credentials or an operation were refused. It is for operators, and for authors of their programs.',
    '',
    '## Credentials',
    '',
    'A line of the [log](log-fields.md) with `verdict` `refused` has the code as `refusal`, and its text as `reason`. If a hidden space or the push service refuses credentials, the line has `refusal` and `reason`, but no `verdict`. Search for the code, since the text may change. The [metric](metrics.md) `countersign_refusals_total` counts refusals by the label.',
    '',
    '```json',
    '{"event":"request","space":"documents","scheme":"Bearer","verdict":"refused","refusal":"token-expired","reason":"access token: expired at 2026-11-23T10:00:00Z","status":401}',
    '```',
    '',
    'In a reason of the log, a value replaces each `{name}`. A reason may begin with the part that is wrong, such as `access token: `.',
    '',
    ...table(
      ['`refusal`', 'Label `reason`', 'In words'],
      Object.entries(REFUSALS).map(([name, { text, label }]) => [code(name), code(label), text]),
    ),
    '',
    'These are the remedies by the label:',
    '',
    ...table(
      ['Label `reason`', 'What to do'],
      LABELS.map((label) => [code(label), REMEDIES[label]]),
    ),
    '',
    '## Operations',
    '',
    'An answer 409 or 422 of `/admin/api` has the `code` of the refusal. So has a 404 for an unknown name or id. The member `values` has each value of the text under its name. A command with `--json` writes `code` and `values` to standard error, with the text as `message`:',
    '',
    '```json',
    '{"code":"no-client","values":{"client":"web"},"message":"there is no client web"}',
    '```',
    '',
    'If the text is about one of several values, such as an address, `about` has that value. A value such as `why` may be a reason of its own, with `code`, `values` and `message`.',
    '',
    'Errors of a command that are not refusals of an operation have one of these codes:',
    '',
    ...table(
      ['`code`', 'When'],
      [
        [code('usage'), 'An operand or an option is missing or unknown.'],
        [
          code('configuration'),
          'The configuration cannot be used. `mistakes` lists each mistake, with its `path`.',
        ],
        [code('store-unavailable'), 'The store does not answer.'],
        [code('failed'), 'The command failed for another reason, which `message` gives.'],
      ],
    ),
    '',
    'These are the codes of operations:',
    '',
    ...table(
      ['`code`', 'In words'],
      Object.entries(OPERATIONS).map(([name, text]) => [code(name), text]),
    ),
    '',
    'These are the codes of files that `apply` and `directory import` read:',
    '',
    ...table(
      ['`code`', 'In words'],
      Object.entries(FILES).map(([name, text]) => [code(name), text]),
    ),
    '',
  ].join('\n');
}
