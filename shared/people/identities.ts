import { isDeepStrictEqual } from 'node:util';
import { said } from '#shared/refusals/operations.ts';
import type { Managed, PersonRecord } from '#shared/stores/people/people.ts';
import { type NewRecord, PeopleError } from './people.ts';

/** Matches the name of a source. */
export const SOURCE_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** Matches the identifier of an account at a source (OpenID Connect Core 1.0 section 2: at most 255 ASCII characters). */
export const SUBJECT = /^[\x20-\x7e]{1,255}$/;

export const MANAGED = ['display_name', 'emails', 'groups'] as const satisfies readonly Managed[];

/**
 * Returns an edit that changes no part of the profile which a source owns. The edit throws `PeopleError` if it would.
 */
export const keepManaged =
  <Edited extends NewRecord>(edit: (person: PersonRecord) => Edited) =>
  (was: PersonRecord): Edited => {
    const now = edit(was);
    const part = was.origin?.managed.find(
      (one) => !isDeepStrictEqual(was.profile?.[one], now.profile?.[one]),
    );
    if (part === undefined) return now;
    throw new PeopleError(said('managed', { part, source: was.origin?.source ?? '' }));
  };
