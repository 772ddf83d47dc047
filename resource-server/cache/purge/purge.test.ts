import { Readable } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import { endedMeanwhile, HttpError } from '#shared/http/answer.ts';
import { BadRequest } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Invalidation } from '#shared/stores/cache/invalidations.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { createPurge } from './purge.ts';

const SPACE = 'https://api.example/app/';

function askedFor(
  method: string,
  fields: Readonly<Record<string, string>> = {},
  content = '',
): AnyRequest {
  const stream = Readable.from(content === '' ? [] : [Buffer.from(content)]);
  const headers = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const rawHeaders = Object.entries(fields).flat();
  return Object.assign(stream, { method, headers, rawHeaders }) as unknown as AnyRequest;
}

/** Creates a purge with a fake store of counts by target, which records the entries of the feed. */
function purgeOf(kept: Readonly<Record<string, number>> = {}) {
  const told: Invalidation[] = [];
  const evicted: [string, boolean][] = [];
  const purge = createPurge({
    space: SPACE,
    evict: async (target, soft) => {
      evicted.push([target, soft]);
      return kept[target] ?? 0;
    },
    invalidations: { add: async (all) => void told.push(...all) },
  });
  return { purge, told, evicted };
}

const of = (value: string, soft = false) => ({ space: SPACE, kind: 'target', value, soft });
const banOf = (value: string, soft = false) => ({ space: SPACE, kind: 'ban', value, soft });

describe('PURGE', () => {
  test('PURGE returns the number of removed answers of this process, and notifies all others', async () => {
    const { purge, told, evicted } = purgeOf({ '/app/a?b': 3 });
    const answer = await purge(askedFor('PURGE'), '/app/a?b');
    expect(answer).toEqual({
      status: 200,
      fields: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
      body: '{"evicted":3,"soft":false}',
    });
    expect(evicted).toEqual([['/app/a?b', false]]);
    expect(told).toEqual([of('/app/a?b')]);
  });

  test('PURGE is 404 if this process stored nothing, and still notifies all others', async () => {
    const { purge, told } = purgeOf();
    await expect(purge(askedFor('PURGE'), '/app/a')).rejects.toMatchObject({ status: 404 });
    expect(told).toEqual([of('/app/a')]);
  });

  test.each(['1', '?1', ' ?1 '])(
    'PURGE with Soft-Purge: %j marks the answers as stale',
    async (value) => {
      const { purge, told, evicted } = purgeOf({ '/app/a': 1 });
      const { body } = await purge(askedFor('PURGE', { 'Soft-Purge': value }), '/app/a');
      expect(body).toBe('{"evicted":1,"soft":true}');
      expect(evicted).toEqual([['/app/a', true]]);
      expect(told).toEqual([of('/app/a', true)]);
    },
  );

  test.each(['0', '?0'])('PURGE with Soft-Purge: %s removes the answers', async (value) => {
    const { purge, told } = purgeOf({ '/app/a': 1 });
    await purge(askedFor('PURGE', { 'Soft-Purge': value }), '/app/a');
    expect(told).toEqual([of('/app/a')]);
  });

  test.each(['yes', 'true', '', '?1, ?1'])(
    'PURGE with Soft-Purge: %j is 400 and changes nothing',
    async (value) => {
      const { purge, told, evicted } = purgeOf();
      const asked = purge(askedFor('PURGE', { 'Soft-Purge': value }), '/app/a');
      await expect(asked).rejects.toBeInstanceOf(BadRequest);
      expect([told, evicted]).toEqual([[], []]);
    },
  );

  test('PURGE of a target that is too long for the feed is 414', async () => {
    const { purge, told } = purgeOf();
    const asked = purge(askedFor('PURGE'), `/${'a'.repeat(8192)}`);
    await expect(asked).rejects.toMatchObject({ status: 414 });
    expect(told).toEqual([]);
  });

  test('PURGE ignores content and a Ban field', async () => {
    const { purge, told } = purgeOf({ '/app/a': 1 });
    await purge(askedFor('PURGE', { Ban: 'path="/*"' }, '{"path":"/*"}'), '/app/a');
    expect(told).toEqual([of('/app/a')]);
  });

  test('PURGE and BAN fail if the feed cannot be written', async () => {
    const unavailable = () => Promise.reject(new StoreUnavailable('full'));
    const purge = createPurge({
      space: SPACE,
      evict: () => 1,
      invalidations: { add: unavailable },
    });
    await expect(purge(askedFor('PURGE'), '/app/a')).rejects.toBeInstanceOf(StoreUnavailable);
    const ban = purge(askedFor('BAN', { Ban: 'tag="a"' }), '/app/');
    await expect(ban).rejects.toBeInstanceOf(StoreUnavailable);
  });
});

describe('BAN', () => {
  test("BAN changes nothing if the caller's access was revoked before the content arrived", async () => {
    const { purge, told } = purgeOf();
    const asked = askedFor('BAN', { 'Content-Type': 'application/json' }, '{"tag":"a"}');
    const judgeAgain = () => Promise.reject(endedMeanwhile());
    await expect(purge(asked, '/app/', judgeAgain)).rejects.toMatchObject({ status: 403 });
    expect(told).toEqual([]);
  });

  test.each([
    ['a field', { Ban: 'path="/a/*", status=404' }, '', '{"path":"/a/*","status":"404"}', false],
    ['a soft field', { Ban: 'tag="a", soft' }, '', '{"tag":"a"}', true],
    ['Soft-Purge', { Ban: 'tag="a"', 'Soft-Purge': '?1' }, '', '{"tag":"a"}', true],
    [
      'content',
      { 'Content-Type': 'application/json' },
      '{"tag":"a","soft":true}',
      '{"tag":"a"}',
      true,
    ],
    [
      'content of another type that is JSON',
      { 'Content-Type': 'application/ban+json; charset=utf-8' },
      ' {"status": "5xx"} ',
      '{"status":"5xx"}',
      false,
    ],
  ])('BAN accepts a rule from %s', async (_, fields, content, value, soft) => {
    const { purge, told, evicted } = purgeOf();
    const { status, body } = await purge(askedFor('BAN', fields, content), '/app/');
    expect(status).toBe(200);
    expect(JSON.parse(body ?? '')).toEqual({ banned: JSON.parse(value), soft });
    expect(told).toEqual([banOf(value, soft)]);
    expect(evicted).toEqual([]);
  });

  const JSON_TYPE = { 'Content-Type': 'application/json' };
  test.each<[string, Record<string, string>, string, number]>([
    ['by nothing', {}, '', 400],
    ['by both', { ...JSON_TYPE, Ban: 'tag="a"' }, '{"tag":"a"}', 400],
    ['by a malformed field', { Ban: 'req.url ~ .' }, '', 400],
    ['by a member twice', JSON_TYPE, '{"tag":"a","tag":"b"}', 400],
    ['by what is no JSON', JSON_TYPE, '{"tag":', 400],
    ['by what is no UTF-8', JSON_TYPE, '{"tag":"\uD800"}\xff', 400],
    ['by JSON that names nothing', JSON_TYPE, '{"soft":true}', 400],
    ['by an unknown member', JSON_TYPE, '{"path":"/","regex":"."}', 400],
    ['by content of another type', { 'Content-Type': 'text/plain' }, '{"tag":"a"}', 415],
    ['by content of no type', {}, '{"tag":"a"}', 415],
    ['by coded content', { ...JSON_TYPE, 'Content-Encoding': 'gzip' }, '{"tag":"a"}', 415],
    ['by long content', JSON_TYPE, `{"tag":"a"}${' '.repeat(8192)}`, 413],
    ['by an announced length', { ...JSON_TYPE, 'Content-Length': '8193' }, '{"tag":"a"}', 413],
  ])('BAN %s is refused, and nothing is banned', async (_, fields, content, status) => {
    const { purge, told } = purgeOf();
    const asked = purge(askedFor('BAN', fields, content), '/app/');
    await expect(asked).rejects.toMatchObject({ status });
    await expect(asked).rejects.toBeInstanceOf(status === 400 ? BadRequest : HttpError);
    expect(told).toEqual([]);
  });
});
