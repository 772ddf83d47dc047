import { byKind, type ByKind } from '#shared/stores/edits.ts';
import type { Edit, View } from '#shared/stores/trees.ts';
import { createAtMost } from './at-most.ts';
import { createInTurn, type InTurn } from './in-turn.ts';

/** Changes that are done or wait: of one tree, and trees of which there are some. */
const MOST_OF_TREE = 9;
const MOST_TREES = 32;

/**
 * Turns, by the name of a tree, for changes that take a collection with all that is in it: the store does
 * nothing else meanwhile, so this process does one at a time. A tree with many of them holds up another for
 * one only. Rejects with `HttpError` 503 when too many wait.
 */
export function createWholeTreeTurns(): InTurn {
  const [ofTree, trees] = [createAtMost(MOST_OF_TREE), createAtMost(MOST_TREES)];
  const [inTree, inProcess] = [createInTurn(), createInTurn()];
  return (tree, work) =>
    ofTree(tree, () => inTree(tree, () => trees('', () => inProcess('', work))));
}

/** Whether an edit takes a collection with all that is in it. The view has the paths of the edit. */
export function takesWholeTree(edit: Edit, view: View): boolean {
  return byKind(TAKES, edit, view);
}

const isCollection = ({ entries }: View, path: string) => entries.get(path)?.kind === 'collection';

const TAKES: ByKind<View, boolean> = {
  put: () => false,
  remove: ({ path }, view) => isCollection(view, path),
  move: ({ from }, view) => isCollection(view, from),
  copy: ({ from, deep }, view) => deep && isCollection(view, from),
  lock: () => false,
  unlock: () => false,
};
