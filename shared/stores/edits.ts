import { type Edit, ImpossibleEdit } from './trees.ts';

/** What is done about each kind of edit. */
export type ByKind<Argument, Result> = {
  readonly [Kind in Edit['kind']]: (
    edit: Extract<Edit, { kind: Kind }>,
    argument: Argument,
  ) => Result;
};

export function byKind<Argument, Result>(
  table: ByKind<Argument, Result>,
  edit: Edit,
  argument: Argument,
): Result {
  const act = table[edit.kind] as (edit: Edit, argument: Argument) => Result;
  return act(edit, argument);
}

/** Throws `ImpossibleEdit` for what is impossible whatever the tree holds. */
export function checkEdits(edits: readonly Edit[]): void {
  for (const edit of edits) byKind(CHECKS, edit, undefined);
}

const CHECKS: ByKind<undefined, void> = {
  put: ({ entry }) => {
    if (entry.kind === 'document') notRoot(entry.path);
  },
  remove: ({ path }) => notRoot(path),
  move: ({ from, to }) => {
    notRoot(from);
    notRoot(to);
    notWithin(from, to);
    notWithin(to, from);
  },
  copy: ({ from, to, deep }) => {
    notRoot(to);
    notWithin(from, to);
    if (deep || from === to) notWithin(to, from);
  },
  lock: () => {},
  unlock: () => {},
};

function notRoot(path: string): void {
  if (path === '') throw new ImpossibleEdit('the root is a collection and stays where it is');
}

function notWithin(path: string, collection: string): void {
  if (path === collection || collection === '' || path.startsWith(`${collection}/`)) {
    throw new ImpossibleEdit(`${path} is within ${collection}`);
  }
}
