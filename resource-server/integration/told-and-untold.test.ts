import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MODES, type Refusing, startRefusing } from './refusing.fixture.ts';
import type { Reply } from '#shared/server/wire/ask.fixture.ts';
import { PAGES } from './resource-server.fixture.ts';

const MISSING = { title: 'Not Found', status: 404, detail: 'There is nothing at this address.' };

type Fields = Readonly<Record<string, string>>;

describe.each(MODES)('in %s', (mode, origins) => {
  const { resource } = origins;
  const development = mode === 'development';
  let at: Refusing;
  beforeAll(async () => {
    at = await startRefusing(origins);
  });
  afterAll(() => at[Symbol.asyncDispose]());

  const send: Refusing['send'] = (...asked) => at.send(...asked);
  const lineOf: Refusing['lineOf'] = (reply) => at.lineOf(reply);
  const token: Refusing['token'] = (claims) => at.token(claims);

  describe('a hidden space gives no reason, in any mode', () => {
    const same = ({ status, text }: Reply) => [status, JSON.parse(text) as unknown];

    test('a space that hides `forbidden` answers 404 like a missing document, and 401 without a reason', async () => {
      const claims = { aud: `${resource}/forbidden/` };
      const bearer = (scope: string) => ({
        Authorization: `Bearer ${token({ ...claims, scope })}`,
      });
      const refused = await send('/forbidden/a', bearer('none'));
      const missing = await send('/forbidden/a', bearer('forbidden:read'));
      expect(same(refused)).toEqual([404, MISSING]);
      expect(same(missing)).toEqual([404, MISSING]);
      expect(lineOf(refused)).toMatchObject({ reason: 'lacks forbidden:read' });
      const nobody = await send('/forbidden/a');
      expect(nobody.text).not.toContain('reason');
      expect(lineOf(nobody)).toMatchObject({ status: 401, reason: 'no credentials' });
    });

    const { publicKey } = generateKeyPairSync('ed25519');
    const a = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url');
    const CONCEALED = [
      ['nothing', undefined],
      ['no parameters', 'Concealed'],
      ['a malformed proof', 'Concealed k=YQ, a=YQ, s=2055, v=YQ, p=YQ'],
      [
        'the proof of a stranger',
        `Concealed k=YQ, a=${a}, s=2055, v=${'A'.repeat(22)}, p=${'A'.repeat(86)}`,
      ],
    ] as const;

    test.each(CONCEALED)(
      'a space that hides `everything` answers %s like a missing space',
      async (_what, line) => {
        const fields: Fields = line === undefined ? {} : { Authorization: line };
        const [hidden, nowhere] = [
          await send('/secret/a', fields),
          await send('/nowhere/a', fields),
        ];
        expect(same(hidden)).toEqual(same(nowhere));
        expect(hidden.text).not.toContain('reason');
      },
    );

    test('for a space that hides `everything`, only the log says why credentials were refused', async () => {
      const logged = [];
      for (const [, line = ''] of CONCEALED.slice(1)) {
        for (const path of ['/secret/a', '/nowhere/a']) {
          const { refusal, reason } = lineOf(await send(path, { Authorization: line }));
          logged.push([refusal, reason]);
        }
      }
      const ignored = ['no-credentials', 'no credentials'];
      const foreign = ['concealed-clear-text', 'not over TLS 1.3'];
      expect(logged).toEqual([ignored, ignored, foreign, foreign, foreign, foreign]);
    });

    test('if a request outside hidden spaces is refused for another reason, the log has that reason, not the one of its credentials', async () => {
      const [, , , [, stranger]] = CONCEALED;
      const reply = await send('/health/live', { Authorization: stranger }, 'DELETE');
      expect(reply.status).toBe(405);
      const { refusal, reason } = lineOf(reply);
      expect([refusal, reason]).toEqual([undefined, expect.stringContaining('methods')]);
    });

    test.each(CONCEALED.slice(1))(
      'a space with Concealed answers %s like a space without',
      async (_what, line) => {
        const Authorization = String(line);
        const [has, hasNot] = [
          await send('/key/a', { Authorization }),
          await send('/documents/a', { Authorization }),
        ];
        expect(same(has)).toEqual(same(hasNot));
        expect(has.text).not.toContain('reason');
      },
    );
  });

  test('/verify answers for a hidden space as for no space', async () => {
    const described = (uri: string) =>
      send('/verify', {
        'X-Forwarded-Method': 'GET',
        'X-Forwarded-Proto': resource.split(':', 1)[0] ?? '',
        'X-Forwarded-Host': new URL(resource).host,
        'X-Forwarded-Uri': uri,
      });
    const [hidden, nowhere] = [await described('/secret/a'), await described('/nowhere/a')];
    expect([hidden.status, hidden.text]).toEqual([403, nowhere.text]);
    expect(hidden.text).not.toContain('reason');
    const ambiguous = await described('/a/../b');
    const reason = 'the forwarded URI is ambiguous';
    expect(lineOf(ambiguous)).toMatchObject({ status: 403, reason });
    expect(ambiguous.text.includes(reason)).toBe(development);
  });

  test('the log gives the reason for which a browser stops after a preflight of a foreign origin', async () => {
    const fields = { Origin: 'https://foreign.example', 'Access-Control-Request-Method': 'PUT' };
    const foreign = await send('/documents/a', fields, 'OPTIONS');
    expect(foreign.status).toBe(204);
    expect(lineOf(foreign)).toMatchObject({
      reason: 'the origin is not in cors.origins of this space',
    });
    const listed = await send('/documents/a', { ...fields, Origin: PAGES }, 'OPTIONS');
    expect(lineOf(listed)).not.toHaveProperty('reason');
  });

  test('a 503 of /health/ready names the dependency that does not answer', async () => {
    at.state.down = 'Redis is away';
    const reply = await send('/health/ready');
    delete at.state.down;
    const reason = expect.stringContaining('Redis is away');
    expect(lineOf(reply)).toMatchObject({ status: 503, reason });
    expect(JSON.parse(reply.text)).toEqual({
      title: 'Service Unavailable',
      status: 503,
      detail: 'What this server depends on does not answer. Try again.',
      ...(development && { reason }),
    });
  });

  test('in development a page shows the reason of a refusal', async () => {
    const reply = await send('/documents/a', { Accept: 'text/html' });
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(reply.text.includes('no credentials')).toBe(development);
  });
});
