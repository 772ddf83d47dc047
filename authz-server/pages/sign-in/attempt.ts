import type { Context } from 'koa';
import type { Acr } from '#shared/jose/acr.ts';
import type { Means } from '#shared/people/access/sign-ins.ts';
import type { Authenticated } from '#shared/people/directory.ts';
import type { SecondStep } from '../views/second-step.ts';
import type { SignInProps } from '../views/sign-in.ts';

/** A person who has authenticated, and how. */
export interface Shown {
  readonly person: Authenticated;
  readonly means: Means;
  /** When the person authenticated, in milliseconds since the epoch. Absent: now. */
  readonly since?: number;
  /** New recovery codes of this sign-in, which are shown only once. */
  readonly codes?: readonly string[];
}

/** The password was right, and a page asks for the second step. */
export interface Unfinished {
  readonly step: SecondStep;
}

export type Attempt =
  | Shown
  | Unfinished
  | { readonly problem: NonNullable<SignInProps['problem']> };

/**
 * Checks a sign-in form. `least`: the weakest acceptable way to sign in. If it needs a second factor and the person has
 * none, the person sets one up.
 */
export type AttemptWith = (ctx: Context, form: URLSearchParams, least?: Acr) => Promise<Attempt>;
