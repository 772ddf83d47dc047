import type { Stores } from '../../stores.ts';
import type { Edit } from '../../trees/trees.ts';
import {
  edit,
  NO_QUOTA,
  fresh,
  move,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '../samples.ts';
import { BURST, type Races } from './race.ts';

/** Whether the edits were done. */
const done = async (...attempt: Parameters<typeof edit>): Promise<boolean> =>
  (await edit(...attempt)).kind === 'done';

/** Makes a tree with these edits, and returns its name. */
const prepared = (edits: readonly Edit[]) => async (stores: Stores) => {
  const tree = fresh();
  await edit(stores, tree, edits);
  return tree;
};

export const RACES_OF_TREES = {
  'create a document': {
    prepare: async () => fresh(),
    attempt: (stores, tree) => done(stores, tree, puts(someDocument('a')), { a: undefined }),
    winners: 1,
  },
  'replace a document': {
    prepare: prepared(puts(someDocument('a', { revision: 'v1' }))),
    attempt: (stores, tree) => done(stores, tree, puts(someDocument('a')), { a: 'v1' }),
    winners: 1,
  },
  'change the properties of a document': {
    prepare: prepared(puts(someDocument('a', { revision: 'v1' }))),
    attempt: async (stores, tree) => {
      const entry = await stores.trees.get(tree, 'a');
      if (entry === undefined) throw new Error('the document is gone');
      const changed = { ...entry, revision: fresh(), properties: { '{x:}y': fresh() } };
      return done(stores, tree, puts(changed), { a: 'v1' });
    },
    winners: 1,
  },
  'remove a tree': {
    prepare: prepared(puts(someCollection('a', { revision: 'v1' }), someDocument('a/b'))),
    attempt: (stores, tree) => done(stores, tree, [{ kind: 'remove', path: 'a' }], { a: 'v1' }),
    winners: 1,
  },
  'move a tree': {
    prepare: prepared(puts(someCollection('a', { revision: 'v1' }), someDocument('a/b'))),
    attempt: (stores, tree) => done(stores, tree, [move('a', fresh())], { a: 'v1' }),
    winners: 1,
  },
  'lock the root': {
    prepare: async () => fresh(),
    attempt: async ({ trees }, tree) => {
      const { locks, locksVersion } = await trees.look(tree, []);
      if (locks.length > 0) return false;
      const edits: Edit[] = [{ kind: 'lock', lock: someLock('') }];
      const change = { seen: new Map(), locksVersion, edits, quota: NO_QUOTA };
      return (await trees.commit(tree, change)).kind === 'done';
    },
    winners: 1,
  },
  'fill a collection': {
    prepare: prepared(puts(someCollection('a', { revision: 'v1' }))),
    attempt: (stores, tree) => {
      const room = { ...NO_QUOTA, entries: 1 + BURST };
      return done(stores, tree, puts(someDocument(`a/${fresh()}`)), { a: 'v1' }, room);
    },
    winners: BURST,
  },
} satisfies Races;
