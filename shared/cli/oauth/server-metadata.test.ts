import { expect, test } from '@jest/globals';
import { scripted } from './oauth.fixture.ts';
import { findServer } from './server-metadata.ts';

test.each([
  ['https://auth.example', 'https://auth.example/.well-known/oauth-authorization-server'],
  ['https://auth.example/a/b', 'https://auth.example/.well-known/oauth-authorization-server/a/b'],
  ['https://auth.example/a/', 'https://auth.example/.well-known/oauth-authorization-server/a'],
])('RFC 8414 section 3.1: the metadata of %s is at %s', async (issuer, url) => {
  const token_endpoint = 'https://auth.example/token';
  const { send } = scripted({ [`GET ${url}`]: { body: { issuer, token_endpoint } } });
  expect((await findServer(send, issuer)).endpoint('token_endpoint')).toBe(token_endpoint);
});

const PLACE = 'GET https://auth.example/.well-known/oauth-authorization-server';

test.each([
  'https://evil.example',
  'https://auth.example/',
  'https://AUTH.example',
  'https://auth.example:443',
  ['https://auth.example'],
  undefined,
])('RFC 8414 section 3.3: the issuer %j is refused', async (issuer) => {
  const { send } = scripted({ [PLACE]: { body: { issuer } } });
  await expect(findServer(send, 'https://auth.example')).rejects.toThrow('another issuer');
});

test.each([
  undefined,
  '',
  '/token',
  'http://auth.example/token',
  'https://user@auth.example/token',
  ['https://auth.example/token'],
])('endpoint %j is not used', async (endpoint) => {
  const issuer = 'https://auth.example';
  const { send } = scripted({ [PLACE]: { body: { issuer, userinfo_endpoint: endpoint } } });
  const server = await findServer(send, issuer);
  expect(() => server.endpoint('userinfo_endpoint')).toThrow('no userinfo endpoint');
});
