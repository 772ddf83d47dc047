import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '#shared/base/clock.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { BUSY_TIMEOUT } from '#shared/stores/sqlite/file/connection.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { storedId } from '../../engine/storage/stored-id.ts';
import type { Answered } from '../authz.fixture.ts';
import { CALLBACK, redemption, sent, testFlow, VERIFIER } from '../code-flow.fixture.ts';
import type { TestFlow } from '../code-flow.fixture.ts';
import type { TestBrowser } from '../browser.fixture.ts';

let flow: TestFlow;
/** Milliseconds for which the process was suspended. */
let stood = 0;
const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + stood };
let browser: TestBrowser;
let consume: TestFlow['stores']['artefacts']['consume'];
beforeAll(async () => {
  flow = await testFlow({ tokens: { refreshGrace: 0 } }, clock);
  browser = await flow.signedIn();
  ({ consume } = flow.stores.artefacts);
});
afterEach(() => {
  Object.assign(flow.stores.artefacts, { consume });
});
afterAll(async () => {
  await flow[Symbol.asyncDispose]();
});

/** Makes the store call `record` at the next use, instead of or beside recording the use, and then fail. */
function failOnce(record: typeof consume): void {
  Object.assign(flow.stores.artefacts, {
    consume: async (...use: Parameters<typeof consume>) => {
      Object.assign(flow.stores.artefacts, { consume });
      await record(...use);
      throw new StoreUnavailable('the answer of the store was lost');
    },
  });
}
const WRITTEN: typeof consume = (...use) => consume(...use);
const NOT_WRITTEN: typeof consume = () => Promise.resolve('first');

const tokenOf = ({ body }: Answered) => String(body['refresh_token']);
const refused = ({ status, body }: Answered) => [status, body['error']];
const newCode = async () => (await flow.allow(browser)).get('code') ?? '';

interface Usable {
  readonly id: string;
  /** The form of the request that uses the code or token. */
  readonly form: Record<string, string> & { readonly client_id: string };
  use(): Promise<Answered>;
}

const usable = (id: string, form: Usable['form']): Usable => ({
  id,
  form,
  use: () => flow.post('/token', form),
});

/** The codes and tokens that may be used once at the token endpoint. */
const USABLE = {
  async AuthorizationCode(): Promise<Usable> {
    const id = await newCode();
    return usable(id, redemption(id));
  },
  async RefreshToken(): Promise<Usable> {
    const id = tokenOf(await flow.redeem(await newCode()));
    const form = { grant_type: 'refresh_token', client_id: 'web', refresh_token: id };
    return usable(id, form);
  },
  async DeviceCode(): Promise<Usable> {
    const { body } = await flow.post('/device/auth', { client_id: 'tv', scope: 'documents:read' });
    const page = await browser.open(`/device?user_code=${String(body['user_code'])}`);
    await browser.submit(page, { decision: 'allow' }, '/device');
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    const id = String(body['device_code']);
    return usable(id, { grant_type, client_id: 'tv', device_code: id });
  },
};

/** Sends the form and at once disconnects or half-closes. Resolves to the text that came nevertheless. */
async function giveUp(form: Usable['form'], how: 'destroy' | 'end'): Promise<string> {
  const { hostname, port, host } = new URL(flow.url);
  const content = new URLSearchParams(form).toString();
  const type = 'Content-Type: application/x-www-form-urlencoded';
  const length = `Content-Length: ${content.length}`;
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`POST /token HTTP/1.1\r\nHost: ${host}\r\n${type}\r\n${length}\r\n\r\n${content}`);
  socket[how]();
  return how === 'end' ? text(socket) : '';
}

const KINDS = Object.keys(USABLE) as (keyof typeof USABLE)[];

/** Uses the code or token while the store does `record`, and gets the answer to repeat. */
async function failing({ use }: Usable, record: typeof consume): Promise<void> {
  failOnce(record);
  const failed = await use();
  expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '1']);
  expect(JSON.stringify(failed.body)).not.toContain('token');
}

async function getsTokens({ use, form }: Usable): Promise<void> {
  const repeated = await use();
  expect(repeated.status).toBe(200);
  const next = await flow.refresh(tokenOf(repeated), { client_id: form.client_id });
  expect(next.status).toBe(200);
}

test('RFC 9110 section 10.2.3: a client that repeats after a 503 gets tokens, if the use was written and only its answer was lost', async () => {
  const lost: Usable[] = [];
  for (const kind of KINDS) {
    const one = await USABLE[kind]();
    await failing(one, WRITTEN);
    lost.push(one);
  }
  await Promise.all(lost.map(getsTokens)); // each attempt waits until the earlier one must have ended
});

describe.each(KINDS)('RFC 9110 section 10.2.3: a client that repeats after a 503: %s', (kind) => {
  test('gets tokens, when the use was not written', async () => {
    const one = await USABLE[kind]();
    await failing(one, NOT_WRITTEN);
    await getsTokens(one);
  });

  test('a client that repeats the request after it gave up gets tokens: the abandoned request used nothing', async () => {
    const one = await USABLE[kind]();
    expect(await giveUp(one.form, 'destroy')).toBe('');
    await getsTokens(one);
  });

  test('a client that half-closed its connection gets no answer, and nothing is used', async () => {
    const one = await USABLE[kind]();
    expect(await giveUp(one.form, 'end')).toBe('');
    await getsTokens(one);
  });

  test('after the answer was sent, the use of the token is final', async () => {
    const { id, use } = await USABLE[kind]();
    expect((await use()).status).toBe(200);
    await eventually(async () => {
      const used = await flow.stores.artefacts.get(kind, storedId(kind, id));
      expect(used).toHaveProperty('consumed');
      expect(used).not.toHaveProperty('attempt');
    });
    expect(refused(await use())).toEqual([400, 'invalid_grant']);
  });
});

test('if ten requests repeat a lost attempt, at most one succeeds', async () => {
  const { use } = await USABLE.RefreshToken();
  failOnce(WRITTEN);
  expect((await use()).status).toBe(503);
  const answers = await Promise.all(Array.from({ length: 10 }, use));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(refused(answer)).toEqual([400, 'invalid_grant']);
  }
});

test('a request gives no tokens if the process was suspended and another request may have repeated the attempt', async () => {
  const one = await USABLE.RefreshToken();
  Object.assign(flow.stores.artefacts, {
    async consume(...use: Parameters<typeof consume>) {
      const found = await consume(...use);
      stood += 3000;
      return found;
    },
  });
  const late = await one.use();
  expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1']);
});

test('a second request is refused while the first still waits for PostgreSQL within its deadline', async () => {
  const one = await USABLE.RefreshToken();
  const { store } = flow.config;
  Object.assign(flow.config, { store: { kind: 'postgres', deadline: 10 } });
  const written = Promise.withResolvers<void>();
  Object.assign(flow.stores.artefacts, {
    async consume(...use: Parameters<typeof consume>) {
      Object.assign(flow.stores.artefacts, { consume });
      const found = await consume(...use);
      written.resolve();
      await sleep(3000);
      return found;
    },
  });
  const first = one.use();
  await written.promise;
  const second = await one.use();
  Object.assign(flow.config, { store });
  expect((await first).status).toBe(200);
  expect(refused(second)).toEqual([400, 'invalid_grant']);
});

test('RFC 9700 section 4.14.2: an unsettled attempt whose successor was used ends the grant like a settled use', async () => {
  const { id, use } = await USABLE.RefreshToken();
  const { settle } = flow.stores.artefacts;
  Object.assign(flow.stores.artefacts, { settle: () => Promise.reject(new StoreUnavailable('x')) });
  const next = await flow.refresh(tokenOf(await use()));
  expect(next.status).toBe(200);
  const attempt = async () =>
    (await flow.stores.artefacts.get('RefreshToken', storedId('RefreshToken', id)))?.['attempt'];
  expect(await attempt()).toEqual(expect.any(String));
  for (const token of [id, tokenOf(next)]) {
    expect(refused(await flow.refresh(token))).toEqual([400, 'invalid_grant']);
  }
  Object.assign(flow.stores.artefacts, { settle });
});

test('a use that could not be settled is settled as soon as the store works again', async () => {
  const { id, use } = await USABLE.RefreshToken();
  const { settle } = flow.stores.artefacts;
  const failed = Promise.withResolvers<void>();
  const fails = () => {
    failed.resolve();
    return Promise.reject(new StoreUnavailable('x'));
  };
  Object.assign(flow.stores.artefacts, { settle: fails });
  expect((await use()).status).toBe(200);
  await failed.promise;
  Object.assign(flow.stores.artefacts, { settle });
  const stored = () => flow.stores.artefacts.get('RefreshToken', storedId('RefreshToken', id));
  await eventually(async () => expect(await stored()).not.toHaveProperty('attempt'));
  expect(await stored()).toHaveProperty('consumed');
});

test('after the answer was sent, the use is final, even while another process locks the store', async () => {
  const { use } = await USABLE.RefreshToken();
  const { settle } = flow.stores.artefacts;
  using other = new DatabaseSync(join(flow.config.data, 'state.db'));
  Object.assign(flow.stores.artefacts, {
    settle() {
      if (!other.isTransaction) other.exec('BEGIN IMMEDIATE');
      return Promise.reject(new StoreUnavailable('database is locked'));
    },
  });
  const first = await use();
  const second = use();
  await sleep(BUSY_TIMEOUT + 1000);
  Object.assign(flow.stores.artefacts, { settle });
  other.exec('COMMIT');
  expect(first.status).toBe(200);
  expect(refused(await second)).toEqual([400, 'invalid_grant']);
});

describe('RFC 9126 section 4: a pushed request', () => {
  const push = async () => {
    const { body } = await flow.post('/request', {
      client_id: 'web',
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid documents:read',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    });
    const query = new URLSearchParams({
      client_id: 'web',
      request_uri: String(body['request_uri']),
    });
    return () => browser.request('GET', `/auth?${query.toString()}`);
  };

  test.each([
    ['was written, and only its answer was lost', WRITTEN],
    ['was not written', NOT_WRITTEN],
  ])('can be used again after an error, if its first use %s', async (_what, record) => {
    await newCode();
    const take = await push();
    failOnce(record);
    const failed = await take();
    expect(failed.headers.get('location') ?? '').not.toContain('code=');
    const code = sent(await take()).get('code') ?? '';
    expect((await flow.redeem(code)).status).toBe(200);
    expect(sent(await take()).get('code')).toBeNull();
  });
});
