import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import type { FormerSecret } from '#shared/stores/oauth/clients.ts';
import { APP, basic, SECRET, testAuthz, type TestAuthz } from '../authz.fixture.ts';

const OLD = 'the secret of before';
const GRANT = { grant_type: 'client_credentials' };
const hashed = (secret: string) => createHash('sha256').update(secret).digest('base64url');
const HOUR = 3_600_000;

describe.each([
  ['beside the pipeline of the engine', true],
  ['through it', false],
])('a secret that was replaced, with requests %s', (_, direct) => {
  const clock = new ManualClock();
  let authz: TestAuthz;
  beforeAll(async () => {
    authz = await testAuthz({ tokens: { direct } }, clock);
  });
  afterAll(async () => {
    await authz[Symbol.asyncDispose]();
  });

  const replaced = (former: Partial<FormerSecret> = {}) => {
    const now = clock.now();
    const former_secret = { hash: hashed(OLD), from: now, until: now + HOUR, ...former };
    return authz.stores.clients.replace({ ...APP, former_secret });
  };
  beforeEach(() => replaced());

  const ask = async (secret: string) =>
    (await authz.post('/token', GRANT, basic('app', secret))).status;

  test('both secrets are valid, in the field and in the form, and no other secret is', async () => {
    for (const secret of [SECRET, OLD]) {
      expect(await ask(secret)).toBe(200);
      const form = { ...GRANT, client_id: 'app', client_secret: secret };
      await authz.stores.clients.replace({
        ...((await authz.stores.clients.get('app')) ?? APP),
        token_endpoint_auth_method: 'client_secret_post',
      });
      expect((await authz.post('/token', form)).status).toBe(200);
      await replaced();
    }
    for (const wrong of [' ', `${OLD} `, OLD.slice(1), hashed(OLD), '-'.repeat(43)]) {
      expect(await ask(wrong)).toBe(401);
    }
  });

  test('the former secret is valid until its end, and the new one afterwards, too', async () => {
    clock.advance(3599);
    expect(await ask(OLD)).toBe(200);
    clock.advance(1);
    expect([await ask(OLD), await ask(SECRET)]).toEqual([401, 200]);
  });

  test('a former secret is invalid if the clock was set back to before its replacement', async () => {
    const now = clock.now();
    await replaced({ from: now + HOUR, until: now + 2 * HOUR });
    expect([await ask(OLD), await ask(SECRET)]).toEqual([401, 200]);
  });

  test('a former secret is valid if the clock is behind by the permitted difference', async () => {
    const skew = authz.config.tokens.skew * 1000;
    await replaced({ from: clock.now() + skew });
    expect(await ask(OLD)).toBe(200);
    await replaced({ from: clock.now() + skew + 1 });
    expect(await ask(OLD)).toBe(401);
  });

  test('after another replacement the older secret ends with the first request', async () => {
    expect(await ask(OLD)).toBe(200);
    await replaced({ hash: hashed('another') });
    expect([await ask(OLD), await ask('another')]).toEqual([401, 200]);
    await authz.stores.clients.replace(APP);
    expect([await ask(OLD), await ask('another'), await ask(SECRET)]).toEqual([401, 401, 200]);
  });

  test('the former secret of another client is refused', async () => {
    const other = { ...APP, client_id: 'other', secret_hash: hashed('of the other') };
    await authz.stores.clients.add(other);
    expect((await authz.post('/token', GRANT, basic('other', OLD))).status).toBe(401);
    await authz.stores.clients.remove('other');
  });

  test('a client without a secret of its own has no former secret', async () => {
    const { secret_hash: __, ...rest } = APP;
    const now = clock.now();
    await authz.stores.clients.replace({
      ...rest,
      token_endpoint_auth_method: 'none',
      former_secret: { hash: hashed(OLD), from: now, until: now + HOUR },
    });
    expect(await ask(OLD)).toBe(401);
  });

  test('introspection and revocation accept the former secret, too', async () => {
    const { body } = await authz.post('/token', GRANT, basic('app', OLD));
    const form = { token: String(body['access_token']) };
    const paths = ['/token/introspection', '/token/revocation'];
    const statuses = () =>
      Promise.all(
        paths.map(async (path) => (await authz.post(path, form, basic('app', OLD))).status),
      );
    expect(await statuses()).toEqual([200, 200]);
    clock.advance(3600);
    expect(await statuses()).toEqual([401, 401]);
  });
});
