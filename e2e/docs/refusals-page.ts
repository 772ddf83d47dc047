import { REFUSALS } from '#shared/refusals/table.ts';
import { code, GENERATED, table } from './markdown.ts';

/** The page of the codes by which credentials are refused. */
export function refusalsPage(): string {
  return [
    GENERATED,
    '# Refusals',
    '',
    'This page lists the codes that say why a server refused credentials. It is for operators who search the log or count refusals.',
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
  ].join('\n');
}
