import { allow } from '#shared/http/methods.ts';
import { HttpError, methodNotAllowed } from '#shared/http/answer.ts';
import type { Entry, TreeView } from '#shared/stores/trees/trees.ts';
import { accepted } from '../../space/options.ts';
import type { Space } from '../../space/spaces.ts';
import { kindOf, METHODS_OF } from './kinds.ts';
import type { Write } from '../webdav/lock-system.ts';
import { parentOf } from '../resource/path.ts';
import type { Place } from './place.ts';

/** Throws 409 if the parent collection of a new resource does not exist (RFC 4918 section 9.7.1). */
export function checkParent({ entries }: TreeView, path: string): void {
  if (entries.get(parentOf(path))?.kind !== 'collection') {
    throw new HttpError(409, 'The parent collection does not exist. Make it first (MKCOL).');
  }
}

/** The writes of a PUT. A new member changes its collection, too (RFC 4918 section 7.4). */
export function writesOf({ entries }: TreeView, path: string): readonly Write[] {
  const itself = { path, deep: false };
  return entries.get(path) ? [itself] : [itself, { path: parentOf(path), deep: false }];
}

/** The error 405 for a resource that was created after the server had accepted the method for a missing resource. */
export function overtaken(space: Space, place: Place, entry: Entry): HttpError {
  return methodNotAllowed(allow(accepted(space, METHODS_OF[kindOf({ ...place, entry })])));
}
