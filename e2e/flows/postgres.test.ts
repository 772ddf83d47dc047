import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { calculateJwkThumbprint, decodeJwt, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { configSchema } from '#shared/config/schema.ts';
import type { PostgresSettings } from '#shared/stores/settings.ts';
import { examples, runCommands } from '../pair/examples.ts';
import { type Postgres, psql, startPostgres } from '../parts/postgres.ts';
import { until } from '../parts/process.ts';
import { getAll, startFlow } from './flow.ts';
import type { Client, Flow } from './flow.ts';
import { alsoAt, App, INVALID_GRANT, newPerson, refusal, signedIn, tokensIn } from './person.ts';

const PAGE = 'docs/how-to/postgres.md';

/** Two of each server on one PostgreSQL, set up as docs/how-to/postgres.md says. */
let postgres: Postgres;
let flow: Flow;
let client: Client;
let ofStore = '';
beforeAll(async () => {
  postgres = await startPostgres({ password: 'tiger' });
  const [made = ''] = await examples(PAGE, 'sql postgres');
  for (const line of made.trim().split('\n')) await postgres.sql(line);
  const [json = ''] = await examples(PAGE, 'json postgres');
  const { store } = JSON.parse(json.replace(':5432/', `:${postgres.port}/`)) as Named;
  [ofStore = ''] = store.urls;
  // A longer time limit for a busy machine.
  flow = await startFlow({ store: { ...store, deadline: 10 }, authz: 2, resource: 2 });
  client = await flow.pair.addClient();
});
afterAll(async () => {
  await flow?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

/** A configuration on the page. */
interface Named {
  readonly store: PostgresSettings;
}

const servers = () => [...flow.pair.authz, ...flow.pair.resources];

const put = (path: string, token: string, server: number) =>
  fetch(`${flow.pair.resources[server]?.url}/documents/${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}` },
    body: 'kept',
  });

/** The readiness statuses of all servers. */
const readiness = () =>
  Promise.all(servers().map(async ({ url }) => (await fetch(`${url}/health/ready`)).status));

test('the other examples of the page are valid configurations, and PostgreSQL accepts its setting', async () => {
  for (const info of ['json postgres-tls', 'json postgres-standbys']) {
    for (const block of await examples(PAGE, info)) configSchema.parse(JSON.parse(block));
  }
  const settings = await examples(PAGE, 'conf postgres-standbys');
  await using primary = await startPostgres({ settings });
  expect(await primary.sql('SHOW synchronous_standby_names')).toBe('ANY 1 (db1, db2)');
});

test('if a person signs in at one server, all servers know the session, the code, the token and the document', async () => {
  const app = await App.add(flow);
  const browser = await signedIn(flow, await newPerson(flow));
  const code = await app.code(alsoAt(flow, browser, 1));
  const { access } = tokensIn(await app.redeem(code, {}, {}, 1));
  expect(await getAll(flow.pair, access)).toEqual([200, 200]);
  // A code is valid once, at any server (RFC 6749 section 4.1.2), and a second use revokes the token.
  expect(refusal(await app.redeem(code))).toEqual(INVALID_GRANT);
  expect(await getAll(flow.pair, access)).toEqual([401, 401]);

  const token = await flow.pair.token(client, 1);
  expect((await put('shared', token, 0)).status).toBe(201);
  expect(await flow.pair.get(token, 1, '/documents/shared')).toBe(200);
  await flow.pair.post('/token/revocation', { token }, client);
  expect(await getAll(flow.pair, token)).toEqual([401, 401]);
});

test('RFC 9449 section 11.1: a proof that one resource server accepted is refused by the other', async () => {
  const { pair } = flow;
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = await exportJWK(publicKey);
  const proof = (htm: string, htu: string, more: Readonly<Record<string, string>> = {}) =>
    new SignJWT({ htm, htu, jti: randomUUID(), ...more })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .setIssuedAt()
      .sign(privateKey);
  const issued = await fetch(`${pair.issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${client.id}:${client.secret}`)}`,
      dpop: await proof('POST', `${pair.issuer}/token`),
    },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  expect(decodeJwt(token)['cnf']).toEqual({ jkt: await calculateJwkThumbprint(jwk) });
  const ath = createHash('sha256').update(token).digest('base64url');
  const dpop = await proof('GET', pair.documents, { ath });
  const headers = { authorization: `DPoP ${token}`, dpop, host: new URL(pair.resource).host };
  const ask = async (server: number) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const request = http.get(`${pair.resources[server]?.url}/documents/`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    request.on('error', () => resolve(0));
    return promise;
  };
  expect([await ask(0), await ask(1)]).toEqual([200, 401]);
});

test('while PostgreSQL is down, requests get 503, no revoked token is accepted, and each log has one line; then all works as before', async () => {
  const { pair } = flow;
  const [good, revoked] = [await pair.token(client), await pair.token(client)];
  await pair.post('/token/revocation', { token: revoked }, client);
  await until(async () => (await readiness()).every((status) => status === 200));

  await postgres.kill();
  await until(async () => (await getAll(pair, good)).every((status) => status === 503));
  expect(await getAll(pair, revoked)).toEqual([503, 503]);
  expect((await pair.post('/token', { grant_type: 'client_credentials' }, client)).status).toBe(
    503,
  );
  // Each server asks PostgreSQL at most once per second.
  await until(async () => (await readiness()).every((status) => status === 503));

  await postgres.start();
  await until(async () => {
    for (const status of await getAll(pair, revoked)) expect([401, 503]).toContain(status);
    return (await getAll(pair, good)).every((status) => status === 200);
  });
  expect(await getAll(pair, revoked)).toEqual([401, 401]);
  expect(await getAll(pair, await pair.token(client, 1))).toEqual([200, 200]);
  await until(async () => (await readiness()).every((status) => status === 200));
  for (const { log } of servers()) {
    const told = [...log.matchAll(/"event":"store\.(\w+)","part":"PostgreSQL"/g)];
    expect(told.map(([, event]) => event)).toEqual(['failing', 'working']);
  }
});

test("running servers accept a newer version's additions to the schema, and end with a reason after its changes", async () => {
  const tables = (version: number, oldest: number) =>
    psql(ofStore, `UPDATE countersign.schema SET version = ${version}, oldest = ${oldest}`);
  await tables(2, 1);
  expect(await readiness()).toEqual([200, 200, 200, 200]);
  await tables(2, 2);
  try {
    for (const server of servers()) {
      // Each server asks PostgreSQL at most once per second.
      await until(async () => {
        await fetch(`${server.url}/health/ready`).catch(() => {});
        return server.exitCode === 1;
      });
      expect(server.log).toMatch(/"event":"store\.moved",.*start the newer version/);
    }
    await expect(servers()[0]?.start()).rejects.toThrow('made by a newer release');
  } finally {
    await tables(1, 1);
  }
  for (const server of servers()) await server.start();
  expect(await readiness()).toEqual([200, 200, 200, 200]);
  expect(await getAll(flow.pair, await flow.pair.token(client))).toEqual([200, 200]);
});

test('commands use the same store, explain a refusal by PostgreSQL, and print no password', async () => {
  const { pair } = flow;
  const [checked] = await runCommands(pair, (await examples(PAGE, 'sh postgres')).join(''));
  expect(checked).toContain('can be used.');
  await postgres.sql('ALTER SYSTEM SET full_page_writes = off');
  await postgres.sql('SELECT pg_reload_conf()');
  await until(async () => (await postgres.sql('SHOW full_page_writes')) === 'off');
  expect(await pair.cli('config', 'check', '--store')).toMatchObject({
    warnings: expect.arrayContaining([
      expect.objectContaining({
        path: 'store',
        code: 'server-of-store',
        message: expect.stringContaining('full_page_writes off'),
      }),
    ]),
  });
  expect(JSON.stringify(await pair.cli('config', 'print'))).not.toContain('PASSWORD');
  await postgres.sql(`ALTER ROLE countersign PASSWORD 'another'`);
  const refused = await pair.cli('user', 'list').catch(String);
  expect(refused).toMatch(/PostgreSQL at \S+ refuses the password of user countersign: correct it/);
  expect(refused).not.toMatch(/PASSWORD|\n +at /);
});
