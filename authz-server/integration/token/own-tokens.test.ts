import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { entryOf } from '#shared/audit/entry.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { asApp, testAuthz, type TestAuthz } from '../authz.fixture.ts';

let authz: TestAuthz;
beforeEach(async () => {
  authz = await testAuthz();
});
afterEach(async () => authz[Symbol.asyncDispose]());

const ask = () => authz.post('/token', { grant_type: 'client_credentials' }, asApp);
const issued = async () =>
  (await authz.stores.audit.open()).texts
    .map(entryOf)
    .filter(({ kind }) => kind === 'client-token.issued');

test('tokens of a client in its own name are in the audit log, and a refused request is not', async () => {
  const refused = { grant_type: 'client_credentials', scope: 'unknown' };
  expect((await authz.post('/token', refused, asApp)).status).toBe(400);
  expect(await issued()).toEqual([]);
  expect((await ask()).status).toBe(200);
  expect(await issued()).toEqual([
    expect.objectContaining({
      who: { client: 'app' },
      how: 'token endpoint',
      client: 'app',
      type: 'client_credentials',
    }),
  ]);
});

test('no token is issued while its event cannot be written', async () => {
  const down = () => Promise.reject(new StoreUnavailable('full'));
  const failing = jest.spyOn(authz.stores.audit, 'append').mockImplementation(down);
  const { status, body } = await ask();
  expect(status).toBe(503);
  expect(body).not.toHaveProperty('access_token');
  failing.mockRestore();
  expect((await ask()).status).toBe(200);
});
