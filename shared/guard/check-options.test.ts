import { describe, expect, test } from '@jest/globals';
import { protect } from './protect.ts';

const GOOD = {
  issuer: 'https://auth.example',
  resource: 'https://api.example/v1/',
  scopes: ['a'],
  log: { info: () => {}, warn: () => {}, error: () => {} },
};

/** Returns the mistakes in options, which JavaScript may give in any form. */
function mistakes(more: Readonly<Record<string, unknown>>): string[] {
  try {
    protect({ ...GOOD, ...more });
    return [];
  } catch (error) {
    const [first, ...rest] = String(error).split('\n  ');
    expect(first).toBe('TypeError: protect cannot begin:');
    return rest;
  }
}

describe('options that protect accepts', () => {
  test.each([
    {},
    { issuer: 'http://localhost:3000', resource: 'http://127.0.0.1:3001/' },
    { resource: 'https://api.example' },
    { issuer: 'http://[::1]:3000' },
    { scopes: [] },
    { scopes: () => [] },
    { name: 'Notes', issuerUrl: 'http://authz:3000', dpop: {}, log: console },
    { client: undefined, dpop: undefined, revocation: undefined },
    { dpop: { required: true, nonce: true, secret: 'x'.repeat(32), replay: { set: () => {} } } },
    { dpop: false, revocation: 'none' },
  ])('protect accepts %j', (more) => {
    expect(mistakes(more)).toEqual([]);
  });
});

describe('options that protect refuses with a reason', () => {
  test.each([
    [{ issuer: undefined }, /^issuer: is missing: it must be .*'https:\/\/auth\.example'/],
    [{ issuer: 'https://auth.example/' }, /^issuer: must be .* without a path or a slash/],
    [{ issuer: 'https://auth.example/x' }, /^issuer/],
    [{ issuer: 'http://auth.example' }, /^issuer: must be .* https, or http on this machine/],
    [{ issuer: 'http://127.0.0.1.evil.example' }, /^issuer/],
    [{ issuer: 'auth.example' }, /^issuer/],
    [{ issuer: new URL('https://auth.example') }, /^issuer/],
    [{ resource: 'https://api.example/v1/?a' }, /^resource: must be .* without query or fragment/],
    [{ resource: 'https://api.example/v1/#a' }, /^resource/],
    [{ resource: 'https://u@api.example/' }, /^resource/],
    [{ resource: 'https://API.example/' }, /^resource: .*spelled as in the configuration/],
    [{ resource: 'https://api.example/a/../b' }, /^resource/],
    [{ resource: 'http://api.example/' }, /^resource/],
    [{ scopes: 'a b' }, /^scopes: must be a list, such as \['notes:read'\]/],
    [{ scopes: ['a b'] }, /^scopes: has "a b", which is no scope .*one in each member/],
    [{ scopes: [1] }, /^scopes: has 1/],
    [{ scopes: undefined }, /^scopes: must be a list/],
    [{ scopes: (method: string) => ({ GET: ['a'] })[method] }, /^scopes: what .* HEAD must be/],
    [{ scopes: async () => ['a'] }, /^scopes: what it returns for GET must be a list/],
    [{ scopes: () => ['a b'] }, /^scopes: what it returns for GET has "a b"/],
    [{ scopes: (method: string) => [method.at(9)!.trim()] }, /^scopes: must .* GET too, and threw/],
    [{ name: 'a"b' }, /^name: must be 1 to 64 printable/],
    [{ issuerUrl: 'http://authz:3000/' }, /^issuerUrl/],
    [{ issuerUrl: 'ftp://authz' }, /^issuerUrl/],
    [{ client: { id: 'x' } }, /^client: must be \{ id, secret \}, as `countersign client add/],
    [{ revocation: 'follow' }, /^revocation: needs `client`/],
    [{ revocation: { stale: 'allow', for: 300 } }, /^revocation: needs `client`/],
    [{ revocation: { stale: 'allow' } }, /^revocation: must be 'follow', 'none' or/],
    [{ revocation: 'nome' }, /^revocation: must be/],
    [{ dpop: true }, /^dpop: must be false, or an object/],
    [{ dpop: { nonces: true } }, /^dpop: nonces: is no option; there are required, nonce/],
    [{ dpop: { nonce: 'yes' } }, /^dpop: nonce: must be true or false/],
    [{ dpop: { secret: 'short' } }, /^dpop: secret: must have 32 characters .*openssl rand/],
    [{ dpop: { secret: 1 } }, /^dpop: secret: must have 32/],
    [
      { dpop: { nonce: true, replay: { set: () => {} } } },
      /^dpop: secret: is missing: processes that share .* each other's nonces/,
    ],
    [{ dpop: { replay: {} } }, /^dpop: replay: must be a client of node-redis or ioredis/],
    [{ log: { info() {} } }, /^log: must have the methods info, warn and error/],
    [{ scope: ['a'] }, /^scope: is no option; there are issuer, resource, scopes/],
  ])('protect refuses %j', (more, message) => {
    expect(mistakes(more)).toEqual([expect.stringMatching(message)]);
  });

  test('protect reports all mistakes at once, and refuses a value that is no object', () => {
    expect(mistakes({ issuer: 'x', resource: 'y', scopes: 'z' })).toHaveLength(3);
    for (const nothing of [undefined, null, 'https://auth.example', []]) {
      expect(() => protect(nothing as never)).toThrow(/\{ issuer, resource, scopes \}/);
    }
  });
});
