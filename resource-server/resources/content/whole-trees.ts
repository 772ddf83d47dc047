import { byKind, type ByKind } from '#shared/stores/trees/edits.ts';
import type { Edit, TreeView } from '#shared/stores/trees/trees.ts';
import { createAtMost } from '../../exchange/at-most.ts';
import { createInTurn, type InTurn } from '../../../shared/base/in-turn.ts';
import type { StoreShare } from './store-share.ts';

/** The most changes of one principal, running or waiting, and the most principals with such changes. */
const MOST_EACH = 9;
const MOST_PRINCIPALS = 32;

/**
 * Runs changes of whole collections one at a time in this process, with principals in rotation.
 * During some of these changes the store does nothing else. A principal with many changes delays another by one only,
 * in any tree, and waits alone for its share of the store's time. Rejects with `HttpError` 503 if too many wait, and
 * 429 as the share does.
 */
export function createWholeTreeTurns(share: StoreShare): InTurn {
  const [ofEach, principals] = [
    createAtMost('whole trees', MOST_EACH),
    createAtMost('principals at whole trees', MOST_PRINCIPALS),
  ];
  const [ofOne, inProcess] = [createInTurn(), createInTurn()];

  async function alone<T>(principal: string, work: () => Promise<T>): Promise<T> {
    await share.ofAll();
    return share.counted(principal, work);
  }

  async function inShare<T>(principal: string, work: () => Promise<T>): Promise<T> {
    await share.ofOne(principal);
    return principals('', () => inProcess('', () => alone(principal, work)));
  }

  return (principal, work) =>
    ofEach(principal, () => ofOne(principal, () => inShare(principal, work)));
}

/** True if an edit affects a collection with all its members. The view contains the paths of the edit. */
export function takesWholeTree(edit: Edit, view: TreeView): boolean {
  return byKind(TAKES, edit, view);
}

const isCollection = ({ entries }: TreeView, path: string) =>
  entries.get(path)?.kind === 'collection';

const TAKES: ByKind<TreeView, boolean> = {
  put: () => false,
  remove: ({ path }, view) => isCollection(view, path),
  move: ({ from }, view) => isCollection(view, from),
  copy: ({ from, deep }, view) => deep && isCollection(view, from),
  lock: () => false,
  unlock: () => false,
};
