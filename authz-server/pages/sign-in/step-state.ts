import type { Context } from 'koa';
import { isWithin } from '#shared/base/clock.ts';
import { sameText } from '#shared/base/constant-time.ts';
import { randomId } from '#shared/base/random.ts';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { PagesServer } from '../../base/server.ts';
import { createCsrf } from '../frame/csrf.ts';

/** A sign-in by an account elsewhere. */
export interface Came extends Required<Pick<SignIn, 'identity' | 'since'>>, Pick<SignIn, 'sid'> {}

/** The state that a form carries from one step to the next. */
export interface StepState {
  /** Each id works for one sign-in. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly accountId: string;
  readonly name: string;
  /** The person's generation, read before their password was checked. */
  readonly generation: number;
  /** The mark of the right password, if a password was used and the directory has such marks. */
  readonly password?: string;
  /** How the person came, if not with a password. */
  readonly came?: Came;
  /** The secret of a second factor that is being set up, in base64url. */
  readonly secret?: string;
  /** The mark of the ways to come in that the page of the set-up lists. */
  readonly ways?: string;
  /** The id of the second factor that the new one replaces. */
  readonly replaces?: string;
}

/** Seconds that a person has for the second step. */
export const STEP = 300;

/** Resolves to true only once for a step: of several right codes that are sent at once, one is used. */
export const claimStep = (
  { stores, config }: Pick<PagesServer, 'stores' | 'config'>,
  { id }: StepState,
) => stores.replay.unique('second-step', id, STEP + config.tokens.skew);

/** Whether a step was claimed. */
export const isClaimed = ({ stores }: Pick<PagesServer, 'stores'>, { id }: StepState) =>
  stores.replay.seen('second-step', id);

/**
 * The state between two steps. It is sealed into the form, and valid only in the browser and at the URL path where it
 * was made. Each interaction has a path of its own.
 */
export function createStepState(
  server: Pick<PagesServer, 'config' | 'master' | 'random' | 'clock'>,
) {
  const { config, master, random, clock } = server;
  const { skew } = config.tokens;
  const { browserSecret } = createCsrf(server);
  const purpose = (ctx: Context) => `second step ${ctx.path}`;

  return {
    write(ctx: Context, state: Omit<StepState, 'id' | 'at'>): string {
      const whole: StepState & { readonly browser: string } = {
        ...state,
        id: randomId(random),
        at: clock.now(),
        browser: browserSecret(ctx),
      };
      return seal(master, purpose(ctx), JSON.stringify(whole), random);
    },

    /**
     * Opens the state. Undefined: it belongs to another browser or path, this server did not seal it, or it is too old.
     */
    read(ctx: Context, sealed: string): StepState | undefined {
      try {
        const { browser, ...state } = JSON.parse(
          unseal(master, purpose(ctx), sealed),
        ) as StepState & {
          readonly browser: string;
        };
        const isHere = sameText(browser, browserSecret(ctx));
        return isHere && isWithin(clock, state.at, { life: STEP, skew }) ? state : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
