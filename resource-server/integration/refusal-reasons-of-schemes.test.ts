import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import { MODES, PASSWORD, type Refusing, startRefusing } from './refusing.fixture.ts';

type Fields = Readonly<Record<string, string>>;

describe.each(MODES)('in %s', (_mode, origins) => {
  let at: Refusing;
  beforeAll(async () => {
    at = await startRefusing(origins);
  });
  afterAll(() => at[Symbol.asyncDispose]());

  const send: Refusing['send'] = (...asked) => at.send(...asked);
  const expectTold: Refusing['expectTold'] = (...told) => at.expectTold(...told);

  describe('Digest', () => {
    const h = (text: string) => createHash('sha256').update(text).digest('hex');

    async function fresh(): Promise<Fields> {
      const reply = await send('/dav/a');
      const [challenge] = parseChallenges(String(reply.headers['www-authenticate'])) ?? [];
      return challenge?.params ?? {};
    }

    function answer({ nonce = '', opaque = '' }: Fields, changes: Fields = {}, name = 'alice') {
      const said = {
        nc: '00000001',
        cnonce: 'abc',
        qop: 'auth',
        uri: '/dav/a',
        realm: 'dav',
        ...changes,
      };
      const a1 = h(`${name}:${said.realm}:${changes['password'] ?? PASSWORD}`);
      const a2 = h(`GET:${said.uri}`);
      const response = h(`${a1}:${nonce}:${said.nc}:${said.cnonce}:${said.qop}:${a2}`);
      const { nc, cnonce, qop, uri, realm } = said;
      const algorithm = changes['algorithm'] ?? 'SHA-256';
      const quoted = { username: name, realm, nonce, uri, response, opaque, cnonce };
      const fields = Object.entries(quoted).map(([field, value]) => `${field}="${value}"`);
      return `Digest ${fields.join(', ')}, nc=${nc}, qop=${qop}, algorithm=${algorithm}`;
    }

    test.each<[string, Fields, number, string]>([
      [
        'an algorithm that was not offered',
        { algorithm: 'MD5' },
        401,
        'algorithm was not offered: use SHA-256',
      ],
      ['a qop that was not offered', { qop: 'auth-int' }, 401, 'qop was not offered: use auth'],
      ['another realm', { realm: 'other' }, 401, 'another realm than dav'],
      ['another uri', { uri: '/dav/b' }, 400, 'uri is not the request target'],
      ['a wrong password', { password: 'x' }, 401, 'no such name, or the response is wrong'],
      ['a malformed nc', { nc: '1' }, 400, 'nc is missing or malformed'],
    ])('Digest credentials with %s get the reason', async (_what, changes, status, reason) => {
      const Authorization = answer(await fresh(), changes);
      expectTold(await send('/dav/a', { Authorization }), status, reason);
    });

    test('a repeated nc, a stale nonce and a foreign nonce of Digest each get their reason', async () => {
      const challenge = await fresh();
      const Authorization = answer(challenge);
      expect((await send('/dav/a', { Authorization })).status).toBe(404);
      expectTold(await send('/dav/a', { Authorization }), 401, 'nc was used before');
      at.rs.clock.advance(400);
      const late = answer(challenge, { nc: '00000002' });
      expectTold(await send('/dav/a', { Authorization: late }), 401, 'nonce is stale');
      const foreign = answer({ ...challenge, nonce: 'x' });
      const reason = 'nonce is not ours, or was made for another algorithm';
      expectTold(await send('/dav/a', { Authorization: foreign }), 401, reason);
    });

    test('with Digest an unknown name and a wrong password get the same answer', async () => {
      const replies = [];
      for (const name of ['alice', 'nobody']) {
        const Authorization = answer(await fresh(), { password: 'x' }, name);
        replies.push(await send('/dav/a', { Authorization }));
      }
      expect(replies[1]?.text).toBe(replies[0]?.text);
    });
  });

  test('with Basic an unknown name and a wrong password get the same answer', async () => {
    const texts = [];
    for (const name of ['alice', 'nobody']) {
      const Authorization = `Basic ${Buffer.from(`${name}:x`).toString('base64')}`;
      const reply = await send('/basic/a', { Authorization });
      expectTold(reply, 401, 'unknown name or wrong password');
      texts.push(reply.text);
    }
    expect(texts[1]).toBe(texts[0]);
  });

  test('an API key of another realm gets its reason', async () => {
    const { id, key: shown, secret_hash } = newApiKey(systemRandom);
    const created_at = at.rs.clock.now();
    const record = { id, secret_hash, application: 'a', realm: 'other', scopes: [], created_at };
    await at.rs.stores.apiKeys.add(record);
    const told = await send('/api/a', { 'X-API-Key': shown });
    expectTold(told, 403, 'this API key is of the realm other, not api');
    const forged = await send('/api/a', { 'X-API-Key': shown.replace(/.{8}$/, '00000000') });
    expectTold(forged, 403, /^(?:wrong API key|not an API key)$/);
  });
});
