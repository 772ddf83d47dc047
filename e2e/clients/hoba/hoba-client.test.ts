import { createHash, createPublicKey, verify } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { answer, credentialsIn, endOf, get, sentBy } from '../digest/answers.fixture.ts';
import { quoted, valueOf } from '../digest/challenges.ts';
import { valuesOf } from '../digest/exchange.ts';
import type { HttpRequest } from '../digest/exchange.ts';
import { APPENDIX_B } from './appendix-b.fixture.ts';
import { challengesIn, hobaClient, signed } from './hoba-client.ts';
import type { HobaOptions } from './hoba-client.ts';
import { kidOf, newKey, pemOf } from './keys.ts';
import type { HobaKey } from './keys.ts';
import { encodeToBeSigned, originOf } from './to-be-signed.ts';

let key: HobaKey;
beforeAll(() => {
  key = newKey();
});
const options = (changes: Partial<HobaOptions> = {}): HobaOptions => ({
  key,
  origin: 'https://origin.example',
  nonce: () => 'AAAA',
  ...changes,
});

const asks = (params: string, field = 'WWW-Authenticate') =>
  answer(field.startsWith('WWW') ? 401 : 407, [[field, `HOBA ${params}`]]);
const resultOf = (request: HttpRequest, field?: string) =>
  valueOf(credentialsIn(request, field).params, 'result') ?? '';
/** Expects that the result's signature covers exactly these octets. */
function expectSigned(request: HttpRequest, octets: string, field?: string): void {
  const sig = Buffer.from(resultOf(request, field).split('.')[3] ?? '', 'base64url');
  const publicKey = createPublicKey(key.privateKey);
  expect(verify('sha256', Buffer.from(octets, 'latin1'), publicKey, sig)).toBe(true);
}

describe('RFC 7486 appendix B', () => {
  const { publicKey, kid, signature, ...fields } = APPENDIX_B;
  const der = Buffer.from(publicKey, 'base64url');
  const octets = Buffer.from(signature, 'base64url');

  test('its signature covers the octets that the client would sign', () => {
    const toBeSigned = encodeToBeSigned({ ...fields, kid, realm: '' });
    expect(toBeSigned.toString()).toBe(
      `11:${fields.nonce}1:023:https://example.com:4430:43:${kid}44:${fields.challenge}`,
    );
    const cpk = createPublicKey({ key: der, format: 'der', type: 'spki' });
    expect(verify('sha256', toBeSigned, cpk, octets)).toBe(true);
  });

  test('with its signature the client sends the same field', () => {
    const { challenge, origin, nonce, authorization } = fields;
    const theirs = { key: { ...key, kid }, origin, nonce: () => nonce, sign: () => octets };
    const sent = signed(get('/'), { challenge }, theirs);
    expect(valuesOf(sent.fields, 'Authorization')).toEqual([authorization]);
  });

  test('its challenge is not base64url, and its kid is not a hash of the key', () => {
    const { challenge } = fields;
    const response = asks(`challenge="${challenge}", max-age=10`);
    expect(() => challengesIn(response)).toThrow(challenge);
    expect(createHash('sha256').update(der).digest('base64url')).not.toBe(kid);
  });
});

test('RFC 7486 section 9.4: the kid is the SHA-256 of the SubjectPublicKeyInfo', () => {
  const body = pemOf(key).replaceAll(/-----.*-----|\s/g, '');
  expect(pemOf(key)).toMatch(/^-----BEGIN PUBLIC KEY-----\n/);
  const hash = createHash('sha256').update(Buffer.from(body, 'base64')).digest('base64url');
  expect([key.kid, kidOf(key.privateKey)]).toEqual([hash, hash]);
});

test('RFC 7486 sections 2 and 3: the client sends a plain request, and answers the challenge with the signed values', async () => {
  const exchange = hobaClient(options()).exchange(get('/a'));
  const plain = await sentBy(exchange);
  expect(plain).toEqual(get('/a'));
  const sent = await sentBy(exchange, asks('challenge="YWJj=", max-age="10", realm="r"'));
  expect(sent.target).toBe('/a');
  expect(credentialsIn(sent)).toMatchObject({ scheme: 'HOBA', params: [{ name: 'result' }] });
  expect(resultOf(sent)).toMatch(/^[\w-]{43}\.YWJj=\.AAAA\.[\w-]{342}$/);
  expectSigned(sent, `4:AAAA1:026:https://origin.example:4431:r43:${key.kid}5:YWJj=`);
  await endOf(exchange, asks('challenge=YWJj, max-age=0'));
});

test('lengths count octets: one character of a field is one octet', async () => {
  const exchange = hobaClient(options()).exchange(get('/'));
  await sentBy(exchange);
  const sent = await sentBy(
    exchange,
    answer(401, [
      ['WWW-Authenticate', 'Basic realm="x"'],
      ['WWW-Authenticate', String.raw`hoba max-age=0, challenge=YWJj, realm="a \"b\""`],
    ]),
  );
  expectSigned(sent, `4:AAAA1:026:https://origin.example:4435:a "b"43:${key.kid}4:YWJj`);
  expect(
    encodeToBeSigned({
      nonce: '',
      alg: '',
      origin: '',
      realm: 'caf\u{e9}',
      kid: '',
      challenge: '',
    }),
  ).toEqual(Buffer.from('0:0:0:4:caf\u{e9}0:0:', 'latin1'));
});

test("RFC 7486 section 9.1: at a proxy the client uses 407 and the proxy's fields", async () => {
  const exchange = hobaClient(options({ at: 'proxy' })).exchange(get('/'));
  await sentBy(exchange);
  const sent = await sentBy(exchange, asks('challenge=YWJj, max-age=0', 'Proxy-Authenticate'));
  const octets = `4:AAAA1:026:https://origin.example:4430:43:${key.kid}4:YWJj`;
  expectSigned(sent, octets, 'Proxy-Authorization');
});

test('the client answers challenges of its realm only, because a key is for one realm', async () => {
  const exchange = hobaClient(options({ realm: 'ours' })).exchange(get('/'));
  await sentBy(exchange);
  await endOf(exchange, asks('challenge=YWJj, max-age=0, realm=theirs'));
});

test('each answer has a fresh nonce of 64 bits', () => {
  const [one, other] = [1, 2].map(() => {
    const { nonce: _, ...random } = options();
    return resultOf(signed(get('/'), { challenge: 'YWJj' }, random)).split('.')[2];
  });
  expect(one).toMatch(/^[\w-]{11}$/);
  expect(one).not.toBe(other);
});

test.each([
  ['no challenge', 'max-age=0'],
  ['an empty challenge', 'challenge="", max-age=0'],
  ['a challenge with a dot', 'challenge=YWJj.YWJj, max-age=0'],
  ['no max-age', 'challenge=YWJj'],
  ['a max-age below zero', 'challenge=YWJj, max-age=-1'],
  ['max-age with a colon, as in section 3', 'challenge=YWJj, max-age: 10'],
  ['two realms', 'challenge=YWJj, max-age=0, realm=a, realm=b'],
])('RFC 7486 section 2: a malformed challenge is not answered: %s', async (_what, params) => {
  const exchange = hobaClient(options()).exchange(get('/'));
  await sentBy(exchange);
  await expect(exchange.next(asks(params))).rejects.toThrow(SyntaxError);
});

test.each([
  ['https://www.example.com:8080/foo', 'https://www.example.com:8080'],
  ['https://example.com', 'https://example.com:443'],
  ['http://EXAMPLE.com/', 'http://example.com:80'],
  ['https://[::1]:8443', 'https://[::1]:8443'],
])('RFC 7486 section 2: the origin of %s has its port', (url, origin) => {
  expect(originOf(url)).toBe(origin);
});

describe('the options for tests', () => {
  const challenge = { challenge: 'YWJj' };

  test('prepare changes the signed fields, which are sent with the change', () => {
    const prepare = () => ({
      nonce: 'n',
      alg: '17',
      origin: 'o',
      realm: 'r',
      kid: 'k',
      challenge: 'c',
    });
    const sent = signed(get('/'), challenge, options({ prepare }));
    expect(resultOf(sent)).toMatch(/^k\.c\.n\./);
    expectSigned(sent, '1:n2:171:o1:r1:k1:c');
  });

  test('sign and tamper change the result', () => {
    const sign = () => Buffer.from('sig');
    const sent = signed(get('/'), challenge, options({ sign }));
    expect(resultOf(sent)).toBe(`${key.kid}.YWJj.AAAA.c2ln`);
    const tamper = () => [quoted('result', 'x')];
    expect(resultOf(signed(get('/'), challenge, options({ sign, tamper })))).toBe('x');
  });
});
