import { describe, expect, test } from '@jest/globals';
import { relyingPartyId, wrongRelyingParty } from './relying-party.ts';
import { configSchema } from './schema.ts';

const config = (issuer: string, rpId?: string) =>
  configSchema.parse({ issuer, people: { passkeys: { ...(rpId !== undefined && { rpId }) } } });

describe('the host of passkeys (WebAuthn section 5.1.2)', () => {
  test.each([
    ['https://login.example.com', undefined, 'login.example.com'],
    ['https://login.example.com:8443', undefined, 'login.example.com'],
    ['https://login.example.com', 'example.com', 'example.com'],
    ['http://localhost:3000', undefined, 'localhost'],
    ['http://a.localhost:3000', undefined, 'a.localhost'],
    ['http://login.example.com', undefined, undefined],
    ['http://127.0.0.1:3000', undefined, undefined],
    ['https://192.0.2.1', undefined, undefined],
    ['https://[2001:db8::1]', undefined, undefined],
  ])('%s with rpId %s has the host %s', (issuer, rpId, host) => {
    expect(relyingPartyId(config(issuer, rpId))).toBe(host);
    expect(wrongRelyingParty(config(issuer, rpId))).toBeUndefined();
  });

  test.each([
    ['https://login.example.com', 'example.org', 'parent domain'],
    ['https://login.example.com', 'in.example.com', 'parent domain'],
    ['https://login.example.com', 'ogin.example.com', 'parent domain'],
    ['https://login.example.com', 'a.login.example.com', 'parent domain'],
    ['https://login.example.com', 'com', 'a domain of your own'],
    ['https://192.0.2.1', '2.1', 'IP address'],
  ])('%s cannot have the rpId %s', (issuer, rpId, why) => {
    expect(wrongRelyingParty(config(issuer, rpId))).toContain(why);
  });
});
