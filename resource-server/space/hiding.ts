import { admit, type Admitted } from '#shared/auth/judge/admit.ts';
import { showsConcealed } from '#shared/auth/conceal.ts';
import type { AuthRequest, Outcome, ProtectionSpace } from '#shared/auth/scheme.ts';
import type { Mark, Standing } from '#shared/auth/standing/standing.ts';
import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { Target } from '#shared/http/target.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { note } from '#shared/server/message/request-log.ts';
import { leadsInto, type Space, type Spaces } from './spaces.ts';

/** A hidden space, and the outcome that admitted the client. */
export interface Shown {
  readonly space: Space;
  readonly outcome: Extract<Outcome, { kind: 'pass' }>;
  readonly noted: Admitted['noted'];
  /** The mark of the revocations that were known before the credentials were checked. */
  readonly mark: Mark;
}

/** A request and its target. `asked`: returns the request in the form that authentication reads. */
export interface Sought {
  readonly request: AnyRequest;
  readonly origin: string;
  readonly target: Target;
  /** The first line of Authorization. */
  readonly authorization: string | undefined;
  asked(): AuthRequest;
}

/**
 * THE rule of spaces with `hide: everything` (for `forbidden` see shared/auth/conceal.ts).
 * Returns a function that finds the hidden space for which a request has valid credentials (RFC 9729 section 6.4). For
 * all other requests the hidden spaces do not exist: they are answered as if no such space were configured. If an
 * origin has a hidden space, credentials of Concealed are checked at every address. Otherwise the time taken would
 * reveal which addresses are hidden. Only the log says why they are refused.
 */
export function createHiding(
  { all, findHidden }: Pick<Spaces, 'all' | 'findHidden'>,
  standing: Pick<Standing, 'mark'>,
) {
  const hidden = all.filter(hidesEverything);
  const oneOf = new Map(hidden.map((space) => [space.origin, space]));

  return ({
    request,
    origin,
    target,
    authorization,
    asked,
  }: Sought): Awaitable<Shown | undefined> => {
    const somewhere = oneOf.get(origin);
    if (somewhere === undefined || !showsConcealed(authorization)) return undefined;
    const mark = standing.mark();
    const found = findHidden(origin, target.segments);
    const space = found && hidesEverything(found) && leadsInto(found, target) ? found : undefined;
    return andThen(admit(space ?? somewhere, asked()), ({ outcome, noted }) => {
      if (outcome.kind === 'pass') return space && { space, outcome, noted, mark };
      note(request, { refusal: noted.refusal, reason: noted.reason });
      return undefined;
    });
  };
}

const hidesEverything = ({ hide }: Pick<ProtectionSpace, 'hide'>) => hide === 'everything';
