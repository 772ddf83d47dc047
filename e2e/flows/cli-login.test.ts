import { randomUUID } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { loadProver } from '#shared/cli/oauth/dpop.ts';
import { sendUnhurried } from '#shared/cli/oauth/http.ts';
import { type Login, loginSchema } from '#shared/cli/oauth/login.ts';
import { sendWithToken } from '#shared/cli/oauth/protected-request.ts';
import { systemRandom } from '#shared/base/random.ts';
import { CLI } from '#shared/base/invocation.ts';
import type { Person } from '../pair/pair.ts';
import { until } from '../parts/process.ts';
import { CliUser, runProcess } from './cli-user.ts';
import { startFlowOn } from './flow.ts';
import type { Flow } from './flow.ts';

describe('the command line as a client (RFC 8628)', () => {
  let flow: Flow;
  /** Each test has a new person, because one person may enter only a few codes. */
  let person: Person;
  /** Logged in before the other tests, so that the token expires during these tests. */
  let early: CliUser;
  const parts = new AsyncDisposableStack();
  const arrive = async () => {
    person = await flow.pair.addPerson(`person-${randomUUID()}`);
  };
  beforeAll(async () => {
    const settings = { tokens: { lifetime: 12, skew: 0 }, device: { interval: 1 } };
    flow = parts.use(await startFlowOn('sqlite', { settings }));
    await arrive();
    early = parts.use(await newUser());
    await early.approve(['login']);
  });
  beforeEach(arrive);
  afterAll(async () => parts.disposeAsync());

  /** Requests the documents with a login's token and key, without the command line. */
  async function statusWith({ access_token: accessToken, private_jwk }: Login) {
    const url = flow.pair.documents;
    const prover = await loadProver(private_jwk, systemClock, systemRandom);
    const access = { accessToken, prover, resource: url };
    return async () => (await sendWithToken(sendUnhurried, { method: 'GET', url }, access)).status;
  }

  const newUser = async () => CliUser.start(flow, person);
  const loginOf = async (user: CliUser) => loginSchema.parse(await user.kept('login.json'));

  test('as processes: a login without options is enough for the documents of the tour', async () => {
    await using user = await CliUser.start(flow, person, runProcess);
    const { pair } = flow;
    const { code, said } = await user.approve(['login']);
    expect([code, said]).toEqual([0, expect.stringContaining(`Logged in at ${pair.issuer}`)]);
    expect(said).toContain('a phone cannot reach 127.0.0.1');

    const who = JSON.parse((await user.run('whoami', '--json')).said) as unknown;
    expect(who).toMatchObject({
      issuer: pair.issuer,
      sub: person.id,
      name: person.name,
      client_id: 'demo-device',
      resource: pair.documents,
    });
    const url = `${pair.documents}cli.txt`;
    const put = ['request', 'PUT', url, '--header', 'content-type: text/plain', '--data'];
    expect(await user.run(...put, 'by a person')).toMatchObject({ code: 0 });
    const got = await user.run('request', 'GET', url);
    expect(got).toMatchObject({ code: 0, said: expect.stringContaining('by a person') });
  });

  test('RFC 7009 section 2.1: logout revokes the token at once', async () => {
    await using user = await newUser();
    await user.approve(['login']);
    const status = await statusWith(await loginOf(user));
    expect(await status()).toBe(200);
    expect(await user.run('logout')).toMatchObject({ code: 0 });
    expect(await status()).toBe(401);
    expect(await user.run('whoami')).toMatchObject({
      code: 1,
      said: expect.stringContaining(`run ${CLI} login`),
    });
  });

  test('a second login ends the first login only', async () => {
    await using user = await newUser();
    await using neighbour = await newUser();
    await neighbour.approve(['login']);
    await user.approve(['login']);
    const status = await statusWith(await loginOf(user));
    expect(await user.approve(['login'])).toMatchObject({ code: 0 });
    expect(await status()).toBe(401);
    expect(await user.run('whoami')).toMatchObject({ code: 0 });
    expect(await neighbour.run('whoami')).toMatchObject({ code: 0 });
  });

  test('after the operator revokes a login, the next command says so', async () => {
    await using user = await newUser();
    await user.approve(['login']);
    await flow.pair.cli('user', 'end', person.name);
    expect(await user.run('whoami')).toMatchObject({
      code: 1,
      said: expect.stringContaining(`has ended: run ${CLI} login`),
    });
    expect(await user.run('logout')).toMatchObject({ code: 0 });
  });

  test('section 3.5: a denial on the page ends the login', async () => {
    await using user = await newUser();
    const { code, said } = await user.approve(['login'], 'deny');
    expect([code, said]).toEqual([1, expect.stringContaining('The request was denied.')]);
    await expect(readFile(user.file('login.json'))).rejects.toThrow('ENOENT');
  });

  test('a file that other users may read is not used', async () => {
    await using user = await newUser();
    await user.approve(['login']);
    await chmod(user.file('login.json'), 0o644);
    expect(await user.run('request', 'GET', flow.pair.documents)).toMatchObject({
      code: 1,
      said: expect.stringContaining(`chmod 600 ${user.file('login.json')}`),
    });
  });

  test('RFC 6749 section 6: a command replaces an expired token', async () => {
    const before = await loginOf(early);
    const status = await statusWith(before);
    await until(async () => (await status()) === 401);
    expect(await early.run('request', 'GET', flow.pair.documents)).toMatchObject({ code: 0 });
    const after = await loginOf(early);
    expect(after.access_token).not.toBe(before.access_token);
    expect(after.private_jwk).toEqual(before.private_jwk);
  });
});
