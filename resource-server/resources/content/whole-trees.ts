import { byKind, type ByKind } from '#shared/stores/trees/edits.ts';
import type { Edit, TreeView } from '#shared/stores/trees/trees.ts';
import { createAtMost } from '../../exchange/at-most.ts';
import { createInTurn, type InTurn } from '../../../shared/base/in-turn.ts';

/** Changes that are done or wait: of one principal, and principals of whom there are some. */
const MOST_EACH = 9;
const MOST_PRINCIPALS = 32;

/**
 * Turns, by the principal, for changes that take a collection with all that is in it: the store does
 * nothing else meanwhile, so this process does one at a time. Who has many of them holds up another for
 * one only, in whatever tree. Rejects with `HttpError` 503 when too many wait.
 */
export function createWholeTreeTurns(): InTurn {
  const [ofEach, principals] = [
    createAtMost('whole trees', MOST_EACH),
    createAtMost('principals at whole trees', MOST_PRINCIPALS),
  ];
  const [ofOne, inProcess] = [createInTurn(), createInTurn()];
  return (principal, work) =>
    ofEach(principal, () => ofOne(principal, () => principals('', () => inProcess('', work))));
}

/** Whether an edit takes a collection with all that is in it. The view has the paths of the edit. */
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
