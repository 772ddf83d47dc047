import { describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { testKey } from '#shared/gnap/client.fixture.ts';
import { ask, given, gnap, refusedWith, sendRaw } from './attacks.fixture.ts';
import { CALLBACK, READ, REDIRECT } from './gnap.fixture.ts';

describe('malformed grant requests', () => {
  const BEGIN = '{"access_token":{"access":["photos:read"]},';
  const client = () => `"client":{"key":${JSON.stringify(gnap.key.byValue)}}}`;
  const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  test.each<[string, () => string | Buffer]>([
    ['nothing', () => ''],
    ['no JSON', () => 'client=x'],
    ['a list', () => '[]'],
    ['a member twice', () => `${BEGIN}${client().slice(0, -1)},${client()}`],
    ['null', () => 'null'],
    ['a number', () => '1'],
    ['a string', () => '"client"'],
    ['a list for the client', () => '{"client":[]}'],
    ['an empty identifier', () => '{"client":""}'],
    ['a list for access_token.access', () => `{"access_token":{"access":{}},${client()}`],
    ['no access', () => `{"access_token":{"access":[]},${client()}`],
    ['no tokens', () => `{"access_token":[],${client()}`],
    ['numbers for access', () => `{"access_token":{"access":[1]},${client()}`],
    ['a list for interact', () => `${BEGIN}"interact":[],${client()}`],
    ['a text for start', () => `${BEGIN}"interact":{"start":"redirect"},${client()}`],
    [
      'a list for finish',
      () => `${BEGIN}"interact":{"start":["redirect"],"finish":[]},${client()}`,
    ],
    [
      'numbers for flags',
      () => `{"access_token":{"access":["photos:read"],"flags":[1]},${client()}`,
    ],
    ['a list for subject', () => `{"subject":[],${client()}`],
    ['a list for user', () => `${BEGIN}"user":[],${client()}`],
    [
      'a nonce of two lines',
      () =>
        `${BEGIN}"interact":{"start":["redirect"],"finish":{"method":"redirect","uri":"${CALLBACK}","nonce":"a\\nb"}},${client()}`,
    ],
    [
      'an empty nonce',
      () =>
        `${BEGIN}"interact":{"start":["redirect"],"finish":{"method":"redirect","uri":"${CALLBACK}","nonce":""}},${client()}`,
    ],
    [
      'an unknown hash',
      () =>
        `${BEGIN}"interact":{"start":["redirect"],"finish":{"method":"redirect","uri":"${CALLBACK}","nonce":"n","hash_method":"md5"}},${client()}`,
    ],
    [
      'a hash named as a member of Object',
      () =>
        `${BEGIN}"interact":{"start":["redirect"],"finish":{"method":"redirect","uri":"${CALLBACK}","nonce":"n","hash_method":"constructor"}},${client()}`,
    ],
    [
      'a start mode named as a member of Object',
      () => `${BEGIN}"interact":{"start":["__proto__","constructor","toString"]},${client()}`,
    ],
    [
      'a finish method named as a member of Object',
      () =>
        `${BEGIN}"interact":{"start":["redirect"],"finish":{"method":"__proto__","uri":"${CALLBACK}","nonce":"n"}},${client()}`,
    ],
    ['a byte order mark', () => `\uFEFF${BEGIN}${client()}x`],
    [
      'octets that are no UTF-8',
      () =>
        Buffer.concat([
          Buffer.from(`${BEGIN}"a":"`),
          Buffer.from([0xff, 0xfe]),
          Buffer.from(`",${client()}`),
        ]),
    ],
    ['UTF-16', () => Buffer.from(`${BEGIN}${client()}`, 'utf16le')],
    ['lists in lists', () => deep(7500)],
    ['lists in lists for a client', () => `{"client":${deep(7000)}}`],
    ['lists in lists for a key', () => `{"client":{"key":${deep(7000)}}}`],
    ['lists in lists for a right', () => `{"access_token":{"access":[${deep(7000)}]},${client()}`],
    ['lists that never end', () => '['.repeat(16_000)],
    [
      '21 rights',
      () =>
        `{"access_token":{"access":${JSON.stringify(Array(21).fill('photos:read'))}},${client()}`,
    ],
    [
      '11 tokens',
      () =>
        `{"access_token":${JSON.stringify(Array.from({ length: 11 }, (_, label) => ({ label: `${label}`, access: ['photos:read'] })))},${client()}`,
    ],
  ])("%s is refused as the client's mistake", async (_, content) => {
    const { status, body } = await sendRaw(content());
    expect(status).toBe(400);
    expect(['invalid_request', 'invalid_client', 'invalid_interaction']).toContain(body.error.code);
  });

  test.each<[string, (jwk: string) => string]>([
    [
      'in the key',
      (jwk) => `{"key":{"proof":"httpsig","jwk":${jwk.replace('}', `,"n":${deep(7000)}}`)}}`,
    ],
    ['beside the key', (jwk) => `{"key":{"proof":"httpsig","jwk":${jwk},"more":${deep(7000)}}}`],
    [
      'beside the name',
      (jwk) => `{"key":{"proof":"httpsig","jwk":${jwk}},"display":{"uri":${deep(7000)}}}`,
    ],
  ])('deeply nested lists %s cause no failure of the server', async (_, clientOf) => {
    const own = clientOf(JSON.stringify(gnap.key.byValue.jwk));
    const { status } = await sendRaw(`${BEGIN}"interact":{"start":["redirect"]},"client":${own}}`);
    expect(status).toBeLessThan(500);
  });

  test('nested lists in a hint cause no error 500', async () => {
    const user = `{"sub_ids":[{"format":"opaque","id":${deep(7000)}}]}`;
    const { status } = await sendRaw(
      `${BEGIN}"interact":{"start":["redirect"]},"user":${user},${client()}`,
    );
    expect(status).toBeLessThan(500);
  });

  test('more than 16 KiB are refused with 413', async () => {
    const told = await sendRaw(`${BEGIN}"more":"${'x'.repeat(33_000)}",${client()}`);
    expect(told.status).toBe(413);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'multipart/form-data',
    'application/jwt',
    '',
  ])('content of the type %j is refused with 415', async (type) => {
    const told = await sendRaw(`${BEGIN}${client()}`, type);
    expect(told.status).toBe(415);
  });

  test('__proto__ in a request has no effect', async () => {
    const machine = testKey('machine');
    await gnap.register(machine);
    const key = JSON.stringify(machine.byValue);
    const requests = [
      `{"access_token":{"access":["photos:read"],"__proto__":{"flags":["bearer"]}},"client":{"key":${key}}}`,
      `{"__proto__":{"access_token":{"access":["photos:read"]}},"client":{"key":${key}}}`,
      `{"access_token":{"access":[{"type":"photo-api","actions":["read"],"__proto__":{"privileges":["x"]}}]},"client":{"key":${key}}}`,
      `{"access_token":{"access":[{"type":"__proto__","actions":["read"]}]},"client":{"key":${key}}}`,
      `{"access_token":{"access":[{"type":"constructor","actions":["name"]}]},"client":{"key":${key}}}`,
      `{"access_token":{"access":[{"type":"photo-api","actions":["__proto__"]}]},"client":{"key":${key}}}`,
    ];
    for (const content of requests) {
      const { status, body } = await sendRaw(content, undefined, machine);
      expect(status).toBeLessThan(500);
      if (status === 200) {
        expect(body.access_token).not.toHaveProperty('flags');
        expect(decodeJwt(body.access_token.value)).toMatchObject({ cnf: expect.anything() });
      }
    }
    expect({}).not.toHaveProperty('flags');
  });

  test('subject formats named like members of Object are ignored', async () => {
    const subject = { sub_id_formats: ['constructor', '__proto__', 'toString', 'hasOwnProperty'] };
    expect(await ask({ subject, interact: REDIRECT })).toMatchObject(
      refusedWith('invalid_request'),
    );
    const { told } = await given({ ...READ, subject });
    expect(told.body).not.toHaveProperty('subject');
  });
});
