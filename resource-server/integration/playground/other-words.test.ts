import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import type { LogFields } from '#shared/base/log-fields.ts';
import { explain } from '#shared/explain/explain.ts';
import { OPERATIONS } from '#shared/refusals/operations.ts';
import { labelOf, REFUSALS } from '#shared/refusals/table.ts';
import { closedSet } from '#shared/server/metrics/labels.ts';
import { createMetrics } from '#shared/server/metrics/metrics.ts';
import { measuredLog } from '#shared/server/metrics/of-log.ts';
import { textOf } from '#shared/server/metrics/text-format.js';
import { ALONE, checksOf, LOCAL, startPlayground, statusesOf } from './playground.fixture.ts';
import { MODES, type Refusing, startRefusing } from '../refusing.fixture.ts';

const [, [, PRODUCTION]] = MODES;

/** Requests that are refused, each with a header section. */
const REQUESTS: readonly (readonly [path: string, fields: Readonly<Record<string, string>>])[] = [
  ['/documents/a', {}],
  ['/documents/a', { Authorization: 'Bearer nonsense' }],
  ['/documents/a', { Authorization: 'Basic YTpi' }],
  ['/documents/a', { Authorization: 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln' }],
  ['/documents/a', { Authorization: 'Bearer a, Bearer b' }],
  ['/documents/a?access_token=a.b.c', {}],
  ['/nonce/a', { Authorization: 'DPoP nonsense', DPoP: 'nonsense' }],
  ['/forbidden/a', { Authorization: 'Bearer nonsense' }],
  ['/secret/a', { Authorization: 'Concealed k=:YQ==:' }],
  ['/dav/a', { Authorization: 'Digest username="alice"' }],
  ['/basic/a', { Authorization: 'Basic YWxpY2U6eA==' }],
  ['/basic/a', { Authorization: 'Basic !' }],
  ['/api/a', { 'X-API-Key': 'nonsense' }],
  ['/other/a', {}],
];

/** Returns the reason in the log, and separately all other texts of log and answer. */
async function told(at: Refusing) {
  const all: { readonly reason: unknown; readonly rest: unknown }[] = [];
  for (const [[path, fields], Accept] of REQUESTS.flatMap((one) =>
    ['application/json', 'text/html'].map((accept) => [one, accept] as const),
  )) {
    const reply = await at.send(path, { ...fields, Accept });
    const { reason, refusal, verdict, scheme, space, status } = at.lineOf(reply);
    const { 'www-authenticate': challenge = '' } = reply.headers;
    const challenged = challenge.replaceAll(/(?:nonce|opaque)="[^"]*"/g, '');
    const label = typeof refusal === 'string' ? labelOf(refusal) : undefined;
    const body = reply.text.replace(String(reply.headers['x-request-id']), 'id');
    const rest = { refusal, label, verdict, scheme, space, status, challenged, body };
    all.push({ reason, rest });
  }
  return all;
}

/** Returns what metrics count for these log lines. */
function counted(lines: readonly string[]): string {
  const metrics = createMetrics('resource', 1);
  const log = measuredLog(silentLog, metrics, closedSet('space', []));
  for (const line of lines) {
    const { event, ...fields } = JSON.parse(line) as LogFields & { event: string };
    log.info(event, { ...fields, milliseconds: 0 });
  }
  return textOf(metrics.report());
}

/** Returns the statuses, the results of checks and the meanings of all answers of exchanges with mistakes. */
async function performed(rs: Awaited<ReturnType<typeof startPlayground>>) {
  const seen: unknown[] = [];
  for (const { name, mistakes } of ALONE) {
    for (const mistake of Object.keys(mistakes)) {
      rs.clock.advance(2); // The limit allows one exchange in two seconds.
      const { text } = await rs.perform(name, `mistake=${mistake}`, { Origin: LOCAL.resource });
      const results = checksOf(text).map((list) => list.map(({ result }) => result));
      const outcomes = [...text.matchAll(/<p class="note[^>]*>\s*<strong>([^<]*)/g)];
      seen.push([name, mistake, statusesOf(text), results, outcomes.map(([, meaning]) => meaning)]);
    }
  }
  return seen;
}

/** Runs `work` while each reason, and each text of a refused operation, has other English words. */
async function inOtherWords<T>(work: () => Promise<T>): Promise<T> {
  const rows = Object.values(REFUSALS).map((row) => [row, row.text] as const);
  const { ...texts } = OPERATIONS;
  try {
    for (const [row] of rows) Reflect.set(row, 'text', 'other words');
    for (const code of Object.keys(texts)) Reflect.set(OPERATIONS, code, 'other words');
    return await work();
  } finally {
    for (const [row, text] of rows) Reflect.set(row, 'text', text);
    Object.assign(OPERATIONS, texts);
  }
}

/** Returns the steps that `explain` finds right or wrong in the same requests. */
const explained = () =>
  REQUESTS.flatMap(([, fields]) =>
    Object.entries(fields).flatMap(([name, value]) =>
      explain(`${name}: ${value}`, new ManualClock()).flatMap(({ what, checks }) =>
        checks.map(({ check, result }) => [what, check, result]),
      ),
    ),
  );

test('other English words of each reason change no code, page, challenge, metric or step of explain', async () => {
  await using at = await startRefusing(PRODUCTION);
  const [before, steps] = [await told(at), explained()];
  const lines = at.rs.lines.length;
  expect(steps.some(([, , result]) => result === 'wrong')).toBe(true);
  const [after, others] = await inOtherWords(async () => [await told(at), explained()] as const);
  expect(after.map(({ rest }) => rest)).toEqual(before.map(({ rest }) => rest));
  const changed = after.filter(({ reason }) => /(?:^|: )other words$/.test(String(reason)));
  expect(changed.length).toBeGreaterThan(before.length / 2);
  expect(others).toEqual(steps);
  const metrics = counted(at.rs.lines.slice(0, lines));
  expect(metrics).toMatch(/countersign_refusals_total\{.*reason="malformed"\} \d/);
  expect(counted(at.rs.lines.slice(lines))).toBe(metrics);
});

test('other English words of each reason change no check and no outcome of the playground', async () => {
  await using rs = await startPlayground(LOCAL);
  const before = await performed(rs);
  expect(JSON.stringify(before)).toMatch(/wrong.*Refused:/);
  expect(await inOtherWords(() => performed(rs))).toEqual(before);
});
