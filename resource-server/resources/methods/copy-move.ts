import { BadRequest, single } from '#shared/http/fields.ts';
import { HttpError, notFound } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Edit, TreeView } from '#shared/stores/trees/trees.ts';
import { type Depth, depthOf } from '../webdav/depth.ts';
import { expectedState } from '../place/expected-state.ts';
import type { LockSystem, Write } from '../webdav/lock-system.ts';
import { isBelow } from '../webdav/locks.ts';
import { LONGEST_PATH, parentOf, urlOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';
import { type Reference, resolveReference } from '../webdav/reference.ts';
import type { ResourceContext } from '../resource/resource.ts';

interface Journey {
  readonly from: string;
  readonly to: string;
  /** Whether all members of the collection are included. */
  readonly deep: boolean;
  /** The time of the change, in milliseconds since the epoch. */
  readonly at: number;
}

/** The differences between COPY and MOVE. */
interface Transfer {
  /** The values of Depth that are allowed for a collection. */
  readonly depths: readonly Depth[];
  /** The writes at the source. */
  readonly leaves: (from: string) => readonly Write[];
  readonly edit: (journey: Journey) => Edit;
  /** The edits of the source's locks. */
  readonly locks: (locks: LockSystem, view: TreeView, from: string) => readonly Edit[];
}

/** COPY (RFC 4918 section 9.8). Locks are not copied (section 7.6). */
export const copy: MethodFactory = transfer({
  depths: ['0', 'infinity'],
  leaves: () => [],
  edit: (journey) => ({ kind: 'copy', ...journey, longest: LONGEST_PATH }),
  locks: () => [],
});

/** MOVE (RFC 4918 section 9.9). Locks do not move (section 7.6). */
export const move: MethodFactory = transfer({
  depths: ['infinity'],
  leaves: (from) => [
    { path: from, deep: true },
    { path: parentOf(from), deep: false },
  ],
  edit: ({ from, to, at }) => ({ kind: 'move', from, to, at, longest: LONGEST_PATH }),
  locks: (locks, view, from) => locks.release(view, from),
});

function transfer({ depths, leaves, edit, locks: leave }: Transfer): MethodFactory {
  return (services) => async (context, place) => {
    const { locks, treeClock } = services;
    const { store, path: from, slash } = place;
    const expected = expectedState(context, place, services);
    const to = destinationOf(context);
    const overwrite = mayOverwrite(context.request);
    const depth = depthOf(context.request) ?? 'infinity';
    const writes = [...leaves(from), { path: to, deep: true }, { path: parentOf(to), deep: false }];

    const paths = [from, parentOf(from), to, parentOf(to), ...expected.paths];
    const done = await store.change(paths, (view) => {
      const source = view.entries.get(from);
      if (source === undefined || (slash && source.kind === 'document')) throw notFound();
      if (source.kind === 'collection' && !depths.includes(depth)) {
        throw new BadRequest(`The Depth of ${context.request.method} is ${depths.join(' or ')}.`);
      }
      const journey = { from, to, deep: depth !== '0', at: treeClock.now() };
      const replaces = view.entries.get(to) !== undefined;
      checkJourney(view, journey, replaces && !overwrite);
      expected.check(view, writes);
      const remove: readonly Edit[] = replaces ? [{ kind: 'remove', path: to }] : [];
      return {
        edits: [
          ...remove,
          ...locks.releaseBelow(view, to),
          edit(journey),
          ...leave(locks, view, from),
        ],
        value: { kind: source.kind, replaces },
      };
    });
    if (done.replaces) return { status: 204, fields: {} };
    const location = urlOf(context.space, { path: to, kind: done.kind });
    return { status: 201, fields: { Location: location } };
  };
}

/** Throws if a resource cannot be copied or moved there (RFC 4918 sections 9.8.5 and 9.9.4). */
function checkJourney({ entries }: TreeView, { from, to, deep }: Journey, occupied: boolean): void {
  if (to === from) throw new HttpError(403, 'The destination is the source.');
  if (deep && isBelow(to, from)) throw new HttpError(403, 'The destination is within the source.');
  if (entries.get(parentOf(to))?.kind !== 'collection') {
    throw new HttpError(409, 'Make the collection of the destination first (MKCOL).');
  }
  if (occupied) throw new HttpError(412, 'There is something at the destination.');
  if (isBelow(from, to)) throw new HttpError(403, 'The source is within the destination.');
}

/** Reads the Overwrite field (RFC 4918 section 10.6). */
function mayOverwrite({ rawHeaders }: AnyRequest): boolean {
  const field = single(rawHeaders, 'overwrite') ?? 'T';
  if (!/^[tf]$/i.test(field)) throw new BadRequest('Overwrite is T or F.');
  return field.toLowerCase() === 't';
}

const REFUSALS: Readonly<Record<Exclude<Reference['kind'], 'here'>, () => Error>> = {
  malformed: () => new BadRequest('Destination is not an absolute URI or path without a query.'),
  // RFC 4918 sections 9.8.5 and 9.9.4.
  elsewhere: () => new HttpError(502, 'Nothing is copied or moved to another server.'),
  'another space': () => new HttpError(403, 'Nothing is copied or moved to another space.'),
};

/** Octets that are not allowed in URIs: spaces, and octets outside ASCII. */
const UNESCAPED = /[ \x80-\xff]/g;

/**
 * Percent-encodes octets that clients such as git-annex leave unescaped. If the field contains a `%`, that may be part
 * of a name or begin an escape, so the field stays unchanged, and is malformed.
 */
const escaped = (field: string) =>
  field.includes('%')
    ? field
    : field.replaceAll(UNESCAPED, (octet) => `%${octet.charCodeAt(0).toString(16)}`);

/**
 * Returns the path in the same tree that the Destination field refers to (RFC 4918 section 10.3). Throws 400 if it
 * is missing or malformed, 502 for another server, 403 for another space of this one.
 */
function destinationOf(context: ResourceContext): string {
  const field = single(context.request.rawHeaders, 'destination');
  if (field === undefined) throw new BadRequest('Name the Destination.');
  const resolved = resolveReference(context, escaped(field));
  if (resolved.kind !== 'here') throw REFUSALS[resolved.kind]();
  const { space } = context;
  // Members below the destination could end up in the other space.
  if (space.encloses([...space.segments, ...resolved.path.split('/')])) {
    throw REFUSALS['another space']();
  }
  return resolved.path;
}
