import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import type { TokenType } from '#shared/private-token/token-types.ts';
import { valuesOf } from '../clients/digest/exchange.ts';
import type { Field, HttpResponse } from '../clients/digest/exchange.ts';
import { preferredKey } from '../clients/private-token/directory.ts';
import { beginIssuance } from '../clients/private-token/issuance.ts';
import { tokenRequest } from '../clients/private-token/private-token-client.ts';
import { type ForgedClaims, STORE_KINDS } from '../flows/flow.ts';
import { App, newPerson, signedIn } from '../flows/person.ts';
import { CODE_GRANTS } from '../pair/people-client.ts';
import {
  mint,
  offerOf,
  startTokenServers,
  tally,
  type TokenServers,
  TYPES,
  unsound,
} from './private-token.fixture.ts';

const QUOTA = 6;
const REQUEST = '/private-token/request';
const now = () => Math.floor(Date.now() / 1000);

/** Requests for tokens by clients that may not have them, and for more tokens than the quota. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let servers: TokenServers;
  beforeAll(async () => {
    const limits = { privateTokens: { burst: QUOTA, per: 86_400 } };
    servers = await startTokenServers(kind, { limits });
  });
  afterAll(async () => {
    expect(await unsound(servers)).toEqual([]);
    await servers[Symbol.asyncDispose]();
  });

  const someone = () => randomUUID();

  /** Sends a token request with these fields to one of the two issuers. */
  async function ask(
    fields: readonly Field[],
    server = 0,
    type: TokenType = 2,
    change: (content: Buffer) => Buffer = (content) => content,
  ): Promise<HttpResponse> {
    const directory = await servers.directory();
    const key = preferredKey(directory, type, now());
    const challenge = Buffer.concat([Buffer.of(0, type), randomBytes(40)]);
    const { request } = beginIssuance(challenge, key, randomBytes);
    return servers.issuer(server % 2)(tokenRequest(directory, change(request), fields));
  }
  const asking = async (claims: Partial<ForgedClaims>, server = 0, type: TokenType = 2) =>
    ask([await servers.access(claims)], server, type);
  /** Counts how many more tokens a client with these fields can get. */
  async function left(fields: () => Promise<readonly Field[]>): Promise<number> {
    for (let count = 0; count <= QUOTA; count += 1) {
      const { status } = await ask(await fields(), count);
      if (status !== 200) {
        expect(status).toBe(429);
        return count;
      }
    }
    throw new Error('there is no quota');
  }
  const as = (claims: Partial<ForgedClaims>) => async () => [await servers.access(claims)];
  const errorOf = ({ fields }: HttpResponse) =>
    /error="?([a-z_]+)/.exec(valuesOf(fields, 'WWW-Authenticate').join())?.[1];

  describe('the quota (RFC 9576 section 6.1)', () => {
    test.each(TYPES)(
      'ten requests at once near the limit, at two processes, get no more tokens than the quota: type $type',
      async ({ type }) => {
        for (let round = 0; round < 3; round += 1) {
          const client_id = someone();
          for (let n = 0; n < QUOTA - 3; n += 1) {
            expect((await asking({ client_id }, n, type)).status).toBe(200);
          }
          const fields = [await servers.access({ client_id })];
          const all = Array.from({ length: 10 }, (_, n) => ask(fields, n, type));
          const answers = await Promise.all(all);
          expect(tally(answers)).toEqual({ 200: 3, 429: 7 });
          for (const { status, fields: got } of answers) {
            const wait = valuesOf(got, 'Retry-After').map(Number);
            expect(wait).toEqual(status === 200 ? [] : [expect.any(Number)]);
            if (status === 429) expect(wait[0]).toBeGreaterThan(0);
          }
        }
      },
    );

    test('both types share one quota', async () => {
      const client_id = someone();
      for (let n = 0; n < QUOTA; n += 1) {
        const type = n % 2 === 0 ? 1 : 2;
        expect((await asking({ client_id }, n, type)).status).toBe(200);
      }
      for (const { type } of TYPES) {
        expect((await asking({ client_id }, type, type)).status).toBe(429);
      }
    });

    test('the quota is per person and client: another person or client has its own', async () => {
      const [alice, bob] = [someone(), someone()];
      const [one, other] = [someone(), someone()];
      const person = (sub: string, client_id: string) =>
        as({ sub, client_id, grant_id: someone(), sub_gen: 0 });
      expect(await left(person(alice, one))).toBe(QUOTA);
      expect(await left(person(bob, one))).toBe(QUOTA);
      expect(await left(person(alice, other))).toBe(QUOTA);
      expect(await left(as({ client_id: one }))).toBe(QUOTA);
      // A client whose id equals alice's id is not alice.
      expect(await left(as({ client_id: alice }))).toBe(QUOTA);
      expect(await left(person(alice, one))).toBe(0);
    });

    test('names that are equal when joined have separate quotas', async () => {
      const [a, b] = [someone(), someone()];
      const person = (sub: string, client_id: string) =>
        as({ sub, client_id, grant_id: someone(), sub_gen: 0 });
      expect(await left(person(a, `${b}x`))).toBe(QUOTA);
      expect(await left(person(`${a}${b}`, 'x'))).toBe(QUOTA);
      expect(await left(person(`${a}","${b}`, 'x'))).toBe(QUOTA);
      expect(await left(person(a, `${b}","x`))).toBe(QUOTA);
    });

    test('another access token, grant, key, address or request id does not renew the quota', async () => {
      const [sub, client_id] = [someone(), someone()];
      const client = prover(now);
      const grant = () => ({ sub, client_id, grant_id: someone(), sub_gen: 0 });
      expect(await left(as(grant()))).toBe(QUOTA);
      expect((await asking(grant(), 1)).status).toBe(429);
      const [, bearer] = await servers.access({ ...grant(), cnf: { jkt: client.jkt } });
      const token = bearer.slice('Bearer '.length);
      const proof = client.proof(token, { htm: 'POST', htu: servers.endpoint('request') });
      const bound: readonly Field[] = [
        ['Authorization', `DPoP ${token}`],
        ['DPoP', proof],
      ];
      expect((await ask(bound)).status).toBe(429);
      const fields: readonly Field[] = [
        await servers.access(grant()),
        ['X-Forwarded-For', '192.0.2.7'],
        ['X-Request-Id', 'another'],
      ];
      const { octets } = await offerOf(servers, 'tokens', 2);
      const send = servers.issuer(0, '127.0.0.9');
      await expect(mint(servers, octets, { send, fields })).rejects.toThrow('429');
    });

    test("real people: another sign-in, another code and a refresh do not renew a person's quota", async () => {
      const { flow } = servers;
      const args = ['--name', 'App', '--public', '--scope', 'private-token offline_access'];
      const redirect = ['--redirect-uri', 'https://app.example/callback'];
      const added = await flow.pair.cli('client', 'add', ...args, ...CODE_GRANTS, ...redirect);
      const app = new App(flow, String(added['client_id']));
      const wanted = {
        resource: servers.endpoint('request'),
        scope: 'private-token offline_access',
        prompt: 'consent',
      };
      const { resource } = wanted;
      const tokensOf = async (person: Awaited<ReturnType<typeof newPerson>>) =>
        app.tokens(await signedIn(flow, person), wanted);
      const [alice, bob] = [await newPerson(flow), await newPerson(flow)];
      const first = await tokensOf(alice);
      const bearer = (token: string) => async (): Promise<readonly Field[]> => [
        ['Authorization', `Bearer ${token}`],
      ];
      expect(await left(bearer(first.access))).toBe(QUOTA);
      const again = await tokensOf(alice);
      const { body } = await app.refresh(again.refresh, { resource });
      expect(decodeJwt(String(body['access_token']))['aud']).toBe(resource);
      for (const token of [again.access, String(body['access_token'])]) {
        expect(await left(bearer(token))).toBe(0);
      }
      expect(await left(bearer((await tokensOf(bob)).access))).toBe(QUOTA);
    });

    test('a malformed request uses no quota; a well-formed request with an invalid element uses one token', async () => {
      const client_id = someone();
      const fields = [await servers.access({ client_id })];
      const content = (text: string, server: number) =>
        servers.issuer(server % 2)({
          method: 'POST',
          target: REQUEST,
          fields,
          content: Buffer.from(text),
        });
      for (let n = 0; n < QUOTA; n += 1) {
        expect((await content('x', n)).status).toBe(415);
        const unknown = (octets: Buffer) => {
          octets[2] = (octets[2] ?? 0) ^ 0x5a;
          return octets;
        };
        expect((await ask(fields, n, 1, unknown)).status).toBe(422);
        expect((await ask(fields, n, 2, (octets) => octets.subarray(1))).status).toBe(422);
      }
      const nothing = (octets: Buffer) => octets.fill(0xff, 3);
      for (let n = 0; n < 3; n += 1) {
        expect((await ask(fields, n, n % 2 === 0 ? 1 : 2, nothing)).status).toBe(422);
      }
      expect(await left(async () => fields)).toBe(QUOTA - 3);
    });
  });

  describe('a token request is refused (RFC 6750, RFC 9068 section 4, RFC 9449)', () => {
    const refused = async (
      claims: Partial<ForgedClaims>,
      status: number,
      error: string | undefined,
    ) => {
      for (const server of [0, 1]) {
        const answer = await asking(claims, server);
        expect([answer.status, errorOf(answer)]).toEqual([status, error]);
        expect(valuesOf(answer.fields, 'Content-Type').join()).not.toContain('private-token');
      }
    };

    test('without an access token, or with other credentials', async () => {
      const { octets } = await offerOf(servers, 'tokens', 2);
      const { token } = await mint(servers, octets, { fields: [await servers.access()] });
      for (const fields of [
        [],
        [['Authorization', 'Basic YTpi']],
        [['Authorization', `PrivateToken token="${token.toString('base64url')}"`]],
        [['Authorization', 'Bearer x.y.z']],
        [['X-API-Key', 'x']],
        [['Cookie', 'session=x']],
      ] as readonly (readonly Field[])[]) {
        for (const server of [0, 1]) expect((await ask(fields, server)).status).toBe(401);
      }
    });

    test('with a token for the resource server, or for another endpoint of the issuer', async () => {
      const { pair } = servers.flow;
      for (const aud of [
        `${pair.resource}/tokens/`,
        `${pair.resource}/all/`,
        `${pair.resourceTls}/all/`,
        pair.issuer,
        `${pair.issuer}/me`,
        pair.tokenIssuer,
        `${pair.tokenIssuer}/`,
        servers.endpoint('verify'),
        `${servers.endpoint('request')}/`,
        `${pair.issuer}${REQUEST}`,
      ]) {
        await refused({ aud }, 401, 'invalid_token');
      }
    });

    test('without the scope, even with other scopes', async () => {
      for (const scope of ['', 'private', 'private-token:verify', 'documents:read Private-Token']) {
        await refused({ scope }, 403, 'insufficient_scope');
      }
    });

    test('with a token that is expired, not yet valid, or of another issuer', async () => {
      const then = now();
      await refused({ exp: then - 60 }, 401, 'invalid_token');
      await refused({ iat: then + 600, exp: then + 1200 }, 401, 'invalid_token');
      await refused({ nbf: then + 600 }, 401, 'invalid_token');
      await refused({ iss: 'http://127.0.0.1:1' }, 401, 'invalid_token');
      await refused({ epoch: someone() }, 401, 'invalid_token');
    });

    test('with a token that is bound to a key, without its proof for this request', async () => {
      const [client, other] = [prover(now), prover(now)];
      const [, bearer] = await servers.access({ client_id: someone(), cnf: { jkt: client.jkt } });
      const token = bearer.slice('Bearer '.length);
      const request = { htm: 'POST', htu: servers.endpoint('request') };
      const proof = client.proof(token, request);
      const withProof = (text: string): readonly Field[] => [
        ['Authorization', `DPoP ${token}`],
        ['DPoP', text],
      ];
      const wrong: readonly (readonly Field[])[] = [
        [['Authorization', bearer]],
        [['Authorization', `DPoP ${token}`]],
        withProof(other.proof(token, request)),
        withProof(client.proof(token, { ...request, htm: 'GET' })),
        withProof(client.proof(token, { ...request, htu: servers.endpoint('verify') })),
        withProof(client.proof('another', request)),
        withProof(client.proof(token, { ...request, iat: now() - 600 })),
      ];
      for (const fields of wrong) {
        for (const server of [0, 1]) expect((await ask(fields, server)).status).toBe(401);
      }
      expect((await ask(withProof(proof))).status).toBe(200);
      // RFC 9449 section 11.1: each proof is accepted once, at any process.
      for (const server of [0, 1]) expect((await ask(withProof(proof), server)).status).toBe(401);
    });

    test('with a revoked token, person or client, from the next request on at both', async () => {
      const { pair, stores, until } = servers.flow;
      const client = await pair.addClient('private-token');
      const form = { grant_type: 'client_credentials', resource: servers.endpoint('request') };
      for (let time = 0; time < 3; time += 1) {
        const { body } = await pair.post('/token', form, client, time % 2);
        const token = String(body['access_token']);
        const fields: readonly Field[] = [['Authorization', `Bearer ${token}`]];
        expect((await ask(fields, time)).status).toBe(200);
        await pair.post('/token/revocation', { token }, client, (time + 1) % 2);
        for (const server of [0, 1]) expect((await ask(fields, server)).status).toBe(401);
      }
      const [sub, grant_id, client_id] = [someone(), someone(), someone()];
      for (const [how, revoke] of [
        ['grant', () => stores.revocations.revoke('grant', grant_id, until())],
        ['person', () => stores.revocations.raise('person', sub, until())],
        ['client', () => stores.revocations.raise('client', client_id, until())],
      ] as const) {
        const sub_gen = await stores.revocations.generation('person', sub);
        const grant = how === 'grant' ? grant_id : someone();
        const fields = [await servers.access({ sub, client_id, grant_id: grant, sub_gen })];
        expect([how, (await ask(fields)).status]).toEqual([how, 200]);
        await revoke();
        for (const server of [0, 1]) {
          expect([how, (await ask(fields, server)).status]).toEqual([how, 401]);
        }
      }
    });
  });
});
