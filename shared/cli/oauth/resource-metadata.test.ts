import { expect, test } from '@jest/globals';
import { scripted } from './oauth.fixture.ts';
import { metadataUrl } from '#shared/auth/tokens/protected-resource.ts';
import { findMetadata, isWithin } from './resource-metadata.ts';

const WELL_KNOWN = 'https://api.example/.well-known/oauth-protected-resource';

test.each([
  ['https://api.example/', WELL_KNOWN],
  ['https://api.example', WELL_KNOWN],
  ['https://api.example/documents/', `${WELL_KNOWN}/documents/`],
  ['https://api.example/a?b=c', `${WELL_KNOWN}/a?b=c`],
])('RFC 9728 section 3.1: the metadata of %s are at %s', (resource, url) => {
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

test('RFC 9728 section 5.1: the DPoP challenge names the metadata and the scope', async () => {
  const { send } = scripted({ [`GET ${PLACE}`]: { body: document } });
  expect(await findMetadata(send, URL_ASKED, challenge)).toEqual({
    resource: RESOURCE,
    authorizationServers: ['https://auth.example'],
    scope: 'documents:read',
    tokenType: 'dpop',
  });
});

const HEADER = { bearer_methods_supported: ['header'] };
const IN_BEARER = `Bearer scope="documents:write", resource_metadata="${PLACE}"`;

test.each([
  ['Bearer, as metadata and challenge say', IN_BEARER, HEADER, 'bearer'],
  ['Bearer, with another scheme beside it', `Basic realm="a", ${IN_BEARER}`, HEADER, 'bearer'],
  ['DPoP, as the challenge has it', `${IN_BEARER}, DPoP`, HEADER, 'dpop'],
  ['DPoP, as the challenge has it in lower case', `${IN_BEARER}, dpop`, HEADER, 'dpop'],
  [
    'DPoP, for which the metadata have algorithms',
    IN_BEARER,
    { ...HEADER, dpop_signing_alg_values_supported: ['ES256'] },
    'dpop',
  ],
  [
    'DPoP, as the metadata leave the choice',
    IN_BEARER,
    { ...HEADER, dpop_bound_access_tokens_required: false },
    'dpop',
  ],
  [
    'DPoP, as Bearer is taken in the body alone',
    IN_BEARER,
    { bearer_methods_supported: ['body'] },
    'dpop',
  ],
  ['DPoP, as the methods are no list', IN_BEARER, { bearer_methods_supported: 'header' }, 'dpop'],
  ['DPoP, as the metadata do not say', IN_BEARER, {}, 'dpop'],
])('RFC 9728 section 2: the token is sent by %s', async (_, field, more, tokenType) => {
  const { send } = scripted({ [`GET ${PLACE}`]: { body: { ...document, ...more } } });
  expect(await findMetadata(send, URL_ASKED, unauthorized(field))).toMatchObject({ tokenType });
});

test('RFC 9449 section 7.1: unreadable challenges may have named DPoP', async () => {
  const { send } = scripted({ [`GET ${PLACE}`]: { body: { ...document, ...HEADER } } });
  const found = await findMetadata(send, RESOURCE, unauthorized(`${IN_BEARER}, DPoP algs="`));
  expect(found.tokenType).toBe('dpop');
});

test.each([IN_BEARER, 'Bearer scope="documents:write"'])(
  'RFC 6750 section 3: the scope of a Bearer challenge is read: %s',
  async (field) => {
    const { send } = scripted({ [`GET ${PLACE}`]: { body: { ...document, ...HEADER } } });
    const found = await findMetadata(send, RESOURCE, unauthorized(field));
    expect(found.scope).toBe('documents:write');
  },
);

test("without metadata in the challenge, the URL's well-known address is used", async () => {
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
  ['no document', challenge, { status: 404 }, /answers 404: give the URL of a resource/],
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

test('metadata of a resource that does not contain the URL are a failure', async () => {
  const elsewhere = 'https://api.example/hidden/';
  const place = metadataUrl(elsewhere);
  const { send } = scripted({ [`GET ${place}`]: { body: { ...document, resource: elsewhere } } });
  const answer = unauthorized(`DPoP resource_metadata="${place}"`);
  await expect(findMetadata(send, URL_ASKED, answer)).rejects.toThrow(/not within the resource/);
});
