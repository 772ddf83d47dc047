import { configJsonSchema } from '#shared/config/json-schema.ts';
import { type Limit, LIMITS, SHARES } from './limits-data.ts';
import { code, GENERATED, table } from './markdown.ts';
import { isRate, type Schema } from './setting-type.ts';

/** The page of all limits. */
export function limitsPage(schema: Schema = configJsonSchema()): string {
  function section([title, limits]: readonly [string, readonly Limit[]]): readonly string[] {
    const rows = limits.map(([what, bound, beyond, counted, tests]) => [
      what,
      bound.replaceAll(/\{([\w.]+)\}/g, (_, name: string) => withDefault(name, schema)),
      beyond,
      counted,
      tests.split(', ').map(code).join(', '),
    ]);
    return [
      `## ${title}`,
      '',
      ...table(['What', 'Limit', 'Beyond it', 'Counted', 'Test'], rows),
      '',
    ];
  }
  return [
    GENERATED,
    '# Limits',
    '',
    'This page lists how much one connection, one address, one account and one client can hold or ask, and the answer beyond that. It is for operators, and for authors of clients that are answered 413, 429, 431, 503 or 507. [Settings](settings.md) has the ranges of the settings.',
    '',
    'A wait is in `Retry-After`. The column "Counted" says how a limit is counted if there are several processes:',
    '',
    ...table(
      ['Counted', 'Meaning'],
      [
        ['in the store', 'all processes of all machines together'],
        ['in blocks', '[in the store, in portions](#blocks)'],
        [
          'for all',
          'by the parent of the workers of one machine, which takes back what a worker held that died',
        ],
        [
          'portion',
          'each worker of a machine has its part, rounded down. Each takes connections from the same listener when it has time, so one worker may reach its part before the other workers. Connections that no worker has taken wait in the kernel',
        ],
        ['each worker', 'nothing is shared'],
      ],
    ),
    '',
    ...Object.entries(LIMITS).flatMap(section),
    '## Shares',
    '',
    'Some limits are shared: each client may hold the same part of what the other clients leave. So a client that takes as much as possible leaves most of it to the next (dynamic thresholds, `fairShare` in `shared/base/counts.js`). An account uses its own part and that of its address. So an address with many accounts has little more than one account, and an account at many addresses has no more. An address is an IPv4 address or an IPv6 network of 48 bits (RFC 6177 section 2). Anonymous visitors are limited by their address.',
    '',
    'The columns 1 to 10 say how much is left when one, two, three or ten clients hold as much as they can.',
    '',
    ...table(['What', 'Part of each', '1', '2', '3', '10', 'Test'], SHARES),
    '',
    '## Blocks',
    '',
    'For some limits a process takes a block: a sixteenth of the rest, if that is more than one. It spends the block without asking the store again.',
    '',
    '- The limit holds for all processes together.',
    '- A client may be refused a little too early while another process holds a block. A block runs out as the bucket fills. The block of a process that dies is lost.',
    '- `RateLimit` is exact if one process has all requests of a key. With several processes, each knows only the state of the store when it took its block, so it may name too much. The store itself says when a refused client may come again.',
    '- While the store is stopped, a process spends its block to the end. Then the answer is 503, at once for all waiting requests. Meanwhile the store may give it one block that is lost, but no second block before it answers. Revocation is checked at each request in any case.',
    '- Limits on guessing, sign-in, devices and PrivateToken are never held in blocks.',
    '- If the server cannot read a limit, for example while Redis accepts no writes, it still revokes tokens and ends grants (`/token/revocation`, DELETE of GNAP). Otherwise a stolen token would stay valid.',
    '',
  ].join('\n');
}

/** A setting with its default, such as "`limits.visits`: 500 at once, then 2 a second". */
function withDefault(name: string, schema: Schema): string {
  const setting = settingAt(name.split('.'), schema);
  if (setting === undefined) throw new Error(`There is no setting ${name}.`);
  const { default: value } = setting;
  if (isRate(setting)) {
    const { burst, per } = value as { readonly burst: number; readonly per: number };
    return `${code(name)}: ${count(burst)} at once, then ${rateOf(per)}`;
  }
  return typeof value === 'number' ? `${code(name)} (${count(value)})` : code(name);
}

function settingAt([name = '', ...rest]: readonly string[], schema: Schema): Schema | undefined {
  const { properties, anyOf = [], oneOf = [] } = schema;
  const found =
    properties?.[name] ??
    [...anyOf, ...oneOf].map((one) => one.properties?.[name]).find((one) => one !== undefined);
  return found === undefined || rest.length === 0 ? found : settingAt(rest, found);
}

const count = (value: number) => value.toLocaleString('en');

const rateOf = (per: number) => (per < 1 ? `${count(1 / per)} a second` : everySeconds(per));
const everySeconds = (per: number) =>
  per === 1 ? 'one a second' : `one every ${count(per)} seconds`;
