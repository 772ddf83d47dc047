import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { explain } from '#shared/explain/explain.ts';
import { labelOf, REFUSALS } from '#shared/refusals/table.ts';
import { MODES, type Refusing, startRefusing } from './refusing.fixture.ts';

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
  for (const [path, fields] of REQUESTS) {
    const reply = await at.send(path, fields);
    const { reason, refusal, verdict, scheme, space, status } = at.lineOf(reply);
    const { 'www-authenticate': challenge = '' } = reply.headers;
    const challenged = challenge.replaceAll(/(?:nonce|opaque)="[^"]*"/g, '');
    const label = typeof refusal === 'string' ? labelOf(refusal) : undefined;
    const rest = { refusal, label, verdict, scheme, space, status, challenged, body: reply.text };
    all.push({ reason, rest });
  }
  return all;
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

test('replacing the English of each reason changes nothing else', async () => {
  await using at = await startRefusing(PRODUCTION);
  const [before, steps] = [await told(at), explained()];
  expect(steps.some(([, , result]) => result === 'wrong')).toBe(true);
  const texts = Object.values(REFUSALS).map((row) => [row, row.text] as const);
  try {
    for (const [row] of texts) Reflect.set(row, 'text', 'other words');
    const after = await told(at);
    expect(after.map(({ rest }) => rest)).toEqual(before.map(({ rest }) => rest));
    const changed = after.filter(({ reason }) => /(?:^|: )other words$/.test(String(reason)));
    expect(changed.length).toBeGreaterThan(REQUESTS.length / 2);
    expect(explained()).toEqual(steps);
  } finally {
    for (const [row, text] of texts) Reflect.set(row, 'text', text);
  }
});
