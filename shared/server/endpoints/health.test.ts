import { describe, expect, test } from '@jest/globals';
import { parseTarget, type Target } from '#shared/http/target.ts';
import { health, type Ready } from './health.ts';
import type { AnyRequest } from '../message/message.ts';

const well = () => Promise.resolve();
const unwell = () => Promise.reject(new Error('redis://user:secret@host is down'));

/** Returns the answer to a path. */
const answerOf = (path: string, ready: Ready, deadline?: number) =>
  health(ready, deadline === undefined ? {} : { deadline })
    .get(path.replace(/\?.*/, ''))
    ?.answer?.({} as AnyRequest, parseTarget(path) as Target);

describe('health', () => {
  test('`live` is 200 even if the server is not ready', async () => {
    expect(await answerOf('/health/live', unwell)).toMatchObject({ status: 200 });
  });

  test('`ready` is 200 if the server is ready', async () => {
    expect(await answerOf('/health/ready', well)).toEqual({
      status: 200,
      fields: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      body: '{"status":"ok"}',
    });
  });

  test('`ready` for reading does not need a store that can be written', async () => {
    const onlyReads: Ready = async (need) => {
      if (need === 'all') throw new Error('full');
    };
    expect(await answerOf('/health/ready?for=reading', onlyReads)).toMatchObject({ status: 200 });
    expect(await answerOf('/health/ready', onlyReads)).toMatchObject({ status: 503 });
  });

  test.each(['for=writing', 'for=', 'for=reading&for=all'])(
    '`ready` for %s gets 400',
    async (query) => {
      expect(await answerOf(`/health/ready?${query}`, well)).toMatchObject({ status: 400 });
    },
  );

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
    const answer = await answerOf('/health/ready', ready, 10);
    expect(answer).toMatchObject({ status: 503, fields: { 'Retry-After': '1' } });
    const body = String(answer?.body);
    expect(JSON.parse(body)).toMatchObject({ status: 503 });
    expect(body).not.toContain('secret');
  });
});
