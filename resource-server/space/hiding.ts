import { admit, type Admitted } from '#shared/auth/judge/admit.ts';
import { showsConcealed } from '#shared/auth/conceal.ts';
import type { AuthRequest, Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { Mark, Standing } from '#shared/auth/standing/standing.ts';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Target } from '#shared/http/target.ts';
import { leadsInto, type Space, type Spaces } from './spaces.ts';

/** A hidden space, and who was let in. */
export interface Shown {
  readonly space: Space;
  readonly outcome: Extract<Outcome, { kind: 'pass' }>;
  readonly noted: Admitted['noted'];
  /** What had been revoked before they were judged. */
  readonly mark: Mark;
}

/** What a request is for; `asked`: as authentication reads it. */
export interface Sought {
  readonly origin: string;
  readonly target: Target;
  /** The first line of Authorization. */
  readonly authorization: string | undefined;
  asked(): AuthRequest;
}

/**
 * Who finds the spaces that hide everything (RFC 9729 section 6.4): whoever shows credentials that are good for
 * them. For all others they are not there, so that whatever is asked of their addresses goes on as if they were not
 * configured. Wherever an origin has one, credentials of Concealed are judged at every address alike, or the time
 * that this takes would tell which addresses are hidden.
 */
export function createHiding(
  { all, findHidden }: Pick<Spaces, 'all' | 'findHidden'>,
  standing: Pick<Standing, 'mark'>,
) {
  const hidden = all.filter(hidesEverything);
  const oneOf = new Map(hidden.map((space) => [space.origin, space]));

  return ({ origin, target, authorization, asked }: Sought): Awaitable<Shown | undefined> => {
    const somewhere = oneOf.get(origin);
    if (somewhere === undefined || !showsConcealed(authorization)) return undefined;
    const mark = standing.mark();
    const found = findHidden(origin, target.segments);
    const space = found && hidesEverything(found) && leadsInto(found, target) ? found : undefined;
    return andThen(admit(space ?? somewhere, asked()), ({ outcome, noted }) =>
      space && outcome.kind === 'pass' ? { space, outcome, noted, mark } : undefined,
    );
  };
}

const hidesEverything = ({ hide }: Pick<ProtectionSpace, 'hide'>) => hide === 'everything';
