import { type EntityTag, strongMatch } from '#shared/http/etag.ts';
import { BadRequest, single } from '#shared/http/fields.ts';
import { type Condition, parseIf } from '#shared/http/if-field.ts';
import type { Lock, TreeView } from '#shared/stores/trees/trees.ts';
import type { Write } from '../webdav/lock-system.ts';
import { locked } from '../webdav/locked.ts';
import type { Place, Services } from './place.ts';
import {
  evaluateConditions,
  preconditionFailed,
  type Validators,
} from '../../answers/preconditions.ts';
import { resolveReference } from '../webdav/reference.ts';
import type { ResourceContext } from '../resource/resource.ts';

/**
 * The state that a request expects: the conditions of RFC 9110 section 13, the If field of RFC 4918 section 10.4,
 * and the lock tokens in it.
 */
export interface ExpectedState {
  /** The paths that the If field names, which are read together with the target. */
  readonly paths: readonly string[];
  /**
   * The state tokens in the If field. All of them are submitted, in whatever condition they appear (RFC 4918 section
   * 10.4.1).
   */
  readonly tokens: ReadonlySet<string>;
  /**
   * Throws `HttpError` 412 if a condition about the target or in If is not met.
   * If a write affects a locked resource, and the request has no token of a lock that the caller made, throws 423
   * (lock-token-submitted), or 207 if only members are locked. The caller calls this last, when the answer would be 2xx
   * (RFC 9110 section 13.2.1).
   */
  check(view: TreeView, writes: readonly Write[]): void;
  /** Checks the If field only. Conditions about a representation are evaluated when it is sent. */
  checkIf(view: TreeView): void;
}

/** Reads the fields of a request. Throws `BadRequest` if If is malformed or occurs twice. */
export function expectedState(
  context: ResourceContext,
  { path: target, slash, principal }: Place,
  { locks, clock }: Pick<Services, 'locks' | 'clock'>,
): ExpectedState {
  const { request, space } = context;
  const field = single(request.rawHeaders, 'if');
  const lists = field === undefined ? [] : parseIf(field);
  if (lists === undefined) {
    throw new BadRequest(
      'If is not a sequence of lists (RFC 4918 section 10.4.2), or has more than 256 conditions.',
    );
  }
  const expectations = lists.map(({ resource, conditions }) => ({
    path: resource === undefined ? target : pathOf(resource),
    conditions,
  }));

  /**
   * Returns undefined if the resource is not in this tree, so that its state is unknown here (RFC 4918 section 10.4.4).
   */
  function pathOf(reference: string): string | undefined {
    const resolved = resolveReference(context, reference);
    return resolved.kind === 'here' ? resolved.path : undefined;
  }

  const paths = [...new Set(expectations.flatMap(({ path = [] }) => path))];

  function stateOf(view: TreeView, path: string): State {
    const entry = view.entries.get(path);
    return {
      tokens: new Set(locks.covering(view, path).map(({ token }) => token)),
      ...(entry?.kind === 'document' && { etag: { weak: false, opaque: entry.etag } }),
    };
  }

  /** RFC 4918 section 10.4.3: every condition of at least one list must hold. */
  function isAsExpected(view: TreeView): boolean {
    const states = new Map<string | undefined, State>();
    for (const path of paths) states.set(path, stateOf(view, path));
    return (
      expectations.length === 0 ||
      expectations.some(({ path, conditions }) =>
        conditions.every((condition) => has(states.get(path), condition) !== condition.not),
      )
    );
  }

  function checkIf(view: TreeView): void {
    if (!isAsExpected(view)) throw preconditionFailed();
  }

  const tokens = new Set(
    lists.flatMap(({ conditions }) =>
      conditions.flatMap((condition) => ('token' in condition ? condition.token : [])),
    ),
  );
  /** Only the principal who made a lock can use its token (RFC 4918 section 6.4). */
  const mayUse = (lock: Lock) => lock.principal === principal && tokens.has(lock.token);

  return {
    paths,
    tokens,
    checkIf,
    check(view, writes) {
      checkIf(view);
      const current = validatorsOf(view, target, slash);
      if (evaluateConditions(request, current, clock.now()) === 412) throw preconditionFailed();
      const closed = writes
        .flatMap((write) => [...locks.needed(view, write)])
        .filter(([, there]) => !there.some(mayUse));
      if (closed.length > 0) throw locked(space, view, writes, new Map(closed));
    },
  };
}

/** The state that conditions of If are compared with. */
export interface State {
  /** The tokens of the locks in force. */
  readonly tokens: ReadonlySet<string>;
  readonly etag?: EntityTag;
}

/** True if a condition matches the state (RFC 4918 section 10.4.4). */
export function has(state: State | undefined, condition: Condition): boolean {
  if ('token' in condition) return state?.tokens.has(condition.token) ?? false;
  return state?.etag !== undefined && strongMatch(condition.etag, state.etag);
}

/**
 * Validators of a listing. Its entity tag is unknown unless all members are read, so only `*` matches: no real tag
 * contains a space.
 */
const LISTING: Validators = { etag: ' ' };

/**
 * The validators of the representation to which conditions refer. A document does not exist at its path with a slash.
 */
function validatorsOf({ entries }: TreeView, path: string, slash: boolean): Validators | undefined {
  const entry = entries.get(path);
  if (entry?.kind === 'collection') return LISTING;
  return slash ? undefined : entry;
}

/** Checks the If field for GET, HEAD and QUERY, since If applies to any method (RFC 4918 section 10.4). */
export async function checkIfField(
  context: ResourceContext,
  place: Place,
  services: Services,
): Promise<void> {
  if (!context.request.headers['if']) return;
  const expected = expectedState(context, place, services);
  expected.checkIf(await place.store.look([place.path, ...expected.paths]));
}
