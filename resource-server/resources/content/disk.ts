import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '#shared/base/clock.ts';
import type { Log } from '#shared/base/log.ts';
import type { Random } from '#shared/base/random.ts';
import type { Need } from '#shared/stores/outage/need.ts';
import { HttpError } from '#shared/http/answer.ts';
import { folderOf, treesIn } from '#shared/stores/trees/tree-folder.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import type {
  Collection,
  CommitOutcome,
  Edit,
  Entry,
  Quota,
  Trees,
  TreeView,
} from '#shared/stores/trees/trees.ts';
import { type Content, openContent } from './content.ts';
import { ContentDisk } from './content-disk.ts';
import { ContentMemory } from './content-memory.ts';
import { createFolderSync } from './folder-sync.ts';
import { ReadBuffers } from '../../answers/read-buffers.ts';
import { DamagedContent, damagedContent, quotaExceeded } from './content-errors.ts';
import type { JudgeAgain } from '../../exchange/under-way.ts';
import type { Decision, ResourceStore } from './resource-store.ts';
import { createStoreShare } from './store-share.ts';
import { Uploads } from './uploads.ts';
import { createWholeTreeTurns, takesWholeTree } from './whole-trees.ts';

/**
 * The most pieces of work that run concurrently. More would delay other file operations, since all share a few threads.
 */
const FEW = 16;

/** Runs the work for each item, a few concurrently, starting in their order. */
export async function fewAtATime<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let first = 0; first < items.length; first += FEW) {
    await Promise.all(items.slice(first, first + FEW).map(work));
  }
}

export interface DiskOptions {
  /** The folder that has one folder for each tree. Each is made with mode 0700 together with its first file. */
  readonly folder: string;
  readonly trees: Trees;
  readonly limits: Pick<Limits, 'take'>;
  /** The longest content of a document, in bytes. */
  readonly maxBytes: number;
  /** Bytes of content that are kept in memory. */
  readonly memory: number;
  /** The quota of each tree. */
  readonly quota: Quota;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Trees of resources. Their rows are in the store, as is short content; longer content is in files. */
export interface Disk {
  /**
   * Opens the tree of this name for a holder, to whom uploads and turns are attributed. `judgeAgain` runs
   * before each change. Rejects with `HttpError` 414 if the name is too long for a folder.
   */
  tree(name: string, holder: string, judgeAgain?: JudgeAgain): Promise<ResourceStore>;
  /**
   * Removes the files that a crash or a backup left behind: those that no row names and that were last written more than `age`
   * seconds ago. Does nothing during a backup. Resolves to their number.
   */
  sweep(age: number): Promise<number>;
  /** Rejects if a recent read of a file failed; if `need` is `all`, also after a recent failed write. */
  check(need: Need): Promise<void>;
  /** Removes, in small pieces, what remains of removed collections and of unfinished copies, with its files. */
  clear(): Promise<void>;
}

/** The longest name of a folder, in bytes, that file systems allow. */
const LONGEST = 255;
/** The most tries of a change. */
const TURNS = 100;
/** The number of first tries that follow one another without a pause. */
const EAGER = 5;

/**
 * The most milliseconds of pause after each piece of a removal, for other requests. Otherwise the pause is as long as
 * the piece took.
 */
const LONGEST_REST = 50;

/** The root of a tree that was never changed. */
const ROOT: Collection = {
  path: '',
  kind: 'collection',
  revision: '',
  created: 0,
  modified: 0,
  properties: {},
};

export function openDisk(options: DiskOptions): Disk {
  const { folder, trees, limits, maxBytes, memory, quota, clock, random, log } = options;
  const files = new ContentDisk(folder, log, clock);
  const received = new Map<string, Buffer>();
  const ofAll = {
    files,
    maxBytes,
    received,
    uploads: new Uploads(maxBytes),
    memory: new ContentMemory(memory),
    buffers: new ReadBuffers(),
    sync: createFolderSync(),
    clock,
    random,
  };
  const inTurn = createWholeTreeTurns(createStoreShare({ limits, clock, pause }));
  const contentOf = (tree: string, holder = '') =>
    openContent({
      ...ofAll,
      folder: join(folder, folderOf(tree)),
      holder,
      rows: { longest: trees.longestContent, read: (name) => trees.content(tree, name) },
    });

  let clearing: Promise<void> | undefined;
  const clear = () => (clearing ??= clearAll().finally(() => (clearing = undefined)));
  /** After a failure the periodic task tries again. */
  const clearSoon = () => void clear().catch(() => {});

  async function clearAll(): Promise<void> {
    for (;;) {
      const begun = clock.monotonic();
      const cleared = await trees.clear();
      if (cleared === undefined) return;
      await remove(contentOf(cleared.tree), cleared.released);
      await pause(Math.min(clock.monotonic() - begun, LONGEST_REST));
    }
  }

  /** Removes content that no row names any more. If a backup may still copy it, the sweep removes it later. */
  async function remove(content: Content, released: readonly string[]): Promise<void> {
    if (released.length === 0 || (await files.isBeingCopied())) return;
    await fewAtATime(released, (file) => content.remove(file));
  }

  function withContent(edit: Edit): Edit {
    if (edit.kind !== 'put' || edit.entry.kind !== 'document') return edit;
    const bytes = received.get(edit.entry.file);
    return bytes ? { ...edit, content: bytes } : edit;
  }

  return {
    async tree(name, holder, judgeAgain = () => undefined) {
      if (folderOf(name).length > LONGEST) {
        throw new HttpError(414, 'The name of the tree is too long.');
      }
      return createStore(name, contentOf(name, holder), holder, judgeAgain);
    },

    async sweep(age) {
      let removed = 0;
      for (const name of await treesIn(folder)) {
        if (await files.isBeingCopied()) break;
        const named = () => trees.files(name);
        removed += await contentOf(name).sweep(named, clock, age);
      }
      return removed;
    },

    check: (need) => files.check(need),
    clear,
  };

  function createStore(
    name: string,
    content: Content,
    holder: string,
    judgeAgain: JudgeAgain,
  ): ResourceStore {
    const look = async (paths: readonly string[]) => withRoot(await trees.look(name, paths));

    /** `alone`: whether this change has its turn to change a whole tree. */
    async function change<T>(
      paths: readonly string[],
      decide: (view: TreeView) => Decision<T>,
      { seen, alone }: { readonly seen?: TreeView | undefined; readonly alone: boolean },
    ): Promise<T> {
      for (let turn = 0; turn < TURNS; turn += 1) {
        if (turn > EAGER) await pause(random(1).readUInt8() / 16);
        const view = (turn === 0 ? seen : undefined) ?? (await look(paths));
        let decision: Decision<T>;
        try {
          decision = decide(view);
        } catch (error) {
          // A lock that has expired in the earlier view may have been refreshed since (RFC 4918 section 9.10.2).
          if (view === seen) continue;
          throw error;
        }
        const { edits, value } = decision;
        if (edits.length === 0) return value;
        if (!alone && edits.some((edit) => takesWholeTree(edit, view))) {
          return inTurn(holder, () => change(paths, decide, { alone: true })).finally(clearSoon);
        }
        await judgeAgain();
        const { entries, locksVersion } = view;
        const outcome = await trees.commit(name, {
          seen: new Map([...entries].map(([path, entry]) => [path, revisionOf(entry)])),
          locksVersion,
          edits: edits.map(withContent),
          quota,
        });
        if (outcome.kind === 'done') {
          await remove(content, outcome.released);
          return value;
        }
        if (outcome.kind !== 'conflict') throw REFUSALS[outcome.kind]();
      }
      throw new HttpError(503, 'Other requests are changing the same resource. Try again.', {
        'Retry-After': '1',
      });
    }

    return {
      quota,
      get: async (path) => (await trees.get(name, path)) ?? (path === '' ? ROOT : undefined),
      look,
      version: () => trees.version(name),
      members: (...of) => trees.members(name, ...of),
      list: (...of) => trees.list(name, ...of),
      receive: (...from) => content.add(...from),

      async content(document, range) {
        const { path, file } = document;
        let reason = 'it is missing';
        const found = await content.read(document, range).catch((error: unknown) => {
          if (!(error instanceof DamagedContent)) throw error;
          reason = error.message;
          return undefined;
        });
        if (found !== undefined) return found;
        const current = await trees.get(name, path);
        if (current?.kind !== 'document' || current.file !== file) return undefined;
        log.error('content.damaged', {
          document: `${name}/${path}`,
          file: `content/${folderOf(name)}/${file}`,
          reason,
        });
        throw damagedContent();
      },

      change: (paths, decide, seen) => change(paths, decide, { seen, alone: false }),
    };
  }
}

const REFUSALS: Readonly<
  Record<Exclude<CommitOutcome['kind'], 'done' | 'conflict'>, () => HttpError>
> = {
  full: quotaExceeded,
  'too long': () =>
    new HttpError(
      403,
      'The path of a member would be too long there. Move the members one by one.',
    ),
};

/** The root of a tree that was never changed has no revision in the store. */
const revisionOf = (entry: Entry | undefined) => (entry === ROOT ? undefined : entry?.revision);

function withRoot(view: TreeView): TreeView {
  if (!view.entries.has('') || view.entries.get('')) return view;
  return { ...view, entries: new Map([...view.entries, ['', ROOT]]) };
}
