import { expect, test } from '@jest/globals';
import { scripted } from './oauth.fixture.ts';
import { metadataUrl } from '#shared/auth/protected-resource.ts';
import { findMetadata, isWithin } from './resource-metadata.ts';

const WELL_KNOWN = 'https://api.example/.well-known/oauth-protected-resource';

test.each([
  ['https://api.example/', WELL_KNOWN],
  ['https://api.example', WELL_KNOWN],
  ['https://api.example/documents/', `${WELL_KNOWN}/documents/`],
  ['https://api.example/a?b=c', `${WELL_KNOWN}/a?b=c`],
])('RFC 9728 section 3.1: %s is described at %s', (resource, url) => {
  expect(metadataUrl(resource)).toBe(url);
});

test.each([
  ['https://a.example/d/', 'https://a.example/d/', true],
  ['https://a.example/d/x/y?z', 'https://a.example/d/', true],
  ['https://a.example/d', 'https://a.example/d/', true],
  ['https://a.example/x', 'https://a.example', true],
  ['https://a.example/dx', 'https://a.example/d', false],
  ['https://a.example/', 'https://a.example/d/', false],
  ['https://a.example:8443/d/', 'https://a.example/d/', false],
  ['http://a.example/d/', 'https://a.example/d/', false],
  ['https://a.example/d/../e', 'https://a.example/d/', false],
])('%s within %s: %s', (url, resource, within) => {
  expect(isWithin(url, resource)).toBe(within);
});

const RESOURCE = 'https://api.example/documents/';
const URL_ASKED = `${RESOURCE}a`;
const PLACE = metadataUrl(RESOURCE);
const document = { resource: RESOURCE, authorization_servers: ['https://auth.example'] };

const unauthorized = (challenge: string) => ({
  status: 401,
  fields: { 'www-authenticate': challenge },
  body: Buffer.alloc(0),
});
const challenge = unauthorized(
  `Bearer resource_metadata="https://api.example/other", DPoP scope="documents:read", resource_metadata="${PLACE}"`,
);

test('RFC 9728 section 5.1: the DPoP challenge says where, and which scope', async () => {
  const { send } = scripted({ [`GET ${PLACE}`]: { body: document } });
  expect(await findMetadata(send, URL_ASKED, challenge)).toEqual({
    resource: RESOURCE,
    authorizationServers: ['https://auth.example'],
    scope: 'documents:read',
  });
});

test('without a place in the challenge: the well-known one of the URL itself', async () => {
  const { send } = scripted({ [`GET ${PLACE}`]: { body: document } });
  const found = await findMetadata(send, RESOURCE, unauthorized('DPoP'));
  expect(found.resource).toBe(RESOURCE);
});

test.each([
  [
    'another origin',
    unauthorized('DPoP resource_metadata="https://evil.example/x"'),
    {},
    /another origin/,
  ],
  [
    'another scheme',
    unauthorized('DPoP resource_metadata="http://api.example/x"'),
    {},
    /another origin/,
  ],
  ['no URL', unauthorized('DPoP resource_metadata="x"'), {}, /another origin/],
  [
    'section 3.3: the metadata of another resource',
    challenge,
    { body: { ...document, resource: 'https://evil.example/documents/' } },
    /another resource/,
  ],
  [
    'section 3.3: a resource elsewhere at the origin',
    challenge,
    { body: { ...document, resource: 'https://api.example/other/' } },
    /another resource/,
  ],
  ['no resource', challenge, { body: {} }, /another resource/],
  ['no document', challenge, { status: 404 }, /answers 404/],
  [
    'a redirect',
    challenge,
    { status: 302, fields: { location: 'https://evil.example/' } },
    /answers 302/,
  ],
])('%s is a failure', async (_, answer, reply, reason) => {
  const { send } = scripted({ [`GET ${PLACE}`]: reply });
  await expect(findMetadata(send, URL_ASKED, answer)).rejects.toThrow(reason);
});

test('metadata of a resource that does not have the URL within it is a failure', async () => {
  const elsewhere = 'https://api.example/hidden/';
  const place = metadataUrl(elsewhere);
  const { send } = scripted({ [`GET ${place}`]: { body: { ...document, resource: elsewhere } } });
  const answer = unauthorized(`DPoP resource_metadata="${place}"`);
  await expect(findMetadata(send, URL_ASKED, answer)).rejects.toThrow(/not within the resource/);
});
