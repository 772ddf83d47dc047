import { beforeAll, describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import {
  DIRECTORY_TYPE,
  type DirectoryKey,
  formatDirectory,
} from '#shared/private-token/issuer-directory.ts';
import { BLIND_RSA, VOPRF } from '#shared/private-token/token-types.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { Failure } from '../arguments/command.ts';
import { scripted } from '../oauth/oauth.fixture.ts';
import type { SiteChallenge } from '#shared/auth/schemes/private-token/client.ts';
import { fetchIssuerDirectory, keyFor } from './issuer.ts';
import { blindRsaKey } from './parties.fixture.ts';

const NAME = 'issuer.example:8443';
const PLACE = `https://${NAME}/.well-known/private-token-issuer-directory`;
const REQUEST = `https://${NAME}/request`;
const KEYS = [generateVoprfKey(), generateVoprfKey(), generateVoprfKey()].map(
  ({ type, publicKey, id }) => ({ type, publicKey, id }),
);
const document = (keys: readonly DirectoryKey[] = KEYS) =>
  formatDirectory({ requestUrl: REQUEST, keys });

interface Said {
  readonly status?: number;
  readonly type?: string | undefined;
  readonly body?: string;
}
const fetched = async ({ status = 200, type = DIRECTORY_TYPE, body = document() }: Said = {}) => {
  const { send, sent } = scripted({
    [`GET ${PLACE}`]: { status, fields: { 'content-type': type, location: REQUEST }, body },
  });
  return { directory: await fetchIssuerDirectory(send, NAME), sent };
};

describe('RFC 9578 section 4: the directory of an issuer', () => {
  test('is fetched from the well-known address of the name, without other data', async () => {
    const { directory, sent } = await fetched();
    expect(directory).toMatchObject({ requestUrl: REQUEST, keys: KEYS });
    expect(sent).toEqual([{ method: 'GET', url: PLACE, fields: { accept: DIRECTORY_TYPE } }]);
  });

  test('is accepted with parameters of its media type', async () => {
    const { directory } = await fetched({ type: `${DIRECTORY_TYPE.toUpperCase()}; charset=utf-8` });
    expect(directory.keys).toHaveLength(3);
  });

  test.each<[string, Said]>([
    ['a redirect, which is not followed', { status: 302 }],
    ['another status', { status: 201 }],
    ['JSON of another type', { type: 'application/json' }],
    ['a type that begins alike', { type: `${DIRECTORY_TYPE}x` }],
    ['a page', { type: 'text/html', body: '<html>' }],
    ['no JSON', { body: '{' }],
    ['no object', { body: '[]' }],
    ['no keys', { body: JSON.stringify({ 'issuer-request-uri': REQUEST }) }],
    ['a request URL elsewhere', { body: document().replace(NAME, 'evil.example') }],
    ['a request URL in clear', { body: document().replace('https:', 'http:') }],
    ['a request URL with a user', { body: document().replace('https://', 'https://a@') }],
  ])('is refused: %s', async (_, said) => {
    await expect(fetched(said)).rejects.toBeInstanceOf(Failure);
  });
});

describe('the key for a token request', () => {
  const clock = new ManualClock();
  const now = clock.now() / 1000;
  const challenge = (tokenKey?: Buffer, type: SiteChallenge['type'] = VOPRF): SiteChallenge => ({
    type,
    issuer: NAME,
    digest: Buffer.alloc(32),
    tokenKey,
    until: undefined,
  });
  const [first, second, third] = KEYS;
  let rsa: DirectoryKey;
  beforeAll(async () => {
    rsa = await blindRsaKey();
  });
  const choose = (asked: SiteChallenge, ...keys: readonly (DirectoryKey | undefined)[]) =>
    keyFor(asked, { requestUrl: REQUEST, keys: keys.filter((key) => key !== undefined) }, clock);
  const at = (key: DirectoryKey | undefined, notBefore: number) => key && { ...key, notBefore };

  test('RFC 9578 section 4: without a key of the site, is the first of its type that has started', () => {
    const keys = [at(first, now + 1), rsa, at(second, now), third];
    expect(choose(challenge(), ...keys)).toMatchObject({ id: second?.id });
    expect(choose(challenge(undefined, BLIND_RSA), ...keys)).toBe(rsa);
  });

  test("is the site's key, if the issuer publishes it", () => {
    expect(choose(challenge(third?.publicKey), first, second, third)).toBe(third);
  });

  test('RFC 9576 section 6.2: is not a key that is not published', () => {
    expect(() => choose(challenge(third?.publicKey), first, second)).toThrow('recognise you');
    expect(() => choose(challenge(Buffer.alloc(0)), first)).toThrow('recognise you');
    expect(() => choose(challenge(rsa.publicKey), first, rsa)).toThrow('recognise you');
  });

  test('is not a key that has not started', () => {
    expect(() => choose(challenge(first?.publicKey), at(first, now + 1))).toThrow(Failure);
    expect(() => choose(challenge(), at(first, now + 1))).toThrow('no key of type voprf-p384 now');
  });
});
