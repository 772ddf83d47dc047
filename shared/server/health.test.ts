import { describe, expect, test } from '@jest/globals';
import { health } from './health.ts';

const well = () => Promise.resolve();
const unwell = () => Promise.reject(new Error('redis://user:secret@host is down'));

describe('health', () => {
  test.each(['/', '/health', '/health/live/', '/health/readyx', '/documents/health/live'])(
    '%s is another path',
    async (path) => {
      expect(await health('GET', path, unwell)).toBeUndefined();
    },
  );

  test('live does not ask whether it is ready', async () => {
    expect(await health('GET', '/health/live', unwell)).toMatchObject({ status: 200 });
  });

  test('ready is 200, and HEAD is the same', async () => {
    const answer = await health('GET', '/health/ready', well);
    expect(answer).toEqual({
      status: 200,
      fields: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      body: '{"status":"ok"}',
    });
    expect(await health('HEAD', '/health/ready', well)).toEqual(answer);
  });

  test.each<[string, () => Promise<void>]>([
    ['rejects', unwell],
    [
      'throws',
      () => {
        throw new Error('secret');
      },
    ],
    ['never answers', () => new Promise(() => {})],
  ])('ready is 503 when what it depends on %s', async (_, ready) => {
    const answer = await health('GET', '/health/ready', ready, 10);
    expect(answer).toMatchObject({ status: 503, fields: { 'Retry-After': '1' } });
    expect(JSON.parse(answer?.body ?? '')).toMatchObject({ status: 503 });
    expect(answer?.body).not.toContain('secret');
  });

  test('RFC 9110 section 15.5.6: another method is 405 with Allow', async () => {
    for (const method of ['POST', 'DELETE', 'PROPFIND']) {
      expect(await health(method, '/health/ready', unwell)).toMatchObject({
        status: 405,
        fields: { Allow: 'GET, HEAD, OPTIONS', 'Content-Type': 'application/problem+json' },
      });
    }
  });

  test('RFC 9110 section 9.3.7: OPTIONS', async () => {
    expect(await health('OPTIONS', '/health/live', unwell)).toEqual({
      status: 204,
      fields: { Allow: 'GET, HEAD, OPTIONS' },
    });
  });
});
