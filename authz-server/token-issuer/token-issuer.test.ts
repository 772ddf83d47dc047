import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DIRECTORY_PATH } from '#shared/private-token/issuer-directory.ts';
import {
  AS,
  REQUEST,
  startTokenIssuer,
  VERIFY,
  type TestTokenIssuer,
} from './token-issuer.fixture.ts';

let tokenIssuer: TestTokenIssuer;
beforeAll(async () => {
  tokenIssuer = await startTokenIssuer();
});
afterAll(async () => {
  await tokenIssuer[Symbol.asyncDispose]();
});

const METADATA = '/.well-known/oauth-protected-resource/private-token';
const READ = [DIRECTORY_PATH, `${METADATA}/request`, `${METADATA}/verify`];

test.each(READ)('RFC 9110 section 13: the answer at %s has a length and a tag', async (path) => {
  const got = await tokenIssuer.ask({ path });
  const head = await tokenIssuer.ask({ path, method: 'HEAD' });
  expect(head.body).toHaveLength(0);
  expect(head.headers['content-length']).toBe(String(got.body.length));
  const { etag = '' } = got.headers;
  const again = await tokenIssuer.ask({ path, fields: ['If-None-Match', etag] });
  expect([again.status, again.headers.etag, again.body.length]).toEqual([304, etag, 0]);
});

test.each([
  '/',
  '/private-token',
  '/private-token/',
  '/private-token/request/x',
  '/.well-known/oauth-protected-resource',
  METADATA,
  '/token',
  '/jwks',
])('%s is no address of the issuer', async (path) => {
  expect((await tokenIssuer.ask({ path, method: 'POST' })).status).toBe(404);
});

test.each<[number, string, readonly string[]]>([
  [400, '/a%2fb', []],
  [412, DIRECTORY_PATH, ['If-Match', '"x"']],
])(
  'RFC 9111 section 5.2.2.5: no cache stores the answer %i of %s',
  async (status, path, fields) => {
    const answer = await tokenIssuer.ask({ path, fields });
    expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'no-store']);
  },
);

test.each([
  ['request', REQUEST, 'private-token'],
  ['verify', VERIFY, 'private-token:verify'],
])('RFC 9728 section 2: the metadata of the %s endpoint', async (path, resource, scope) => {
  const { headers, body } = await tokenIssuer.ask({ path: `${METADATA}/${path}` });
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(body.toString())).toEqual({
    resource,
    resource_name: scope,
    authorization_servers: [AS],
    scopes_supported: [scope],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256', 'RS256', 'EdDSA', 'Ed25519'],
    dpop_bound_access_tokens_required: false,
  });
});
