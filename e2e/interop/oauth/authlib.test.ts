/** @needs python3 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPair } from '../../pair/pair.ts';
import type { Pair } from '../../pair/pair.ts';
import { addKeyClient } from './key-client.ts';

/** Debian's python3-authlib: its OAuth2Session as a client, its ResourceProtector as a resource server. */
const ALGS = ['ES256', 'RS256', 'EdDSA'] as const;

let pair: Pair;
let machine: { id: string; secret: string };

beforeAll(async () => {
  pair = await startPair({
    settings: ({ resource }) => ({
      spaces: ALGS.map((alg) => ({
        url: `${resource}/${alg}/`,
        realm: alg,
        schemes: ['Bearer'],
        scopes: { safe: ['read'], unsafe: ['write'] },
        alg,
      })),
    }),
  });
  machine = await pair.addClient('read write');
});
afterAll(() => pair[Symbol.asyncDispose]());

const space = (alg: string = 'ES256') => `${pair.resource}/${alg}/`;

/** Runs a script of `authlib/`, and returns its output. Rejects with its traceback. */
async function python(script: string, asked: object): Promise<unknown> {
  const file = new URL(`authlib/${script}`, import.meta.url).pathname;
  const child = spawn('/usr/bin/python3', ['-B', file], { stdio: 'pipe' });
  child.stdin.end(JSON.stringify(asked));
  const [out, errors] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (child.exitCode !== 0) throw new Error(errors);
  return JSON.parse(out);
}

describe('OAuth2Session', () => {
  const journey = (client: { client_id: string; method: string; secret: unknown; alg?: string }) =>
    python('client.py', { issuer: pair.issuer, resource: space(), scope: 'read', ...client });

  const expected = (id: string) => ({
    token: expect.objectContaining({ token_type: 'Bearer', expires_in: 600, scope: 'read' }),
    before: 200,
    introspected: expect.objectContaining({ active: true, client_id: id, aud: space() }),
    revoked: 200,
    after: 401,
    ended: { active: false },
  });

  test.each(['client_secret_basic', 'client_secret_post'])(
    'RFC 6749 section 2.3.1, RFC 7662, RFC 7009: works with %s',
    async (method) => {
      const came = await journey({ client_id: machine.id, method, secret: machine.secret });
      expect(came).toEqual(expected(machine.id));
    },
  );

  test.each(['ES256', 'RS256', 'EdDSA'])(
    'RFC 7523: authenticates by private_key_jwt with %s',
    async (alg) => {
      const { id, privateJwk } = await addKeyClient(pair, alg, 'read write');
      const came = await journey({
        client_id: id,
        method: 'private_key_jwt',
        secret: privateJwk,
        alg,
      });
      expect(came).toEqual(expected(id));
    },
  );

  test('maps a wrong secret to the error invalid_client (RFC 6749 section 5.2)', async () => {
    const client = { client_id: machine.id, method: 'client_secret_basic', secret: 'guess' };
    await expect(journey(client)).rejects.toThrow('invalid_client');
  });
});

describe('ResourceProtector', () => {
  const form = (alg: string, scope: string) => ({
    grant_type: 'client_credentials',
    resource: space(alg),
    scope,
  });
  const token = async (alg: string, scope = 'read') => {
    const { body } = await pair.post('/token', form(alg, scope), machine);
    return String(body['access_token']);
  };
  const validate = (alg: string, tokens: readonly string[]) =>
    python('resource_server.py', {
      issuer: pair.issuer,
      audience: space(alg),
      scope: 'read',
      tokens,
    });

  test.each(ALGS)(
    'RFC 9068 section 4: accepts a token of %s, and refuses other tokens',
    async (alg) => {
      const good = await token(alg);
      const [header = '', payload = '', signature = ''] = good.split('.');
      const other = ALGS.find((one) => one !== alg) ?? alg;
      const bent = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
      const tokens = [
        good,
        [header, payload, bent].join('.'),
        await token(other),
        await token(alg, 'write'),
      ];
      expect(await validate(alg, tokens)).toEqual([
        expect.objectContaining({ iss: pair.issuer, aud: space(alg), client_id: machine.id }),
        { error: 'invalid_token', status: 401 },
        { error: 'invalid_token', status: 401 },
        { error: 'insufficient_scope', status: 403 },
      ]);
    },
  );
});
