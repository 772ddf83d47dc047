import { HttpError } from '#shared/http/answer.ts';
import type { Lock, TreeView } from '#shared/stores/trees/trees.ts';
import type { Space } from '../../space/spaces.ts';
import { conditionMarkup, davError, XML_TYPE } from './dav-error.ts';
import type { Write } from './lock-system.ts';
import { isBelow } from './locks.ts';
import { type MemberResponse, responseMarkup } from './multi-status.ts';
import { hrefOf } from '../resource/path.ts';
import { davDocument } from './xml-writer.ts';

/**
 * The answer to writes that lack a token for locked resources: 423 with the roots of the locks, or 207 if only
 * members are locked (RFC 4918 sections 9.6.1, 9.8.5 and 9.9.4).
 */
export function locked(
  space: Space,
  view: TreeView,
  writes: readonly Write[],
  closed: ReadonlyMap<string, readonly Lock[]>,
): HttpError {
  const detail = 'It is locked: submit the token of the lock in the field If.';
  const roots = writes.flatMap(({ path }) => (closed.get(path) ?? []).map(({ root }) => root));
  if (roots.length > 0) {
    return davError(423, 'lock-token-submitted', detail, hrefs(space, view, roots));
  }
  const condition = conditionMarkup('lock-token-submitted');
  const members = hrefs(space, view, [...closed.keys()]);
  return membersError(
    detail,
    members.map((href) => ({ href, status: 423, condition })),
  );
}

/**
 * The answer to a LOCK that conflicts with other locks: 423, or 207 if those are on members only (RFC 4918 section
 * 9.10.3).
 */
export function lockConflict(
  space: Space,
  view: TreeView,
  target: string,
  locks: readonly Lock[],
): HttpError {
  const detail = 'It is locked, or something in it is.';
  const roots = locks.map(({ root }) => root);
  const around = roots.filter((root) => !isBelow(root, target));
  if (around.length > 0) {
    return davError(423, 'no-conflicting-lock', detail, hrefs(space, view, around));
  }
  const condition = conditionMarkup('no-conflicting-lock');
  const members = hrefs(space, view, roots).map((href) => ({ href, status: 423, condition }));
  const [itself = ''] = hrefs(space, view, [target]);
  return membersError(detail, [...members, { href: itself, status: 424 }]);
}

function membersError(detail: string, responses: readonly MemberResponse[]): HttpError {
  const body = davDocument('multistatus', ...responses.map(responseMarkup));
  return new HttpError(207, detail, {}, { type: XML_TYPE, body });
}

/**
 * The hrefs of the roots of locks. A root with something below it is a collection; an unknown path may not be one.
 */
function hrefs(space: Space, { entries }: TreeView, roots: readonly string[]): readonly string[] {
  const seen = [...entries.keys()];
  return [...new Set(roots)].map((path) => {
    const kind = seen.some((other) => isBelow(other, path)) ? 'collection' : 'document';
    return hrefOf(space, { path, kind: entries.get(path)?.kind ?? kind });
  });
}
