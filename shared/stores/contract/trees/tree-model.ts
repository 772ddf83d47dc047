import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { byKind, type ByKind, checkEdits } from '../../trees/edits.ts';
import {
  type Edit,
  type Entry,
  ImpossibleEdit,
  type CommitOutcome,
  type Quota,
} from '../../trees/trees.ts';
import {
  asPut,
  edit,
  fresh,
  membersIn,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** A simple model of a tree in memory, which is copied for each change. */
interface Model {
  readonly entries: Map<string, Entry>;
  readonly locks: Set<string>;
  readonly dropped: Set<string>;
  /** Paths that are longer than their move or copy allows. */
  readonly tooLong: Set<string>;
}

const isBelow = (path: string, collection: string) => path.startsWith(`${collection}/`);
const parentOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf('/'), 0));

const mustHaveParent = ({ entries }: Model, path: string) => {
  const parent = parentOf(path);
  if (parent === '' || entries.get(parent)?.kind === 'collection') return;
  throw new ImpossibleEdit('no parent');
};

const mustBeFree = (model: Model, path: string) => {
  if (model.entries.has(path)) throw new ImpossibleEdit('not free');
  mustHaveParent(model, path);
};

const drop = ({ dropped }: Model, entry: Entry | undefined) => {
  if (entry?.kind === 'document') dropped.add(entry.file);
};

const APPLY: ByKind<Model, void> = {
  put: ({ entry }, model) => {
    const before = model.entries.get(entry.path);
    if (before !== undefined && before.kind !== entry.kind) throw new ImpossibleEdit('kind');
    mustHaveParent(model, entry.path);
    drop(model, before);
    model.entries.set(entry.path, entry);
  },
  remove: ({ path }, model) => {
    for (const [other, entry] of model.entries) {
      if (other !== path && !isBelow(other, path)) continue;
      drop(model, entry);
      model.entries.delete(other);
    }
  },
  move: ({ from, to, at, longest }, model) => {
    if (!model.entries.has(from)) return;
    mustBeFree(model, to);
    for (const [path, entry] of model.entries) {
      if (path !== from && !isBelow(path, from)) continue;
      model.entries.delete(path);
      const moved = to + path.slice(from.length);
      model.entries.set(moved, { ...entry, path: moved, modified: at });
      if (Buffer.byteLength(moved) > longest) model.tooLong.add(moved);
    }
  },
  copy: ({ from, to, deep, at, longest }, model) => {
    if (!model.entries.has(from)) return;
    mustBeFree(model, to);
    for (const [path, entry] of model.entries) {
      if (path !== from && !(deep && isBelow(path, from))) continue;
      const copied = to + path.slice(from.length);
      model.entries.set(copied, { ...entry, path: copied, created: at, modified: at });
      if (Buffer.byteLength(copied) > longest) model.tooLong.add(copied);
    }
  },
  lock: ({ lock }, { locks }) => void locks.add(lock.token),
  unlock: ({ locks: gone }, { locks }) => gone.forEach(({ token }) => locks.delete(token)),
};

/** Names of content that the store keeps, if it keeps any. Other content is in files. */
const KEPT: ReadonlySet<string> = new Set(['f1', 'f333']);

/** Adds content to edits whose content the store keeps. The content is its own name. */
const withContent = (edits: readonly Edit[]): readonly Edit[] =>
  edits.map((one) =>
    one.kind === 'put' && one.entry.kind === 'document' && KEPT.has(one.entry.file)
      ? { ...one, content: Buffer.from(one.entry.file) }
      : one,
  );

const filesOf = ({ entries }: Model) =>
  new Set([...entries.values()].flatMap((entry) => (entry.kind === 'document' ? entry.file : [])));

const totalOf = ({ entries }: Model): Quota => {
  const sum = (sizeOf: (entry: Entry) => number) =>
    [...entries.values()].reduce((total, entry) => total + sizeOf(entry), 0);
  const properties = sum((entry) =>
    Buffer.byteLength(Object.entries(entry.properties).flat().join('')),
  );
  return {
    bytes: properties + sum((entry) => (entry.kind === 'document' ? entry.length : 0)),
    properties,
    entries: [...entries.keys()].filter((path) => path !== '').length,
  };
};

/** Applies a change to the model. Returns the outcome and the new model. */
function applied(
  model: Model,
  edits: readonly Edit[],
  quota: Quota,
): [CommitOutcome | 'impossible', Model] {
  const next: Model = {
    entries: new Map(model.entries),
    locks: new Set(model.locks),
    dropped: new Set(),
    tooLong: new Set(),
  };
  try {
    checkEdits(edits, 0);
    for (const one of edits) byKind(APPLY, one, next);
  } catch (error) {
    if (error instanceof ImpossibleEdit) return ['impossible', model];
    throw error;
  }
  if (next.tooLong.size > 0) return [{ kind: 'too long' }, model];
  const [before, after] = [totalOf(model), totalOf(next)];
  const exceeded = (what: keyof Quota) => after[what] > quota[what] && after[what] > before[what];
  if (exceeded('bytes') || exceeded('properties') || exceeded('entries'))
    return [{ kind: 'full' }, model];
  const named = filesOf(next);
  const released = [...next.dropped].filter((file) => !named.has(file)).toSorted();
  return [{ kind: 'done', released }, next];
}

/** Few names and files, so that changes affect each other. Some sort before and some after a slash. */
const name = fc.constantFrom('a', 'b', 'a-', 'a0', 'é');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const content = fc.constantFrom('f1', 'f22', 'f333', 'f4444');
const properties = fc.constantFrom<Entry['properties']>(
  {},
  { '{x:}a': '<a xmlns="x:"/>' },
  { '{}é': '<é>{ } 😀</é>', '{}b': '<b/>' },
);
const document = fc
  .tuple(path, content, properties)
  .map(([at, file, dead]) => someDocument(at, { file, properties: dead }));
const collection = fc
  .tuple(fc.oneof(path, fc.constant('')), properties)
  .map(([at, dead]) => someCollection(at, { properties: dead }));
const time = fc.nat();
/** Few bytes: the paths of three names have up to eight. */
const longest = fc.constantFrom(1000, 3, 2, 1);
const aLock = fc.constantFrom('l1', 'l2', 'l3').map((token) => someLock('a', { token }));

const anEdit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 6, arbitrary: collection.map((entry): Edit => ({ kind: 'put', entry })) },
  { weight: 6, arbitrary: document.map((entry): Edit => ({ kind: 'put', entry })) },
  { weight: 2, arbitrary: path.map((at): Edit => ({ kind: 'remove', path: at })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(path, path, time, longest)
      .map(([from, to, at, most]): Edit => ({ kind: 'move', from, to, at, longest: most })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(path, path, fc.boolean(), time, longest)
      .map(([from, to, deep, at, most]): Edit => ({
        kind: 'copy',
        from,
        to,
        deep,
        at,
        longest: most,
      })),
  },
  aLock.map((lock): Edit => ({ kind: 'lock', lock })),
  fc.array(aLock).map((locks): Edit => ({ kind: 'unlock', locks })),
);

const AMPLE: Quota = { bytes: 10_000, properties: 10_000, entries: 1000 };

const quota = fc.oneof(
  fc.constant(AMPLE),
  fc.record({ bytes: fc.nat(100), properties: fc.nat(50), entries: fc.nat(15) }),
);

const changes = fc.array(fc.tuple(fc.array(anEdit, { minLength: 1, maxLength: 3 }), quota), {
  minLength: 5,
  maxLength: 30,
});

const NOTHING: Model = {
  entries: new Map(),
  locks: new Set(),
  dropped: new Set(),
  tooLong: new Set(),
};

/** The first edits of each sequence, since most edits need a collection. */
const BEGINNING = puts(
  ...['a', 'b', 'a-', 'a/b', 'a/a-', 'b/é'].map((at) => someCollection(at)),
  ...['é', 'a/a0', 'a/b/a'].map((at) => someDocument(at, { file: 'f333' })),
);

const inOrder = (paths: Iterable<string>, key: (path: string) => string) =>
  [...paths].toSorted((a, b) => Buffer.compare(Buffer.from(key(a)), Buffer.from(key(b))));

/** Checks that any sequence of changes has the same results on the store as on the model. */
export function modelContract(contract: () => Contract): void {
  describe('changes of a tree', () => {
    test('any sequence of changes has the same results as in a simple model', async () => {
      const { one, other } = contract();
      const keeps = one.trees.longestContent >= 0;
      const isFile = (file: string) => !keeps || !KEPT.has(file);
      const compare = async (tree: string, model: Model) => {
        const { locks, usage } = await other.trees.look(tree, []);
        const { bytes, entries } = totalOf(model);
        expect(usage).toEqual({ bytes, entries });
        expect(new Set(locks.map((lock) => lock.token))).toEqual(model.locks);
        const named = filesOf(model);
        expect(await other.trees.files(tree)).toEqual(new Set([...named].filter(isFile)));
        for (const file of KEPT) {
          const expected = named.has(file) && !isFile(file) ? Buffer.from(file) : undefined;
          expect(await other.trees.content(tree, file)).toEqual(expected);
        }
        const byCollection = (at: string) =>
          `${parentOf(at)}\0${at.slice(at.lastIndexOf('/') + 1)}`;
        const rest = inOrder(model.entries.keys(), byCollection).filter((at) => at !== '');
        const below = (await other.trees.below(tree, '', 1000)).map(asPut);
        expect(below).toEqual(rest.map((at) => model.entries.get(at)));
        const root = await other.trees.get(tree, '');
        expect(root && asPut(root)).toEqual(model.entries.get(''));
        for (const at of ['a', 'a/b', 'a-']) {
          const deep = (await other.trees.below(tree, at, 1000)).map(asPut);
          expect(deep).toEqual(below.filter((entry) => isBelow(entry.path, at)));
          const members = await membersIn(other, tree, at);
          expect(members).toEqual(below.filter((entry) => parentOf(entry.path) === at));
          const list = await other.trees.list(tree, at, '', 1000);
          expect(members).toMatchObject(list?.members ?? []);
        }
      };

      await fc.assert(
        fc.asyncProperty(changes, async (sequence) => {
          const tree = fresh();
          let model: Model = NOTHING;
          for (const [edits, room] of [[BEGINNING, AMPLE] as const, ...sequence]) {
            const [expected, next] = applied(model, edits, room);
            const done = keeps ? withContent(edits) : edits;
            const outcome = await edit(one, tree, done, {}, room).catch((error: unknown) => {
              if (error instanceof ImpossibleEdit) return 'impossible' as const;
              throw error;
            });
            const found =
              typeof outcome === 'object' && outcome.kind === 'done'
                ? { ...outcome, released: outcome.released.toSorted() }
                : outcome;
            const left =
              typeof expected === 'object' && expected.kind === 'done'
                ? { ...expected, released: expected.released.filter(isFile) }
                : expected;
            expect(found).toEqual(left);
            model = next;
          }
          await compare(tree, model);
        }),
        { numRuns: 100 },
      );
    });

    test('the generated changes have every possible outcome', () => {
      const outcomes = new Map<string, number>();
      for (const sequence of fc.sample(changes, 1000)) {
        let model: Model = NOTHING;
        for (const [edits, room] of [[BEGINNING, AMPLE] as const, ...sequence]) {
          const [expected, next] = applied(model, edits, room);
          const kind = typeof expected === 'string' ? expected : expected.kind;
          outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
          model = next;
        }
      }
      for (const kind of ['done', 'full', 'too long', 'impossible']) {
        expect(outcomes.get(kind)).toBeGreaterThan(10);
      }
    });
  });
}
