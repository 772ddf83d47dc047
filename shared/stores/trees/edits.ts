import { type Edit, type Entry, ImpossibleEdit } from './trees.ts';

/** A function for each kind of edit. */
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

/** Throws `ImpossibleEdit` for an edit that no tree allows. `longest`: bytes of the longest content. */
export function checkEdits(edits: readonly Edit[], longest: number): void {
  for (const edit of edits) byKind(CHECKS, edit, longest);
}

const CHECKS: ByKind<number, void> = {
  put: ({ entry, content }, longest) => {
    if (entry.kind === 'document') notRoot(entry.path);
    if (content !== undefined) isContentOf(entry, content, longest);
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

function isContentOf(entry: Entry, { length }: Uint8Array, longest: number): void {
  if (length > longest) throw new ImpossibleEdit(`content of ${length} bytes is too long`);
  if (entry.kind !== 'document' || entry.length !== length) {
    throw new ImpossibleEdit(`content of ${length} bytes is not that of ${entry.path}`);
  }
}

function notRoot(path: string): void {
  if (path === '') throw new ImpossibleEdit('the root is a collection and stays where it is');
}

function notWithin(path: string, collection: string): void {
  if (path === collection || collection === '' || path.startsWith(`${collection}/`)) {
    throw new ImpossibleEdit(`${path} is within ${collection}`);
  }
}
