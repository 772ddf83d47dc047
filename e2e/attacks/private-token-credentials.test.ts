import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '#shared/people/api-key.ts';
import { encodePadded } from '#shared/private-token/base64url.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { HttpResponse } from '../clients/digest/exchange.ts';
import { rawHttp } from '../parts/raw-http.ts';
import { ONE_STORE } from '../flows/flow.ts';
import {
  pathOf,
  type SpaceName,
  startTokenServers,
  tokenFor,
  type TokenServers,
  TYPES,
  unsound,
} from './private-token.fixture.ts';
import { parseAnswer } from './wire.fixture.ts';

/** Tokens in malformed fields, and tokens beside data that could identify the client. */
describe.each(ONE_STORE)('on %s', (kind) => {
  let servers: TokenServers;
  let key: string;
  let accessToken: string;
  beforeAll(async () => {
    servers = await startTokenServers(kind);
    const { flow } = servers;
    const added = newApiKey(systemRandom);
    key = added.key;
    const { id, secret_hash } = added;
    for (const realm of ['all', 'beside']) {
      const record = { id, application: 'app', realm, scopes: [], secret_hash, created_at: 0 };
      await flow.stores.apiKeys.add(record);
    }
    const aud = `${flow.pair.resource}/all/`;
    accessToken = await flow.forge({ aud, client_id: 'app' });
  });
  afterAll(async () => {
    expect(await unsound(servers)).toEqual([]);
    await servers[Symbol.asyncDispose]();
  });

  let turn = 0;
  async function ask(
    space: SpaceName,
    lines: readonly string[],
    query = '',
  ): Promise<HttpResponse> {
    const { url } = servers.flow.pair.resources[(turn += 1) % 2] ?? { url: '' };
    const head = [
      `GET ${pathOf(space)}${query} HTTP/1.1`,
      'Host: localhost',
      'Connection: close',
      ...lines,
    ];
    return parseAnswer(await rawHttp(url, `${head.join('\r\n')}\r\n\r\n`));
  }

  describe.each(TYPES)('type $type, $name', ({ type }) => {
    const fresh = async (space: SpaceName) => encodePadded(await tokenFor(servers, space, type));
    const good = (token: string) => `Authorization: PrivateToken token="${token}"`;

    /** Expects that each try is refused and leaves the token unused. */
    async function expectRefused(
      space: SpaceName,
      tries: (token: string) => readonly (readonly [status: number, ...lines: string[]])[],
    ): Promise<void> {
      const token = await fresh(space);
      for (const [expected, ...lines] of tries(token)) {
        const { status } = await ask(space, lines);
        const shown = lines.map((line) => line.slice(0, 400));
        expect([shown, status]).toEqual([shown, expected]);
      }
      expect((await ask(space, [good(token)])).status).toBe(200);
    }

    test('RFC 9577 section 2.2.2, RFC 9110 section 11.4: malformed credentials get 401, and two sets of credentials 400', () =>
      expectRefused('tokens', (token) => [
        [400, good(token), good(token)],
        [400, good(token), 'Authorization: Bearer x'],
        [400, 'Authorization: Basic YTpi', good(token)],
        [401, `${good(token)}, token="${token}"`],
        [401, `${good(token)}, TOKEN=${token}`],
        [400, `${good(token)}, Bearer x`],
        [400, `${good(token)}, PrivateToken token="${token}"`],
        [400, `Authorization: Bearer x, PrivateToken token="${token}"`],
        [401, `Authorization: PrivateToken token="${token}`],
        [401, `Authorization: PrivateToken token='${token}'`],
        [401, `Authorization: PrivateToken token="${token}" x`],
        [401, `Authorization: PrivateToken token=""`],
        [401, `Authorization: PrivateToken token="${token}="`],
        [401, `Authorization: PrivateToken token="${token.slice(0, 60)} ${token.slice(60)}"`],
        [401, `Authorization: PrivateToken token="*${token}"`],
        [400, `Authorization: PrivateToken token="${token}\u0000"`],
        [401, 'Authorization: PrivateToken'],
        [401, `Authorization: PrivateToken ${token}`],
        [401, `Authorization: PrivateToken tokens="${token}"`],
        [401, `Authorization: PrivateToken\ttoken="${token}"`],
        [400, `Authorization: PrivateToken\r\n token="${token}"`],
        [401, `Authorization: PrivateTokens token="${token}"`],
        [401, `Authorization: Bearer ${token}`],
        [401, `Proxy-Authorization: PrivateToken token="${token}"`],
        [401, `Cookie: token="${token}"`],
        [401, `X-Authorization: PrivateToken token="${token}"`],
      ]));

    test('a token of 64 KiB gets 401, and 1 MiB gets 431 unread', () => {
      const [long, longer] = [64, 1024].map((kibibytes) => 'A'.repeat(kibibytes * 1024));
      return expectRefused('tokens', (token) => [
        [401, `Authorization: PrivateToken token="${long}"`],
        [401, `${good(token)}${long}`],
        [431, `Authorization: PrivateToken token="${longer}"`],
        [431, `${good(token)}, x="${longer}"`],
        [431, good(token), `X: ${longer}`],
      ]);
    });

    test('other valid spellings of RFC 9110 section 11.4 are admitted', async () => {
      for (const form of [
        (token: string) => `PrivateToken token="${token}"`,
        (token: string) => `PRIVATETOKEN Token = "${token}"`,
        (token: string) => `privatetoken token=${token}`,
        (token: string) => `PrivateToken   token="${token.replaceAll('=', '')}"`,
        (token: string) => `PrivateToken token="${token}", x="y"`,
        (token: string) => `PrivateToken x=y, token="${token}" ,`,
      ]) {
        const line = `Authorization: ${form(await fresh('tokens'))}`;
        expect([line, (await ask('tokens', [line])).status]).toEqual([line, 200]);
        expect([line, (await ask('tokens', [line])).status]).toEqual([line, 401]);
      }
    });

    test('a token beside other credentials, right or wrong, gets 400, and neither is checked (RFC 9577 section 5)', () =>
      expectRefused('all', (token) => [
        [400, good(token), `X-API-Key: ${key}`],
        [400, good(token), 'X-API-Key: x'],
        [400, good(token), `Authorization: Bearer ${accessToken}`],
        [400, good(token), `Authorization: DPoP ${accessToken}`, 'DPoP: x'],
      ]));

    test('a token beside an API key gets 400, even where an API key may accompany other credentials', async () => {
      await expectRefused('beside', (token) => [
        [400, good(token), `X-API-Key: ${key}`],
        [400, good(token), 'X-API-Key: x'],
      ]);
      // A valid API key alone does not admit to a space that needs a token.
      expect((await ask('beside', [`X-API-Key: ${key}`])).status).toBe(401);
    });

    test('a token beside credentials in the query gets 400 (RFC 6750 section 2.3)', async () => {
      const token = await fresh('all');
      for (const query of [
        `?access_token=${accessToken}`,
        '?access_token',
        `?key=${key}`,
        '?a=b&key=x',
      ]) {
        expect([query, (await ask('all', [good(token)], query)).status]).toEqual([query, 400]);
      }
      expect((await ask('all', [good(token)])).status).toBe(200);
    });

    test('a token in the query is ignored and stays unused', async () => {
      const token = await fresh('tokens');
      for (const name of ['token', 'access_token', 'PrivateToken']) {
        expect((await ask('tokens', [], `?${name}=${token}`)).status).toBe(401);
      }
      expect((await ask('tokens', [good(token)])).status).toBe(200);
    });

    test('fields that could identify a client do not change the answer', async () => {
      const names = [
        'DPoP: eyJ0eXAiOiJkcG9wK2p3dCJ9.e30.AAAA',
        'Cookie: session=alice',
        'X-Forwarded-For: 192.0.2.7',
        'Forwarded: for=192.0.2.7',
        'From: alice@example.com',
        'X-Request-Id: alice-1',
      ];
      const plain = await ask('tokens', [good(await fresh('tokens'))]);
      const named = await ask('tokens', [good(await fresh('tokens')), ...names]);
      expect(plain.status).toBe(200);
      const withoutDate = ({ status, fields, content }: HttpResponse) => [
        status,
        fields.filter(([name]) => name !== 'Date'),
        content.toString(),
      ];
      expect(withoutDate(named)).toEqual(withoutDate(plain));
      expect(JSON.parse(plain.content.toString())).toEqual({
        scheme: 'PrivateToken',
        realm: 'tokens',
        principal: { kind: 'anonymous' },
      });
    });
  });
});
