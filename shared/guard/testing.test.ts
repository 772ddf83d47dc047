import { expect, test } from '@jest/globals';
import { testIssuer } from './testing.ts';

const RESOURCE = 'https://api.example/';
const URL = `${RESOURCE}notes`;

function issuerAndStatus(dpop = {}) {
  const auth = testIssuer({ resource: RESOURCE });
  const guard = auth.protect({ scopes: ['notes:read'], dpop });
  const ask = (headers: Record<string, string>) => guard.judge(new Request(URL, { headers }));
  const statusOf = async (token: string) => {
    const verdict = await ask({ authorization: `Bearer ${token}` });
    return verdict.ok ? 200 : verdict.response.status;
  };
  return { auth, ask, statusOf };
}

test('end refuses all earlier tokens of a person or an application, and later tokens are accepted', async () => {
  const { auth, statusOf } = issuerAndStatus();
  const scopes = ['notes:read'];
  const [person, machine] = [auth.token({ person: 'p', scopes }), auth.token({ scopes })];
  auth.end({ person: 'p' });
  expect([await statusOf(person), await statusOf(machine)]).toEqual([401, 200]);
  expect(await statusOf(auth.token({ person: 'p', scopes }))).toBe(200);
  auth.end({ client: 'app' });
  expect(await statusOf(machine)).toBe(401);
  expect(await statusOf(auth.token({ scopes }))).toBe(200);
});

test('tokens of another test issuer are refused', async () => {
  const [one, other] = [issuerAndStatus(), issuerAndStatus()];
  expect(await one.statusOf(other.auth.token({ scopes: ['notes:read'] }))).toBe(401);
});

test('a proof with the nonce of the last answer is accepted (RFC 9449 section 9)', async () => {
  const { auth, ask } = issuerAndStatus({ nonce: true });
  const key = auth.key();
  const token = key.token({ scopes: ['notes:read'] });
  const first = await ask(key.headers(token, { method: 'GET', url: URL }));
  if (first.ok) throw new Error('let in without a nonce');
  const nonce = first.response.headers.get('dpop-nonce') ?? '';
  expect(await ask(key.headers(token, { method: 'GET', url: URL, nonce }))).toMatchObject({
    ok: true,
  });
});

test('wrong options throw, as with protect', () => {
  const auth = testIssuer({ resource: RESOURCE });
  expect(() => auth.protect({ scopes: ['two words'] })).toThrow('no scope');
});
