import { type Random, randomId } from '#shared/base/random.ts';
import { checkEdits } from '#shared/stores/trees/edits.ts';
import type { Collection, Lock, Trees } from '#shared/stores/trees/trees.ts';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { argumentsOf, COMMIT, outcomeOf, type CommitReply } from './tree-commit.ts';
import { entryOf, listedOf, memberOf, ROWS, token, untoken } from './tree-rows.ts';

/** KEYS: rows, locks, meta. ARGV: paths. */
const look = script(`
local rows = {}
for n, path in ipairs(ARGV) do rows[n] = redis.call('HGET', KEYS[1], path) end
local meta = redis.call('HMGET', KEYS[3], 'locks', 'bytes', 'entries')
return { rows, redis.call('HVALS', KEYS[2]), meta }
`);

/**
 * KEYS: rows, names, meta. ARGV: `whole`, or anything for rows without dead properties; the path of a collection that
 * has to be there, and its id, or ''; limit, and the two ends of each range. Replies with paths, their rows and the
 * version.
 */
const list = script(`
${ROWS}
if ARGV[2] ~= '' then
  local row = redis.call('HGET', KEYS[1], ARGV[2])
  local id = row and id_of(row)
  if not id or ARGV[3] ~= '' and ARGV[3] ~= id then return false end
end
local paths = {}
for n = 5, #ARGV, 2 do
  local room = ARGV[4] - #paths
  for _, member in ipairs(redis.call('ZRANGE', KEYS[2], ARGV[n], ARGV[n + 1], 'BYLEX', 'LIMIT', 0, room)) do
    paths[#paths + 1] = path_of(member)
  end
end
local found = rows_at(KEYS[1], paths)
if ARGV[1] ~= 'whole' then
  for n, row in ipairs(found) do found[n] = listed(row) end
end
return { paths, found, redis.call('HGET', KEYS[3], 'version') }
`);

/** KEYS: files, content. Replies with the names in both, and those in the second. */
const namesOf = script(`return { redis.call('HKEYS', KEYS[1]), redis.call('HKEYS', KEYS[2]) }`);

/**
 * Bytes. Memory is dear: a tree of 10,000 documents has 27 MiB of such content, about as much as its rows. A file costs a
 * PUT as much CPU as all the rest: it is made, synced, renamed and removed, each in a thread.
 */
const LONGEST_CONTENT = 2048;

const WHOLE = ['whole', entryOf] as const;
const FIRST_LINES = ['listed', listedOf] as const;

/** The ends of what is directly in a collection, after that name. */
const endsOf = (path: string, after: string): string[] => [
  `(${memberOf(path, after)}`,
  `(${path}\u0001`,
];

/**
 * Redis has for each tree, in one slot, `{prefix:tree}:` and
 * - `rows`: hash of path to row (tree-rows.ts);
 * - `names`: sorted set of all but the root, by collection and name;
 * - `files`: hash of the name of each content to how many rows name it;
 * - `content`: hash of the name of short content to it, in base64; longer content is in files;
 * - `locks`: hash of token to JSON;
 * - `relocked`: sorted set of the version and the root of each change of a lock, for the last versions;
 * - `tree`: hash of `version`; of `locks`, how often they have changed; and of what counts for the quota:
 *   `bytes`, `properties`, `entries`.
 */
export function redisTrees(redis: Connection, prefix: string, random: Random): Trees {
  const keys = (tree: string) => {
    const tag = `{${prefix}:${encodeURIComponent(tree)}}`;
    return {
      rows: `${tag}:rows`,
      names: `${tag}:names`,
      files: `${tag}:files`,
      contents: `${tag}:content`,
      locks: `${tag}:locks`,
      meta: `${tag}:tree`,
      relocked: `${tag}:relocked`,
    };
  };

  async function rowsIn<T>(
    tree: string,
    [what, read]: readonly [what: 'whole' | 'listed', read: (path: string, row: string) => T],
    { path, id = '' }: Pick<Collection, 'path' | 'id'>,
    limit: number,
    ends: readonly string[],
  ): Promise<{ version: string | undefined; members: T[] } | undefined> {
    const { rows, names, meta } = keys(tree);
    const reply = await redis.script<[string[], string[], string | null] | null>(
      list,
      [rows, names, meta],
      what,
      path,
      id,
      String(limit),
      ...ends,
    );
    if (reply === null) return undefined;
    const [paths, found, version] = reply;
    const members = paths.map((at, n) => read(at, found[n] ?? ''));
    return { version: version ?? undefined, members };
  }

  return {
    longestContent: LONGEST_CONTENT,

    async get(tree, path) {
      const row = await redis.command<string | null>('HGET', keys(tree).rows, path);
      return row === null ? undefined : entryOf(path, row);
    },

    async look(tree, paths) {
      const { rows, locks, meta } = keys(tree);
      const [found, held, [version, bytes, count]] = await redis.script<
        [(string | null)[], string[], (string | null)[]]
      >(look, [rows, locks, meta], ...paths);
      return {
        entries: new Map(
          paths.map((path, n) => [path, found[n] ? entryOf(path, found[n]) : undefined]),
        ),
        locks: held.map((lock): Lock => JSON.parse(lock)),
        locksVersion: version ?? '0',
        usage: { bytes: Number(bytes), entries: Number(count) },
      };
    },

    version: async (tree) =>
      (await redis.command<string | null>('HGET', keys(tree).meta, 'version')) ?? undefined,

    members: async (tree, collection, after, limit) =>
      (await rowsIn(tree, WHOLE, collection, limit, endsOf(collection.path, after)))?.members,

    list: (tree, path, after, limit) =>
      rowsIn(tree, FIRST_LINES, { path }, limit, endsOf(path, after)),

    async below(tree, path, limit) {
      const ends =
        path === '' ? ['-', '+'] : [`[${path}\0`, `(${path}\u0001`, `[${path}/`, `(${path}0`];
      return (await rowsIn(tree, WHOLE, { path }, limit, ends))?.members ?? [];
    },

    async commit(tree, change) {
      checkEdits(change.edits, LONGEST_CONTENT);
      const { rows, names, files, locks, meta, relocked, contents } = keys(tree);
      return outcomeOf(
        await redis.durable<CommitReply>(
          COMMIT,
          [rows, names, files, locks, meta, relocked, contents],
          ...argumentsOf(change, randomId(random)),
        ),
      );
    },

    // A script has removed everything.
    clear: async () => undefined,

    async content(tree, name) {
      const kept = await redis.command<string | null>('HGET', keys(tree).contents, token(name));
      return kept === null ? undefined : Buffer.from(kept, 'base64');
    },

    async files(tree) {
      const { files, contents } = keys(tree);
      const [all, kept] = await redis.script<[string[], string[]]>(namesOf, [files, contents]);
      const short = new Set(kept);
      return new Set(all.filter((name) => !short.has(name)).map(untoken));
    },
  };
}
