import { REFUSALS } from '#shared/refusals/table.ts';
import { OPERATIONS } from '#shared/refusals/operations.ts';
import { code, GENERATED, table } from './markdown.ts';

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
    'A line of the [log](log-fields.md) with `verdict` `refused` has the code as `refusal`, and the same in words as `reason`. Where a hidden space did not open, and where the push service refuses, the line has both without `verdict`. Search for the code: the words may change. The [metric](metrics.md) `countersign_refusals_total` counts by the label.',
    '',
    '```json',
    '{"event":"request","space":"documents","scheme":"Bearer","verdict":"refused","refusal":"token-expired","reason":"access token: expired at 2026-11-23T10:00:00Z","status":401}',
    '```',
    '',
    'A value replaces `{name}`. A reason may begin with the part that is wrong, such as `access token: `.',
    '',
    ...table(
      ['`refusal`', 'Label `reason`', 'In words'],
      Object.entries(REFUSALS).map(([name, { text, label }]) => [code(name), code(label), text]),
    ),
    '',
    '## Operations',
    '',
    'An answer 409 or 422 of `/admin/api` has the `code` of the refusal, and so has a 404 that misses a name or an id. `values` has the values of the text by their names. A command with `--json` writes the same to standard error, with the text as `message`:',
    '',
    '```json',
    '{"code":"no-client","values":{"client":"web"},"message":"there is no client web"}',
    '```',
    '',
    'If the text is about one of several values, such as an address, `about` has that value.',
    '',
    'Errors of a command that are not refusals of an operation have one of these codes:',
    '',
    ...table(
      ['`code`', 'When'],
      [
        [code('usage'), 'An operand or an option is missing or unknown.'],
        [
          code('configuration'),
          'The configuration cannot be used: `mistakes` has each, with its `path`.',
        ],
        [code('store-unavailable'), 'The store does not answer.'],
        [code('failed'), 'The command cannot do it for another reason: `message` says which.'],
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
  ].join('\n');
}
