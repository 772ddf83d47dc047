import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { explainSignatures } from '#shared/explain/http-signature.ts';
import { parseRawRequest } from '#shared/explain/raw-request.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import { inProcess, TestShell } from '../cli.fixture.ts';
import { listen } from '../listen.fixture.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const JWK = { ...privateKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' };

/** A folder with these files. A value that is no string is written as JSON. */
async function folderWith(files: Readonly<Record<string, unknown>>) {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    await writeFile(
      join(folder, name),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  }
  return (name: string) => join(folder, name);
}

/** Sends a request with the command, and returns the request that the server received. */
async function sent(...args: readonly string[]) {
  const at = await folderWith({ 'key.jwk': JWK });
  const server = await listen(() => ({ body: 'done' }));
  const shell = new TestShell();
  const url = `${server.origin}/gnap?a=%20b`;
  const ended = await inProcess(shell, 'request', 'POST', url, '--sign', at('key.jwk'), ...args);
  const [received] = server.received;
  const { headers = {}, content = Buffer.alloc(0) } = received ?? {};
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  const raw = `POST /gnap?a=%20b HTTP/1.1\r\n${fields.join('')}\r\n${content.toString('latin1')}`;
  return { ended, raw, origin: server.origin, headers };
}

/** Explains a request with the public key. */
async function explained(raw: string, origin: string, key?: unknown) {
  const jwk = key ?? { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' };
  const at = await folderWith({ 'request.txt': raw, 'public.jwk': jwk });
  const options = ['--key', at('public.jwk'), '--origin', origin, '--json'];
  const { code, stdout, stderr } = await inProcess(
    new TestShell(),
    'signature',
    'explain',
    at('request.txt'),
    ...options,
  );
  return { code, stderr, ...(code === 2 || stdout === '' ? {} : JSON.parse(stdout)) };
}

const GNAP = ['--tag', 'gnap', '--header', 'Authorization: GNAP abc', '--data', '{"a":1}'];

describe('request --sign', () => {
  test('RFC 9421: the received request has a valid signature, which GNAP accepts', async () => {
    const { ended, raw, origin } = await sent(
      ...GNAP,
      '--header',
      'Content-Type: application/json',
    );
    expect([ended.code, ended.stdout]).toEqual([0, 'done']);
    expect(await explained(raw, origin)).toMatchObject({
      code: 0,
      content: { digest: 'right' },
      signatures: [
        {
          covers: [
            { component: '"@method"', value: 'POST' },
            { component: '"@target-uri"', value: `${origin}/gnap?a=%20b` },
            { component: '"authorization"', value: 'GNAP abc' },
            { component: '"content-type"', value: 'application/json' },
            { component: '"content-digest"' },
          ],
          parameters: { keyid: 'k1', tag: 'gnap' },
          signature: 'good',
        },
      ],
    });
  });

  test('without a body there is no digest, without --tag no tag, and no token is sent', async () => {
    const { raw, origin, headers } = await sent();
    expect(headers).not.toHaveProperty('authorization');
    const { signatures, content } = await explained(raw, origin);
    expect(content).toEqual({ digest: 'absent' });
    expect(signatures[0].parameters).not.toHaveProperty('tag');
    expect(signatures).toMatchObject([
      { signature: 'good', gnap: refuse('signature-tag', { tag: 'gnap' }) },
    ]);
  });

  test.each<[string, readonly string[], RegExp]>([
    ['--client', ['--client', 'machine'], /without one another/],
    ['--concealed', ['--concealed', 'key.pem'], /without one another/],
  ])('cannot be combined with %s', async (_option, more, reason) => {
    const { ended } = await sent(...more);
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringMatching(reason)]);
  });

  test('--tag needs --sign, and --sign refuses Authorization', async () => {
    const shell = () => new TestShell();
    const url = 'http://127.0.0.1:1/';
    const tagged = await inProcess(shell(), 'request', 'GET', url, '--tag', 'gnap');
    expect([tagged.code, tagged.stderr]).toEqual([2, expect.stringContaining('goes with --sign')]);
    const header = ['--header', 'Authorization: GNAP abc'];
    const given = await inProcess(shell(), 'request', 'GET', url, ...header);
    expect([given.code, given.stderr]).toEqual([2, expect.stringContaining('command sets it')]);
  });

  test.each<[string, unknown, RegExp]>([
    ['no JSON', 'PRIVATE KEY', /neither a JWK nor a JWK Set/],
    ['a list', [JWK], /neither a JWK nor a JWK Set/],
    ['two keys', { keys: [JWK, JWK] }, /not exactly one key/],
    ['no kid', { ...JWK, kid: undefined }, /no kid/],
    ['no alg', { ...JWK, alg: undefined }, /alg of the key/],
    ['a public key', { ...JWK, d: undefined }, /no private key/],
    ['a symmetric key', { kty: 'oct', k: 'AA', kid: 'k', alg: 'HS256' }, /alg of the key/],
  ])('a key file with %s is refused', async (_what, content, reason) => {
    const at = await folderWith({ 'key.jwk': content });
    const asked = ['request', 'GET', 'http://127.0.0.1:1/', '--sign', at('key.jwk')];
    const { code, stderr } = await inProcess(new TestShell(), ...asked);
    expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
  });
});

describe('signature explain', () => {
  test('reports a changed field, method, address or content, each with its reason', async () => {
    const { raw, origin } = await sent(...GNAP);
    const wrong = [{ signature: 'wrong', wrong: refuse('signature-wrong') }];
    const changes = [
      await explained(raw.replace('POST', 'PUT'), origin),
      await explained(raw.replace('/gnap?', '/gnap/?'), origin),
      await explained(raw.replace('GNAP abc', 'GNAP abd'), origin),
      await explained(raw, 'https://other.example'),
    ];
    for (const one of changes) expect(one).toMatchObject({ code: 1, signatures: wrong });
    expect(changes.map(({ signatures }) => signatures[0].gnap)).toEqual(
      changes.map(() => refuse('signature-wrong')),
    );
    expect(await explained(raw.replace('{"a":1}', '{"a":2}'), origin)).toMatchObject({
      code: 1,
      signatures: [{ signature: 'good', gnap: refuse('content-digest-wrong') }],
      content: { digest: 'wrong', wrong: refuse('content-digest-wrong') },
    });
  });

  test('RFC 9635 section 7.3.1: names the components that GNAP requires', async () => {
    const { raw, origin } = await sent(...GNAP);
    const uncovered = raw.replace(' "authorization"', '');
    expect((await explained(uncovered, origin)).signatures).toMatchObject([
      { signature: 'wrong', gnap: refuse('signature-uncovered', { component: '"authorization"' }) },
    ]);
  });

  test('reports a missing component, an unknown key, and a missing signature', async () => {
    const { raw, origin } = await sent(...GNAP);
    const without = await explained(raw.replace(/authorization: .*\r\n/, ''), origin);
    expect(without.signatures[0]).toMatchObject({
      signature: 'wrong',
      wrong: refuse('component-absent', { name: 'authorization' }),
      covers: expect.arrayContaining([
        { component: '"authorization"', value: '(none: the message has no authorization)' },
      ]),
    });
    const other = { ...JWK, kid: 'other' };
    expect((await explained(raw, origin, other)).signatures).toMatchObject([
      { signature: 'unknown' },
    ]);
    const bare = await explained('GET / HTTP/1.1\nHost: a.example', origin);
    expect(bare).toMatchObject({ code: 0, signatures: [], content: { digest: 'absent' } });
  });

  test.each<[string, string, RegExp]>([
    ['no request line', 'hello\n', /first line is no request line/],
    ['an answer', 'HTTP/1.1 200 OK\n\n', /first line is no request line/],
    ['a line that is no field', 'GET / HTTP/1.1\nnothing\n\n', /no field/],
    ['a label twice', 'GET / HTTP/1.1\nSignature-Input: a=(), a=()\n\n', /label twice/],
    ['a signature without its input', 'GET / HTTP/1.1\nSignature: a=:AA:\n\n', /different labels/],
  ])('%s is refused', async (_what, raw, reason) => {
    const { code, stderr } = await explained(raw, 'https://a.example');
    expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
  });

  test('any octets are explained or refused with a reason', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array().map((octets) => Buffer.from(octets)),
          fc.string().map((text) => Buffer.from(`GET / HTTP/1.1\nHost: a.example\n${text}`)),
          fc.string().map((text) => Buffer.from(`GET /${text}\nSignature-Input: a=(${text})`)),
        ),
        (octets) => {
          try {
            explainSignatures(parseRawRequest(octets, 'https://a.example'), new Map(), 0);
          } catch (error) {
            expect(['Unreadable', 'BadSignature']).toContain((error as Error).name);
          }
        },
      ),
    );
  });

  test.each(['https://a.example/', 'a.example', 'https://a.example/b'])(
    '--origin %s is refused, because it would change the signed URL',
    async (origin) => {
      const at = await folderWith({ 'request.txt': 'GET / HTTP/1.1\n\n' });
      const asked = ['signature', 'explain', at('request.txt'), '--origin', origin];
      const { code, stderr } = await inProcess(new TestShell(), ...asked);
      expect([code, stderr]).toEqual([2, expect.stringContaining('without a path')]);
    },
  );

  test('without Host and --origin the signed URL is unknown', async () => {
    const at = await folderWith({ 'request.txt': 'GET /foo HTTP/1.1\n\n' });
    const { code, stderr } = await inProcess(
      new TestShell(),
      'signature',
      'explain',
      at('request.txt'),
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('--origin')]);
  });
});
