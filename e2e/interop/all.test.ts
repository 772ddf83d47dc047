import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DigestClient } from 'digest-fetch';
import { getHTTPSCRAMAuth } from 'gel/dist/httpScram.js';
import { cryptoUtils } from 'gel/dist/nodeCrypto.js';
import * as oauth from 'oauth4webapi';
import { parseChallenges, valueOf } from '../clients/digest/challenges.ts';
import { digestClient } from '../clients/digest/digest-client.ts';
import { run } from '../clients/digest/exchange.ts';
import type { SchemeClient } from '../clients/digest/exchange.ts';
import { mutualClient } from '../clients/mutual/mutual-python.ts';
import { scramClient } from '../clients/scram/scram-client.ts';
import { ONE_STORE } from '../flows/flow.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { curl, python } from './programs.ts';
import { ALICE, identity, startSite } from './site.ts';
import type { Site } from './site.ts';

/**
 * The space of the tour that offers all schemes at once, and a client for each scheme. Two schemes have
 * tests of their own: negotiate.test.ts and private-token.test.ts.
 */
const USER = ['--user', `${ALICE.name}:${ALICE.password}`];

describe.each(ONE_STORE)('on %s', (kind) => {
  let site: Site;
  let client: Awaited<ReturnType<Site['pair']['addClient']>>;
  let key: string;
  beforeAll(async () => {
    site = await startSite(kind);
    client = await site.pair.addClient('schemes');
    const args = ['--application', 'meter', '--realm', 'all', '--scope', 'schemes'];
    key = String((await site.pair.cli('key', 'add', ...args))['key']);
  });
  afterAll(async () => site[Symbol.asyncDispose]());

  const url = () => site.url('all');
  const person = (scheme: string) => identity(scheme, 'all');
  const application = (scheme: string, id: string) =>
    JSON.stringify({ scheme, realm: 'all', principal: { kind: 'application', id } });

  test('RFC 9110 section 11.6.1: a 401 has one field line per challenge, strongest scheme first', async () => {
    const { statuses, fields } = await curl(url());
    expect(statuses).toEqual([401]);
    const challenges = parseChallenges(fields.get('www-authenticate') ?? []);
    expect(fields.get('www-authenticate')).toHaveLength(challenges.length);
    const withRealm = 'Mutual SCRAM-SHA-256 Digest SCRAM-SHA-1 Bearer Basic'.split(' ');
    expect(challenges.map(({ scheme, params }) => [scheme, valueOf(params, 'realm')])).toEqual([
      ['DPoP', 'all'],
      ['GNAP', undefined],
      ...withRealm.map((name) => [name, 'all']),
      // PrivateToken has one challenge for each token type.
      ['PrivateToken', undefined],
      ['PrivateToken', undefined],
    ]);
  });

  describe('curl', () => {
    test.each([
      ['--basic', [200], 'Basic'],
      ['--digest', [401, 200], 'Digest'],
      ['--anyauth', [401, 200], 'Digest'],
    ])('is admitted with %s', async (how, statuses, scheme) => {
      expect(await curl(how, ...USER, url())).toMatchObject({ statuses, body: person(scheme) });
    });

    test('is admitted by an API key', async () => {
      const told = await curl('--header', `X-API-Key: ${key}`, url());
      expect(told).toMatchObject({ statuses: [200], body: application('API-Key', 'meter') });
    });

    test('is admitted by a Bearer token', async () => {
      const form = { grant_type: 'client_credentials', resource: url() };
      const { body } = await site.pair.post('/token', form, client);
      const told = await curl('--oauth2-bearer', String(body['access_token']), url());
      expect(told).toMatchObject({ statuses: [200], body: application('Bearer', client.id) });
    });

    test.each([
      ['a wrong password', ['--basic', '--user', 'alice:wrong']],
      ['a wrong password for Digest', ['--digest', '--user', 'alice:wrong']],
      ['an unknown token', ['--oauth2-bearer', 'token']],
      ['a wrong key', ['--header', 'X-API-Key: wrong']],
      ['an unregistered scheme', ['--header', 'Authorization: Mutter alice']],
    ])('gets all challenges again after %s', async (_what, args) => {
      const { statuses, fields } = await curl(...args, url());
      expect(statuses.at(-1)).toBe(401);
      expect(fields.get('www-authenticate')).toHaveLength(10);
    });

    test('gets 400 for two credentials at once, even if both are right', async () => {
      const told = await curl('--basic', ...USER, '--header', `X-API-Key: ${key}`, url());
      expect(told.statuses).toEqual([400]);
    });
  });

  describe.each(['requests', 'httpx'] as const)('%s of Python', (library) => {
    test.each([
      ['basic', [200], 'Basic'],
      ['digest', [401, 200], 'Digest'],
    ] as const)('is admitted with %s', async (how, statuses, scheme) => {
      const asking = { scheme: how, ...ALICE, requests: [['GET', url()]] } as const;
      const body = person(scheme);
      expect(await python(library, asking)).toMatchObject([{ statuses, body }]);
    });
  });

  test('digest-fetch takes the first challenge for Digest, and its malformed credentials are refused', async () => {
    const digest = new DigestClient(ALICE.name, ALICE.password, { algorithm: 'SHA-256' });
    const { status } = await digest.fetch(url());
    expect(status).toBe(400);
  });

  test('the Gel client finds its SCRAM-SHA-256 challenge', async () => {
    const gel = getHTTPSCRAMAuth(cryptoUtils);
    expect(await gel(`${url()}?`, ALICE.name, ALICE.password)).toBe(person('SCRAM-SHA-256'));
  });

  test.each<[string, () => SchemeClient]>([
    ['Digest', () => digestClient({ username: ALICE.name, ...ALICE })],
    ['SCRAM-SHA-256', () => scramClient({ hash: 'SHA-256', username: ALICE.name, ...ALICE })],
    ['SCRAM-SHA-1', () => scramClient({ hash: 'SHA-1', username: ALICE.name, ...ALICE })],
  ])(
    'a client written only from the RFCs finds its challenge for %s, twice',
    async (scheme, makeClient) => {
      const { exchange } = makeClient();
      const send = site.inTurn();
      const asked = { target: site.path('all'), fields: [], content: Buffer.alloc(0) };
      for (const method of ['GET', 'POST']) {
        const { status, content } = await run(exchange({ ...asked, method }), send);
        expect([status, String(content)]).toEqual([200, person(scheme)]);
      }
    },
  );

  test('a Python client written from RFC 8120 alone finds its Mutual challenge', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'password');
    await writeFile(file, ALICE.password);
    const who = ['--user', ALICE.name, '--password-file', file];
    const { happened } = await mutualClient('--url', url(), '--requests', '2', ...who);
    expect(happened.at(-1)).toMatchObject({ verdict: 'AUTH-SUCCEED', body: person('Mutual') });
  });

  test('oauth4webapi is admitted with DPoP', async () => {
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(site.pair.issuer);
    const found = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const as = await oauth.processDiscoveryResponse(issuer, found);
    const self = { client_id: client.id };
    const proof = oauth.DPoP({}, await oauth.generateKeyPair('ES256'));
    const options = { ...insecure, DPoP: proof };
    const granted = await oauth.clientCredentialsGrantRequest(
      as,
      self,
      oauth.ClientSecretBasic(client.secret),
      { resource: url() },
      options,
    );
    const { access_token } = await oauth.processClientCredentialsResponse(as, self, granted);
    const there = new URL(url());
    const ask = oauth.protectedResourceRequest;
    const answer = await ask(access_token, 'GET', there, undefined, undefined, options);
    expect(await answer.text()).toBe(application('DPoP', client.id));
  });
});
