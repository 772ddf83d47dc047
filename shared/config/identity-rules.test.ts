import { describe, expect, test } from '@jest/globals';
import { IDENTITY_RULES } from './identity-rules.ts';
import { configSchema } from './schema.ts';

const RESOURCE = 'https://rs.example';
const SPACE = {
  url: `${RESOURCE}/app/`,
  realm: 'app',
  schemes: ['Bearer'],
  serves: 'upstream',
  upstream: { url: 'http://127.0.0.1:9/' },
};
const members = (spaces: readonly object[], more: object) => ({
  resource: RESOURCE,
  spaces,
  ...more,
});
const mistakes = (spaces: readonly object[], more: object = {}) =>
  IDENTITY_RULES.flatMap(({ check }) => check(configSchema.parse(members(spaces, more)), {})).map(
    ({ path, message }) => `${path} ${message}`,
  );
const naming = (name: string) => [{ ...SPACE, identity: { fields: { [name]: 'name' } } }];
const passing = (...pass: string[]) => [{ ...SPACE, upstream: { ...SPACE.upstream, pass } }];

describe('identity.fields', () => {
  test.each([
    'X-Remote-User',
    'REMOTE-USER',
    'X-WEBAUTH-USER',
    'X-Forwarded-User',
    'X-Forwarded-Email',
    'X-Auth-Request-User',
    'X-Authenticated-Userid',
    'OIDC-CLAIM-email',
    'iv-user',
    'X-User',
    'User',
  ])('%s is accepted as a name', (name) => {
    expect(mistakes(naming(name))).toEqual([]);
  });

  test.each(['remote-user', 'oauth2-proxy', 'grafana'])('%s is accepted as a preset', (fields) => {
    expect(mistakes([{ ...SPACE, identity: { fields } }])).toEqual([]);
    expect(
      mistakes([{ ...SPACE, serves: 'verify', upstream: undefined, identity: { fields } }]),
    ).toEqual([]);
  });

  test.each(
    `
Host host Cookie Authorization Content-Type Content-Length Content-User Connection
Keep-Alive Proxy Proxy-Authorization Proxy-User TE Trailer Transfer-Encoding Upgrade
HTTP2-Settings X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host X-Forwarded-Prefix
Forwarded Via X-Request-Id X-Auth-Subject X-Auth-Statement X-Auth-Name
Concealed-Auth-Export Client-Cert Expect If If-Match Destination Depth Range Max-Forwards
DPoP Origin Sec-WebSocket-Key Accept Cache-Control Vary Set-Cookie Location
WWW-Authenticate DPoP-Nonce RateLimit Retry-After X-HTTP-Method-Override X-Original-URL
X-API-Key
`
      .trim()
      .split(/\s+/),
  )('%s is refused, because the field has its own meaning', (name) => {
    expect(mistakes(naming(name))).toEqual([
      expect.stringMatching(new RegExp(`^spaces\\.0\\.identity\\.fields has ${name},`)),
    ]);
  });

  test("the field of another space's API keys is refused", () => {
    const keys = { ...SPACE, url: `${RESOURCE}/keys/`, realm: 'keys', apiKey: { field: 'X-User' } };
    expect(mistakes([...naming('x-user'), keys])).toEqual([
      expect.stringContaining('in which API keys come'),
    ]);
  });

  test.each([
    ['no field', { identity: { fields: {} } }, 'is empty'],
    ['one name twice', { identity: { fields: { 'X-A': 'name', 'x-a': 'email' } } }, 'twice'],
    [
      'documents',
      { serves: 'documents', upstream: undefined, identity: { fields: 'grafana' } },
      'is for an application',
    ],
    ['nobody is asked', { schemes: [], identity: { fields: 'grafana' } }, 'name schemes'],
  ])('%s: the field is refused', (_, more, message) => {
    expect(mistakes([{ ...SPACE, ...more }])).toEqual([expect.stringContaining(message)]);
  });

  test.each([
    ['an unknown preset', { fields: 'okta' }],
    ['something that is not known', { fields: { 'X-User': 'password' } }],
    ['an underscore', { fields: { X_User: 'name' } }],
    ['nothing', {}],
  ])('%s: the value is refused', (_, identity) => {
    expect(configSchema.safeParse(members([{ ...SPACE, identity }], {})).success).toBe(false);
  });
});

describe('upstream.pass', () => {
  const proxies = { trustedProxies: ['10.0.0.1'] };

  test('may name fields that are otherwise removed, for trusted proxies', () => {
    expect(
      mistakes(passing('CF-Connecting-IP', 'client-cert', 'X-Forwarded-Port'), proxies),
    ).toEqual([]);
  });

  test.each([
    ['no proxy is trusted', passing('Client-Cert'), {}, 'none is trusted'],
    ['every client may send it', passing('X-Custom'), proxies, 'every client may send'],
    ['another method', passing('X-HTTP-Method-Override'), proxies, 'do something else'],
    ['another path', passing('X-Original-URL'), proxies, 'do something else'],
    ['httpoxy', passing('Proxy'), proxies, 'do something else'],
    ['written here', passing('X-Forwarded-For'), proxies, 'writes itself'],
    ['ours', passing('X-Auth-Subject'), proxies, 'writes itself'],
    [
      'written for another space',
      [
        ...passing('Remote-User'),
        { ...SPACE, url: `${RESOURCE}/b/`, realm: 'b', identity: { fields: 'remote-user' } },
      ],
      proxies,
      'writes itself',
    ],
  ])('%s: the field is refused', (_, spaces, more, message) => {
    expect(mistakes(spaces, more)).toEqual([expect.stringContaining(message)]);
  });
});
