import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Stores } from '#shared/stores/stores.ts';
import { edit, puts, someCollection, someDocument } from '#shared/stores/contract/samples.ts';
import { startResourceServer, type TestResourceServer } from '../../resource-server.fixture.ts';
import { propertiesIn } from '../webdav/dav.fixture.ts';

/** Members of a collection. They need more than one page, so that other requests are served in between. */
const MANY = 60;

/** A change that runs once, before the members of a collection are read for the nth time. */
let meanwhile: { before: number; change: () => Promise<void> } | undefined;
const changing = async () => {
  if (meanwhile === undefined || --meanwhile.before > 0) return;
  const { change } = meanwhile;
  meanwhile = undefined;
  await change();
};
const interrupted = (stores: Stores): Stores => ({
  ...stores,
  trees: {
    ...stores.trees,
    async members(...args) {
      await changing();
      return stores.trees.members(...args);
    },
    async list(...args) {
      await changing();
      return stores.trees.list(...args);
    },
  },
});

let rs: TestResourceServer;
beforeAll(async () => {
  rs = await startResourceServer({}, interrupted);
});
afterAll(() => rs[Symbol.asyncDispose]());

/** The collection in which a test creates its collections. */
let home = '';
let tests = 0;
beforeEach(async () => {
  home = `test-${++tests}`;
  meanwhile = undefined;
  await fill('', []);
  await fill('/a/', names('a'));
  await fill('/a/within/', names('within'));
  await fill('/other/', ['other']);
});

const names = (prefix: string, length = 20) =>
  Array.from({ length: MANY }, (_, n) => `${prefix}-${n}`.padEnd(length, 'x'));

async function fill(path: string, members: readonly string[]): Promise<void> {
  const at = `${home}${path}`.replace(/\/$/, '');
  const documents = members.map((name) => someDocument(`${at}/${name}`));
  const { kind } = await edit(rs.stores, '/documents', puts(someCollection(at), ...documents));
  expect(kind).toBe('done');
}

const at = (path: string) => `/documents/${home}${path}`;
const propfind = (path: string, depth: string) =>
  rs.as('PROPFIND', at(path), { headers: { Depth: depth } });
async function done(method: string, path: string, to?: string): Promise<void> {
  rs.clock.advance(0.001);
  const headers = to === undefined ? {} : { Destination: at(to) };
  expect([201, 204]).toContain((await rs.as(method, at(path), { headers })).status);
}
const hrefs = (path: string, members: readonly string[]) =>
  ['', ...members].map((name) => at(path) + name);

const CHANGES: Readonly<Record<string, () => Promise<void>>> = {
  'MOVE of it': () => done('MOVE', '/a/', '/b/'),
  'MOVE of it, and another one in its place': async () => {
    await done('MOVE', '/a/', '/b/');
    await done('MOVE', '/other/', '/a/');
  },
  'MOVE of what it is in': async () => {
    await done('MKCOL', '/c/');
    await done('MOVE', '/a/', '/c/a/');
    await done('MOVE', '/c/', '/d/');
  },
};

const REMOVALS: Readonly<Record<string, () => Promise<void>>> = {
  'DELETE of it': () => done('DELETE', '/a/'),
  'DELETE of it, and a new one in its place': async () => {
    await done('DELETE', '/a/');
    await rs.stores.trees.clear();
    await done('MKCOL', '/a/');
  },
  'MOVE of another one over it': () => done('MOVE', '/other/', '/a/'),
  'DELETE of where it was moved to': async () => {
    await done('MKCOL', '/c/');
    await done('MOVE', '/a/', '/c/a/');
    await done('DELETE', '/c/');
  },
};

describe('RFC 4918 section 9.1: a collection that changes its place between two pages of a PROPFIND', () => {
  describe.each(Object.entries(CHANGES))('%s', (_, change) => {
    test.each([1, 2])(
      'the collection is listed completely if the change comes before page %i',
      async (before) => {
        meanwhile = { before, change };
        const found = [...propertiesIn(await propfind('/a/', '1')).keys()];
        expect(meanwhile).toBeUndefined();
        expect(found.toSorted()).toEqual(hrefs('/a/', ['within/', ...names('a')]).toSorted());
      },
    );

    // The request reads two pages of each of two collections twice, since it counts them first.
    test.each([1, 5, 6, 7, 8])(
      'the collection and all below it are listed completely if the change comes before page %i',
      async (before) => {
        meanwhile = { before, change };
        const found = [...propertiesIn(await propfind('/a/', 'infinity')).keys()];
        expect(meanwhile).toBeUndefined();
        const all = [...hrefs('/a/', names('a')), ...hrefs('/a/within/', names('within'))];
        expect(found.toSorted()).toEqual(all.toSorted());
      },
    );
  });

  test.each(Object.entries(REMOVALS))(
    'after a %s the PROPFIND is 503, and never a partial list',
    async (_, change) => {
      for (const [depth, before] of [
        ['1', 1],
        ['1', 2],
        ['infinity', 6],
        ['infinity', 8],
      ] as const) {
        meanwhile = { before, change };
        const reply = await propfind('/a/', depth);
        expect(meanwhile).toBeUndefined();
        expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
        await rs.as('DELETE', at('/'));
        await fill('', []);
        await fill('/a/', names('a'));
        await fill('/a/within/', names('within'));
        await fill('/other/', ['other']);
      }
    },
  );

  test('a removal after the answer to PROPFIND has begun breaks the answer off', async () => {
    const long = names('long', 2_000);
    await fill('/long/', [...long, ...names('more', 2_000)]);
    meanwhile = { before: 3, change: () => done('DELETE', '/long/') };
    await expect(propfind('/long/', '1')).rejects.toThrow('aborted');
    expect(rs.lines.join('\n')).toContain('response.broken');
  });
});

describe('RFC 9110 section 15.5.5: a collection that is removed before its listing is read', () => {
  test.each(['GET', 'QUERY'])(
    '%s of a collection that is removed meanwhile is 404, and not an empty listing',
    async (method) => {
      const query = { headers: { 'Content-Type': 'application/jsonpath' }, body: '$[*].name' };
      meanwhile = { before: 1, change: () => done('DELETE', '/a/') };
      const reply = await rs.as(method, at('/a/'), method === 'QUERY' ? query : {});
      expect(meanwhile).toBeUndefined();
      expect(reply.status).toBe(404);
    },
  );
});
