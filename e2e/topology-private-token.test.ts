/** PrivateToken in the topology of docker-compose.yml, as processes behind HAProxy. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { get } from './clients/digest/answers.fixture.ts';
import type { Send } from './clients/digest/exchange.ts';
import { DIRECTORY_PATH } from './clients/private-token/directory.ts';
import { beginIssuance } from './clients/private-token/issuance.ts';
import {
  directoryOf,
  offersIn,
  redeem,
  tokenRequest,
} from './clients/private-token/private-token-client.ts';
import type { Issuer, Offer } from './clients/private-token/private-token-client.ts';
import { LIMITS } from './flows/flow.ts';
import { until } from './parts/process.ts';
import { ISSUER, RESOURCE, startTopology } from './pair/topology.ts';
import { sendThrough, serversOf } from './pair/through-topology.ts';
import type { Topology } from './pair/topology.ts';

/** Seconds from the publication of a token key to its first token. */
const MAX_AGE = 2;

describe('PrivateToken behind the load balancer (RFC 9577, RFC 9578)', () => {
  let topology: Topology;
  const PATH = '/schemes/private-token/';
  const REQUEST = '/private-token/request';
  const TYPES = [
    { type: 1, name: 'voprf-p384' },
    { type: 2, name: 'blind-rsa-2048' },
  ] as const;
  const atSite: Send = (request) => sendThrough(topology, RESOURCE)(request);
  const atIssuer: Send = (request) => sendThrough(topology, ISSUER)(request);
  const answeredBy = (path: string, count: number) => serversOf(topology, path, count);
  const directories = () =>
    Promise.all(Array.from({ length: 4 }, () => topology.ask(ISSUER + DIRECTORY_PATH)));
  const name = new URL(ISSUER).host;
  let fields: Issuer['fields'];

  beforeAll(async () => {
    topology = await startTopology({
      jwks: { cooldown: 1 },
      privateTokens: { maxAge: MAX_AGE },
      limits: LIMITS,
      spaces: [
        {
          url: RESOURCE + PATH,
          realm: 'private-token',
          schemes: ['PrivateToken'],
          serves: 'identity',
        },
      ],
    });
    const args = ['--name', 'Tokens', '--grant', 'client_credentials', '--scope', 'private-token'];
    const { client_id: id, client_secret: secret } = await topology.cli('client', 'add', ...args);
    const basic = `Basic ${btoa(`${String(id)}:${String(secret)}`)}`;
    const form = { grant_type: 'client_credentials', resource: ISSUER + REQUEST };
    const { text } = await topology.ask(`${ISSUER}/token`, {
      method: 'POST',
      headers: {
        authorization: basic,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
    });
    const { access_token: accessToken } = JSON.parse(text) as { access_token: string };
    fields = [['Authorization', `Bearer ${accessToken}`]];
  });
  afterAll(async () => topology[Symbol.asyncDispose]());

  const directory = () => directoryOf({ name, send: atIssuer, fields: [] });

  /** Returns the offers of one of the resource servers, by type. */
  async function offers(): Promise<ReadonlyMap<number, Offer>> {
    const found = offersIn(await atSite(get(PATH)), new URL(RESOURCE).host);
    return new Map(found.map((offer) => [offer.challenge.type, offer]));
  }

  async function tokenFor(type: number): Promise<Buffer> {
    const { challenge, octets, key } = (await offers()).get(type) ?? {};
    if (octets === undefined || key === undefined) throw new Error(`no offer of type ${type}`);
    expect(challenge).toMatchObject({ issuer: name, context: Buffer.alloc(0) });
    const issuance = beginIssuance(octets, key, randomBytes);
    const asked = tokenRequest(await directory(), issuance.request, fields);
    return issuance.finish((await atIssuer(asked)).content);
  }

  /** One after another, until both authorization servers have issued one. */
  async function tokensOfBoth(type: number): Promise<readonly Buffer[]> {
    const before = (await answeredBy(REQUEST, 0)).length;
    const tokens: Buffer[] = [];
    await until(async () => {
      // Each takes two requests: a third one, lest they go to the same server each time.
      await directory();
      tokens.push(await tokenFor(type));
      const issuers = await answeredBy(REQUEST, before + tokens.length);
      return new Set(issuers.slice(before)).size === 2;
    });
    return tokens;
  }

  /** Ten at once, at both resource servers. */
  async function accepted(privateToken: Buffer): Promise<number> {
    const { length: before } = await answeredBy(PATH, 0);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => atSite(redeem(get(PATH), privateToken))),
    );
    expect(new Set((await answeredBy(PATH, before + 10)).slice(before))).toEqual(
      new Set(['resource-1', 'resource-2']),
    );
    expect(answers.filter(({ status }) => ![200, 401].includes(status))).toEqual([]);
    return answers.filter(({ status }) => status === 200).length;
  }

  test('RFC 9578 section 4: both authorization servers have one directory, of the public origin', async () => {
    const { length: before } = await answeredBy(DIRECTORY_PATH, 0);
    const answers = await directories();
    const servers = (await answeredBy(DIRECTORY_PATH, before + 4)).slice(before);
    expect(new Set(servers)).toEqual(new Set(['authz-1', 'authz-2']));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.text).toContain(`"${ISSUER}${REQUEST}"`);
  });

  test.each(TYPES)('$name: got from both, good at both, once', async ({ type }) => {
    for (const one of await tokensOfBoth(type)) expect(await accepted(one)).toBe(1);
  });

  test('a rotation is seen by all four, though one server is killed amid it', async () => {
    const early = await Promise.all(TYPES.map(({ type }) => tokenFor(type)));
    const { keys } = await directory();
    const isOld = (key: Buffer | undefined) => keys.some((old) => key && old.key.equals(key));
    for (const { name: type } of TYPES) {
      const { id } = await topology.cli('private-token', 'rotate', '--type', type);
      const listed = await topology.cli('private-token', 'keys');
      expect(Object.values(listed)).toContainEqual(
        // Which of the two depends on how long the list took to come.
        expect.objectContaining({
          id,
          type,
          state: expect.stringMatching(/^(published|issuing)$/),
        }),
      );
    }
    const published = await directories();
    expect(new Set(published.map(({ text }) => text)).size).toBe(1);
    expect((await directory()).keys).toHaveLength(keys.length + TYPES.length);

    await topology.servers['authz-1'].kill('SIGKILL');
    await until(async () => {
      const seen = [await offers(), await offers()];
      return seen.every((both) => [...both.values()].every(({ key }) => !isOld(key)));
    });
    for (const { type } of TYPES) expect(await accepted(await tokenFor(type))).toBe(1);

    await topology.servers['authz-1'].start();
    for (const { type } of TYPES) {
      for (const one of await tokensOfBoth(type)) expect(await accepted(one)).toBe(1);
    }
    // The overlap: what the older keys have issued is good still.
    for (const one of early) expect(await accepted(one)).toBe(1);
  });
});
