import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TokenType } from '#shared/private-token/token-types.ts';
import type { Field } from '../clients/digest/exchange.ts';
import { type ForgedClaims, ONE_STORE } from '../flows/flow.ts';
import { post } from '../flows/person.ts';
import {
  mint,
  offerOf,
  startTokenServers,
  type TokenServers,
  unsound,
} from './private-token.fixture.ts';

/** The client id of the resource server, which both servers have built in. */
const RESOURCE_SERVER = 'resource-server';
const VERIFY = '/private-token/verify';
const now = () => Math.floor(Date.now() / 1000);
const someone = () => randomUUID();

/**
 * The issuer verifies tokens (RFC 9578 section 5.4) for resource servers only, and says only whether a
 * token is valid.
 */
describe.each(ONE_STORE)('on %s', (kind) => {
  let servers: TokenServers;
  beforeAll(async () => {
    servers = await startTokenServers(kind);
  });
  afterAll(async () => {
    expect(await unsound(servers)).toEqual([]);
    await servers[Symbol.asyncDispose]();
  });

  const verify = (token: Buffer, fields: readonly Field[], server = 0) =>
    servers.issuer(server % 2)({
      method: 'POST',
      target: VERIFY,
      fields: [['Content-Type', 'application/octet-stream'], ...fields],
      content: token,
    });
  const verifier = (claims: Partial<ForgedClaims> = {}) =>
    servers.access({
      aud: servers.endpoint('verify'),
      scope: 'private-token:verify',
      client_id: RESOURCE_SERVER,
      ...claims,
    });
  const wordOn = async (token: Buffer) => {
    const { status, content } = await verify(token, [await verifier()]);
    return status === 200 ? (JSON.parse(content.toString()) as unknown) : status;
  };

  async function someToken(type: TokenType = 1): Promise<Buffer> {
    const { octets } = await offerOf(servers, 'tokens', type);
    const fields = [await servers.access({ client_id: someone() })];
    return (await mint(servers, octets, { fields })).token;
  }

  test('a client without the right access token learns nothing about a token', async () => {
    const token = await someToken();
    const verifyUrl = servers.endpoint('verify');
    for (const [expected, fields] of [
      [401, []],
      [401, [await servers.access()]],
      [401, [await verifier({ aud: servers.endpoint('request') })]],
      [401, [await verifier({ aud: `${servers.flow.pair.resource}/tokens/` })]],
      [401, [await verifier({ exp: now() - 60 })]],
      [403, [await servers.access({ aud: verifyUrl })]],
      [403, [await verifier({ scope: 'documents:read' })]],
    ] as const) {
      for (const server of [0, 1]) {
        const { status, content } = await verify(token, fields, server);
        expect(status).toBe(expected);
        expect(content.toString()).not.toContain('"valid"');
      }
    }
    expect(await wordOn(token)).toEqual({ valid: true });
  });

  test("a client without the operator's permission gets no usable access token for verification", async () => {
    const { pair } = servers.flow;
    const wanted = { resource: servers.endpoint('verify'), scope: 'private-token:verify' };
    for (const scope of ['private-token', 'documents:read']) {
      const client = await pair.addClient(scope);
      for (const form of [wanted, { resource: wanted.resource }]) {
        const all = { grant_type: 'client_credentials', ...form };
        const { status, body } = await pair.post('/token', all, client);
        const token = body['access_token'];
        if (status !== 200) expect(status).toBe(400);
        else {
          const fields: readonly Field[] = [['Authorization', `Bearer ${String(token)}`]];
          expect((await verify(Buffer.alloc(146), fields)).status).toBe(403);
        }
      }
    }
    const form = { grant_type: 'client_credentials', ...wanted, client_id: RESOURCE_SERVER };
    const secrets = ['', 'resource-server', pair.issuer];
    for (const client_secret of secrets) {
      const answer = await post(servers.flow, '/token', { ...form, client_secret });
      expect(answer.status).toBe(401);
    }
  });

  test('the answer is valid only for an unchanged token, and repeats after repeated requests', async () => {
    const token = await someToken();
    for (const at of [2, 33, 34, 65, 66, 97, 98, 145]) {
      const changed = Buffer.from(token);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(await wordOn(changed)).toEqual({ valid: false });
    }
    for (const wrong of [
      Buffer.alloc(0),
      token.subarray(1),
      token.subarray(0, -1),
      await someToken(2),
    ]) {
      expect(await wordOn(wrong)).toBe(422);
    }
    expect(await wordOn(Buffer.concat([token, Buffer.alloc(1000)]))).toBe(413);
    // Verification does not show whether a token is spent, and does not spend it.
    expect([await wordOn(token), await wordOn(token)]).toEqual([{ valid: true }, { valid: true }]);
  });
});
