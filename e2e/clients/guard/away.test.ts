/** @countersign/resource while the authorization server is down. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { protect } from '#shared/guard/protect.ts';
import type { Guard } from '#shared/guard/guard.ts';
import { type Pair, startPair } from '../../pair/pair.ts';
import { until } from '../../parts/process.ts';

const RESOURCE = 'https://api.example/';

const parts = new AsyncDisposableStack();
let pair: Pair;
let client: { id: string; secret: string };
let machine: { id: string; secret: string };

beforeAll(async () => {
  const space = { url: RESOURCE, realm: 'notes', schemes: ['Bearer'], serves: 'verify' };
  const scopes = { safe: ['notes:read'], unsafe: [] };
  pair = parts.use(
    await startPair({ settings: { spaces: [{ ...space, scopes }], revocations: {} } }),
  );
  client = await pair.addClient('revocations:follow');
  machine = await pair.addClient('notes:read');
});
afterAll(() => parts.disposeAsync());

/** Makes a guard that is closed at the end. `lines`: the events of its log. */
function guardOf(more: Partial<Parameters<typeof protect>[0]> = {}) {
  const lines: string[] = [];
  const note = (event: string) => void lines.push(event);
  const log = { info: note, warn: note, error: note };
  const options = { issuer: pair.issuer, resource: RESOURCE, scopes: ['notes:read'], log };
  const guard = protect({ ...options, ...more });
  parts.defer(() => guard.close());
  return { guard, lines };
}

async function statusOf(guard: Guard, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const verdict = await guard.judge(new Request('http://127.0.0.1/notes', { headers }));
  return verdict.ok ? 200 : verdict.response.status;
}

const eventually = (guard: Guard, token: string, status: number) =>
  until(async () => (await statusOf(guard, token)) === status);

/** Expects that the next request is not admitted. On a busy machine it may get 503 before 401. */
async function refused(guard: Guard, token: string): Promise<void> {
  expect(await statusOf(guard, token)).not.toBe(200);
  await eventually(guard, token, 401);
}

test('a following guard answers 503 after its lease, and continues when the issuer is back', async () => {
  const token = await pair.token(machine);
  const { guard, lines } = guardOf({ client });
  const patient = guardOf({ client, revocation: { stale: 'allow', for: 3600 } });
  const careless = guardOf().guard;
  const all = [guard, patient.guard, careless];
  for (const each of all) await eventually(each, token, 200);

  await pair.authz[0]?.kill();
  await eventually(guard, token, 503);
  expect(lines).toContain('revocations.interrupted');
  const statuses = new Set<number>();
  await until(async () => {
    statuses.add(await statusOf(patient.guard, token));
    return patient.lines.includes('revocations.stale');
  });
  expect([...statuses]).toEqual([200]);
  expect(await statusOf(careless, token)).toBe(200);

  // A guard that starts meanwhile knows neither keys nor revocations.
  const late = guardOf({ client });
  expect(await statusOf(late.guard, token)).toBe(503);
  await pair.authz[0]?.start();
  for (const each of [guard, late.guard]) await eventually(each, token, 200);
  await until(() => patient.lines.includes('revocations.followed'));
  await pair.post('/token/revocation', { token }, machine);
  for (const each of [guard, late.guard, patient.guard]) await refused(each, token);
  // A guard without a client does not learn of the revocation.
  expect(await statusOf(careless, token)).toBe(200);
});

test('a following guard refuses every token of a compromised key', async () => {
  const token = await pair.token(machine);
  const { guard } = guardOf({ client });
  await eventually(guard, token, 200);
  await pair.cli('signing-keys', 'rotate', '--compromised');
  await refused(guard, token);
  await until(async () => (await statusOf(guard, await pair.token(machine))) === 200);
});

test('a revocation of an application ends all its tokens at once, and a closed guard admits no request', async () => {
  const other = await pair.addClient('notes:read');
  const token = await pair.token(other);
  const { guard } = guardOf({ client });
  await eventually(guard, token, 200);
  await pair.cli('client', 'remove', other.id);
  await refused(guard, token);
  await guard.close();
  expect(await statusOf(guard, await pair.token(machine))).toBe(503);
});

test("a client that may not follow gets the reason in the guard's log", async () => {
  const { guard, lines } = guardOf({ client: { id: machine.id, secret: 'wrong' } });
  expect(await statusOf(guard, await pair.token(machine))).toBe(503);
  await until(() => lines.includes('revocations.interrupted'));
});
