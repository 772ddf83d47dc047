import { BY_PROVIDER } from '#shared/people/access/assurance.ts';
import type { PagesServer } from '../../base/server.ts';
import { createTickets, type Tickets } from '../frame/tickets.ts';
import type { Attempt, AttemptWith } from './attempt.ts';
import { createAttemptLimits } from './attempt-limits.ts';
import { createSecondStep } from './second-step.ts';
import { type Came, STEP } from './step-state.ts';

/** A person whom a provider has authenticated, on the way from its callback to the page that signs them in. */
export interface Arrival extends Came {
  readonly accountId: string;
  /** The person's generation, read before the record. */
  readonly generation: number;
  /** The path that takes the arrival. */
  readonly door: string;
}

/** Seconds for which an arrival is valid: the browser follows a redirect. */
const LIFE = 60;

export const createArrivals = (server: PagesServer): Tickets<Arrival> =>
  createTickets(server, { name: 'arrival', life: LIFE });

/** A session at a source. */
type Session = Pick<Arrival, 'identity' | 'sid'>;

const keyOf = ({ identity: { source, subject }, sid }: Session) =>
  JSON.stringify([source, subject, sid]);

/** Remembers the end of a session at a source for as long as a sign-in by it may be on its way. */
export const noteEnded = (
  { stores, config }: Pick<PagesServer, 'stores' | 'config'>,
  session: Session,
) =>
  stores.replay.unique('ended at a source', keyOf(session), 2 * (STEP + LIFE + config.tokens.skew));

/** Whether the session at the source has ended, after which no sign-in by it is accepted. */
export const hasEnded = async (
  { stores }: Pick<PagesServer, 'stores'>,
  session: Session,
): Promise<boolean> =>
  session.sid !== undefined && stores.replay.seen('ended at a source', keyOf(session));

/**
 * Signs in a person whom a provider has authenticated, by the ticket that the callback made for this browser and page.
 * The ticket works once.
 */
export function createProviderSignIn(server: PagesServer): AttemptWith {
  const { limited } = createAttemptLimits(server);
  const secondStep = createSecondStep(server);
  const arrivals = createArrivals(server);
  return (ctx, form, least) =>
    limited(ctx, undefined, async (): Promise<Attempt> => {
      const arrival = await arrivals.use(ctx, form.get('arrival') ?? '');
      if (arrival?.door !== ctx.path) return { problem: { kind: 'arrival-over' } };
      const { accountId, generation, door: _, ...came } = arrival;
      const found = await server.directory.find(accountId);
      if (found === undefined || (await hasEnded(server, came))) {
        return { problem: { kind: 'arrival-over' } };
      }
      const person = { ...found, generation };
      const { since, ...account } = came;
      const shown = { person, means: { assurance: BY_PROVIDER, ...account }, since };
      const step = await secondStep.begin(ctx, person, least, came);
      if (step === 'use-passkey') return { problem: { kind: 'arrival-needs-passkey' } };
      return step ? { step } : shown;
    });
}
