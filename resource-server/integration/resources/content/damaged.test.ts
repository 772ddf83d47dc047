import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Document } from '#shared/stores/trees/trees.ts';
import type { Call } from '#shared/server/wire/ask.fixture.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';

/** Content longer than the store and the memory keep. */
const LONG = JSON.stringify({ text: 'x'.repeat(70_000) });
const NOTE = '/documents/note';
const JSON_TYPE = { 'Content-Type': 'application/json' };

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer();
});
afterAll(() => rs[Symbol.asyncDispose]());

let file = '';
let lines = 0;
beforeEach(async () => {
  await rs.as('DELETE', NOTE);
  expect((await rs.as('PUT', NOTE, { headers: JSON_TYPE, body: LONG })).status).toBe(201);
  ({ file } = (await rs.stores.trees.get('/documents', 'note')) as Document);
  lines = rs.lines.length;
});

const pathOf = () => join(rs.folder, file);
const FAULTS: Readonly<Record<string, readonly [damage: () => Promise<void>, reason: string]>> = {
  cut: [() => truncate(pathOf(), 1_000), '1000 bytes, not 70011'],
  empty: [() => truncate(pathOf(), 0), '0 bytes, not 70011'],
  'longer than it was': [() => truncate(pathOf(), 100_000), '100000 bytes, not 70011'],
  missing: [() => rm(pathOf()), 'missing'],
  'a link': [
    async () => {
      await rm(pathOf());
      await writeFile(`${pathOf()}-other`, LONG);
      await symlink(`${pathOf()}-other`, pathOf());
    },
    'no regular file',
  ],
  'a folder': [
    async () => {
      await rm(pathOf());
      await mkdir(pathOf());
    },
    'no regular file',
  ],
};

const READERS: Readonly<Record<string, readonly [method: string, call?: Call]>> = {
  GET: ['GET'],
  HEAD: ['HEAD'],
  'GET of a range': ['GET', { headers: { Range: 'bytes=0-9' } }],
  'GET of ranges': ['GET', { headers: { Range: 'bytes=0-9, 20-29' } }],
  QUERY: ['QUERY', { headers: { 'Content-Type': 'application/jsonpath' }, body: '$.text' }],
  PATCH: [
    'PATCH',
    { headers: { 'Content-Type': 'application/merge-patch+json' }, body: '{"a":1}' },
  ],
};

const told = () =>
  rs.lines
    .slice(lines)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ level }) => level === 'error');

describe.each(Object.entries(FAULTS))('a document whose file is %s', (_, [damage, reason]) => {
  beforeEach(() => damage());

  test.each(Object.entries(READERS))(
    'RFC 9110 section 15.6.1: %s of a damaged document is always 500, and a log line names document and file',
    async (__, [method, call]) => {
      for (let times = 1; times <= 3; times += 1) {
        const reply = await rs.as(method, NOTE, call);
        expect(reply.status).toBe(500);
        if (method !== 'HEAD')
          expect(reply.text).toContain('The content of this document is damaged');
        expect(told()).toHaveLength(times);
      }
      expect(told()[0]).toEqual({
        time: expect.any(String),
        level: 'error',
        server: 'resource',
        event: 'content.damaged',
        document: '/documents/note',
        file: `content/%2Fdocuments/${file}`,
        reason: expect.stringContaining(reason),
      });
    },
  );

  test('PUT repairs a damaged document, PROPFIND and conditions work without its content, and DELETE removes it', async () => {
    const { text, status } = await rs.as('PROPFIND', NOTE, { headers: { Depth: '0' } });
    expect(status).toBe(207);
    const etag = /<D:getetag>(.*?)<\/D:getetag>/.exec(text)?.[1] ?? '';
    const conditional = { headers: { 'If-None-Match': etag } };
    expect((await rs.as('GET', NOTE, conditional)).status).toBe(304);
    expect((await rs.as('PUT', NOTE, { headers: JSON_TYPE, body: LONG })).status).toBe(204);
    expect((await rs.as('GET', NOTE)).text).toBe(LONG);
    expect(told()).toEqual([]);
  });

  test('with PUT and PATCH of a damaged document at the same time, the patch applies to the new content, or is 500', async () => {
    const [method, call] = READERS['PATCH'] ?? ['', {}];
    const patching = Array.from({ length: 5 }, () => rs.as(method, NOTE, call));
    const put = rs.as('PUT', NOTE, { headers: JSON_TYPE, body: LONG });
    for (const { status } of await Promise.all(patching)) expect([204, 500]).toContain(status);
    expect((await put).status).toBe(204);
    const { status, text } = await rs.as('GET', NOTE);
    expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining(JSON.parse(LONG))]);
  });

  test('a copy of a damaged document is damaged, too, and both can be moved and removed', async () => {
    const to = (name: string) => ({ headers: { Destination: `/documents/${name}` } });
    expect((await rs.as('COPY', NOTE, to('copy'))).status).toBe(201);
    expect((await rs.as('GET', '/documents/copy')).status).toBe(500);
    expect(told()).toMatchObject([{ document: '/documents/copy' }]);
    expect((await rs.as('MOVE', NOTE, to('moved'))).status).toBe(201);
    for (const name of ['copy', 'moved']) {
      expect((await rs.as('DELETE', `/documents/${name}`)).status).toBe(204);
    }
    expect(told()).toHaveLength(1);
  });
});
